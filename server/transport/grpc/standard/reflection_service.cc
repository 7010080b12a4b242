#include "server/transport/grpc/standard/reflection_service.h"

#include <memory>
#include <set>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/descriptor.pb.h"
#include "grpc/reflection/v1/reflection.pb.h"
#include "server/transport/grpc/calls/stream_outbox.h"
#include "server/transport/grpc/calls/unary_call.h"
#include "server/transport/grpc/status/shown_text.h"
#include "server/transport/grpc/status/status_mapping.h"

namespace epsledger::transport {
namespace {

using google::protobuf::DescriptorPool;
using google::protobuf::FileDescriptor;
using Question = grpc::reflection::v1::ServerReflectionRequest;
using Reply = grpc::reflection::v1::ServerReflectionResponse;

// Adds the file after the files that it imports, each once.
void AddFile(const FileDescriptor& file, std::set<const FileDescriptor*>* added,
             grpc::reflection::v1::FileDescriptorResponse* response) {
  if (!added->insert(&file).second) return;
  for (int d = 0; d < file.dependency_count(); ++d) {
    AddFile(*file.dependency(d), added, response);
  }
  google::protobuf::FileDescriptorProto message;
  file.CopyTo(&message);
  message.SerializeToString(response->add_file_descriptor_proto());
}

void AnswerFile(const FileDescriptor* file, std::string_view wanted, Reply* response) {
  if (file == nullptr) {
    auto& error = *response->mutable_error_response();
    error.set_error_code(grpc::StatusCode::NOT_FOUND);
    error.set_error_message(absl::StrCat("there is no ", Shown(wanted)));
    return;
  }
  std::set<const FileDescriptor*> added;
  AddFile(*file, &added, response->mutable_file_descriptor_response());
}

void AnswerExtensions(const std::string& type, Reply* response) {
  if (DescriptorPool::generated_pool()->FindMessageTypeByName(type) == nullptr) {
    return AnswerFile(nullptr, type, response);
  }
  response->mutable_all_extension_numbers_response()->set_base_type_name(type);
}

Reply AnswerOf(const Question& request, const std::vector<std::string>& services) {
  const DescriptorPool& pool = *DescriptorPool::generated_pool();
  Reply response;
  response.set_valid_host(request.host());
  *response.mutable_original_request() = request;
  switch (request.message_request_case()) {
    case Question::kFileByFilename:
      AnswerFile(pool.FindFileByName(request.file_by_filename()), request.file_by_filename(),
                 &response);
      break;
    case Question::kFileContainingSymbol:
      AnswerFile(pool.FindFileContainingSymbol(request.file_containing_symbol()),
                 request.file_containing_symbol(), &response);
      break;
    case Question::kFileContainingExtension:
      AnswerFile(nullptr, request.file_containing_extension().containing_type(), &response);
      break;
    case Question::kAllExtensionNumbersOfType:
      AnswerExtensions(request.all_extension_numbers_of_type(), &response);
      break;
    case Question::kListServices:
      for (const std::string& name : services) {
        response.mutable_list_services_response()->add_service()->set_name(name);
      }
      break;
    case Question::MESSAGE_REQUEST_NOT_SET:
      response.mutable_error_response()->set_error_code(grpc::StatusCode::INVALID_ARGUMENT);
      response.mutable_error_response()->set_error_message(
          "message_request: got none, want what is asked for");
      break;
  }
  return response;
}

// One call: reads a request once the previous answer is taken.
class Reflection final : public wire::StreamedCall {
 public:
  Reflection(const std::vector<std::string>& services, std::unique_ptr<wire::StreamClient> client)
      : services_(services), outbox_(std::move(client)) {}

  void Begin() { Ask(); }

  void OnRequest(std::string message) override {
    Question request;
    const absl::Status status = ReadRequest(message, &request);
    const std::string answer =
        status.ok() ? AnswerOf(request, services_).SerializeAsString() : std::string();
    StreamTurn turn(mutex_, outbox_);
    if (status.ok()) {
      outbox_.Answer(answer);
    } else {
      outbox_.End(ToGrpcStatus(status));
    }
  }
  void OnNoMoreRequests() override { End(grpc::Status::OK); }
  void OnAnswerTaken() override { Ask(); }
  void OnGone() override { End(ClientGone()); }

 private:
  void Ask() {
    StreamTurn turn(mutex_, outbox_);
    outbox_.AskForRequest();
  }
  void End(const grpc::Status& status) {
    StreamTurn turn(mutex_, outbox_);
    outbox_.End(status);
  }

  const std::vector<std::string> services_;
  absl::Mutex mutex_;
  StreamOutbox outbox_;
};

}  // namespace

void AddReflectionService(const std::vector<std::string>& services, ServiceMethods& methods) {
  for (const char* name : kReflectionServices) {
    methods.AddStream(
        absl::StrCat(name, ".ServerReflectionInfo"), [services](wire::StreamRequest request) {
          auto call = std::make_shared<Reflection>(services, std::move(request.client));
          call->Begin();
          return call;
        });
  }
}

}  // namespace epsledger::transport
