#include "server/transport/grpc/calls/unary_call.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "epsledger/v1/mechanism.pb.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/unknown_field_set.h"
#include "grpcpp/impl/codegen/proto_utils.h"
#include "grpcpp/support/proto_buffer_reader.h"
#include "grpcpp/support/proto_buffer_writer.h"
#include "server/transport/grpc/status/status_mapping.h"

namespace epsledger::transport {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

// Depth is bounded by the parser's limit.
absl::Status CheckNoUnknownFields(const Message& message, const std::string& path) {
  const auto* reflection = message.GetReflection();
  const auto& unknown = reflection->GetUnknownFields(message);
  if (!unknown.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(path.empty() ? "request" : path,
                                                   ": unknown field ", unknown.field(0).number(),
                                                   ": this server does not know it"));
  }
  std::vector<const FieldDescriptor*> fields;
  reflection->ListFields(message, &fields);
  for (const FieldDescriptor* field : fields) {
    if (field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) continue;
    // proto/convert looks into these, field by field, and once is enough.
    if (field->message_type() == v1::MechanismEvent::descriptor()) continue;
    const std::string at = absl::StrCat(path, path.empty() ? "" : ".", field->json_name());
    const int size = field->is_repeated() ? reflection->FieldSize(message, field) : 1;
    for (int i = 0; i < size; ++i) {
      absl::Status status =
          field->is_repeated()
              ? CheckNoUnknownFields(reflection->GetRepeatedMessage(message, field, i),
                                     absl::StrCat(at, "[", i, "]"))
              : CheckNoUnknownFields(reflection->GetMessage(message, field), at);
      if (!status.ok()) return status;
    }
  }
  return absl::OkStatus();
}

}  // namespace

std::shared_ptr<UnaryCall> UnaryCall::Start(OpenCalls& open_calls,
                                            grpc::CallbackServerContext* context,
                                            grpc::ServerUnaryReactor* reactor,
                                            grpc::ByteBuffer* response) {
  std::shared_ptr<UnaryCall> call(new UnaryCall(open_calls, context, reactor, response));
  open_calls.Add(call);
  return call;
}

UnaryCall::UnaryCall(OpenCalls& open_calls, grpc::CallbackServerContext* context,
                     grpc::ServerUnaryReactor* reactor, grpc::ByteBuffer* response)
    : open_calls_(open_calls), response_(response), context_(context), reactor_(reactor) {}

UnaryCall::~UnaryCall() {
  Fail(absl::InternalError(
      "the call was lost inside the server: the outcome is unknown and counts as done"));
}

grpc::ServerUnaryReactor* UnaryCall::TakeReactor() {
  grpc::ServerUnaryReactor* reactor = nullptr;
  {
    absl::MutexLock lock(&mutex_);
    reactor = std::exchange(reactor_, nullptr);
    context_ = nullptr;
  }
  // Before gRPC gets its answer: it may end the server right after the last one.
  if (reactor != nullptr) open_calls_.Remove(*this);
  return reactor;
}

void UnaryCall::Succeed(const Message& response) {
  grpc::ServerUnaryReactor* reactor = TakeReactor();
  if (reactor == nullptr) return;
  bool own_buffer = false;
  reactor->Finish(
      grpc::GenericSerialize<grpc::ProtoBufferWriter, Message>(response, response_, &own_buffer));
}

void UnaryCall::Fail(const grpc::Status& status) {
  if (grpc::ServerUnaryReactor* reactor = TakeReactor()) reactor->Finish(status);
}

void UnaryCall::Fail(const absl::Status& status) {
  if (grpc::ServerUnaryReactor* reactor = TakeReactor()) reactor->Finish(ToGrpcStatus(status));
}

bool UnaryCall::Abandoned() {
  absl::MutexLock lock(&mutex_);
  return context_ == nullptr || context_->IsCancelled();
}

absl::Status ReadRequest(const grpc::ByteBuffer& bytes, Message* request) {
  grpc::ByteBuffer copy = bytes;  // counts references; the reader wants to own one
  grpc::ProtoBufferReader reader(&copy);
  if (!reader.status().ok() || !request->ParseFromZeroCopyStream(&reader)) {
    return absl::InvalidArgumentError(
        absl::StrCat("request: not a message ", request->GetDescriptor()->full_name(),
                     ": its bytes do not parse, hold text that is not UTF-8, or nest too deeply"));
  }
  return CheckNoUnknownFields(*request, "");
}

grpc::ByteBuffer ToBytes(const Message& message) {
  grpc::ByteBuffer bytes;
  bool own_buffer = false;
  const grpc::Status status =
      grpc::GenericSerialize<grpc::ProtoBufferWriter, Message>(message, &bytes, &own_buffer);
  if (!status.ok()) bytes.Clear();  // a reader takes an empty result as no permit
  return bytes;
}

}  // namespace epsledger::transport
