#include "server/transport/grpc/calls/unary_call.h"

#include <optional>
#include <string>
#include <utility>

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

// Where in a message the first unknown field is, and its number; nothing if there is none.
struct UnknownField {
  std::string path;
  int number = 0;
};

// Depth is bounded by the parser's limit.
std::optional<UnknownField> FindUnknownField(const Message& message) {
  const auto* reflection = message.GetReflection();
  const auto& unknown = reflection->GetUnknownFields(message);
  if (!unknown.empty()) return UnknownField{"", unknown.field(0).number()};
  const auto* descriptor = message.GetDescriptor();
  for (int f = 0; f < descriptor->field_count(); ++f) {
    const FieldDescriptor* field = descriptor->field(f);
    if (field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) continue;
    // proto/convert looks into these, field by field, and once is enough.
    if (field->message_type() == v1::MechanismEvent::descriptor()) continue;
    const bool repeated = field->is_repeated();
    const int size = repeated ? reflection->FieldSize(message, field)
                              : static_cast<int>(reflection->HasField(message, field));
    for (int i = 0; i < size; ++i) {
      std::optional<UnknownField> found =
          FindUnknownField(repeated ? reflection->GetRepeatedMessage(message, field, i)
                                    : reflection->GetMessage(message, field));
      if (!found.has_value()) continue;
      found->path = absl::StrCat(field->json_name(), repeated ? absl::StrCat("[", i, "]") : "",
                                 found->path.empty() ? "" : ".", found->path);
      return found;
    }
  }
  return std::nullopt;
}

absl::Status CheckNoUnknownFields(const Message& message) {
  const std::optional<UnknownField> found = FindUnknownField(message);
  if (!found.has_value()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(found->path.empty() ? "request" : found->path,
                                                 ": unknown field ", found->number,
                                                 ": this server does not know it"));
}

}  // namespace

std::shared_ptr<UnaryCall> UnaryCall::Start(OpenCalls& open_calls, std::string_view method,
                                            grpc::CallbackServerContext* context,
                                            const grpc::ByteBuffer& request,
                                            grpc::ServerUnaryReactor* reactor,
                                            grpc::ByteBuffer* response) {
  std::shared_ptr<UnaryCall> call(new UnaryCall(open_calls, method, context, reactor, response));
  if (open_calls.Add(call, request.Length())) return call;
  call->Fail(TooManyCalls());
  return nullptr;
}

UnaryCall::UnaryCall(OpenCalls& open_calls, std::string_view method,
                     grpc::CallbackServerContext* context, grpc::ServerUnaryReactor* reactor,
                     grpc::ByteBuffer* response)
    : open_calls_(open_calls),
      measured_(open_calls.metrics(), method),
      response_(response),
      context_(context),
      reactor_(reactor) {}

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
  Finish(*reactor, grpc::GenericSerialize<grpc::ProtoBufferWriter, Message>(response, response_,
                                                                            &own_buffer));
}

void UnaryCall::Finish(grpc::ServerUnaryReactor& reactor, const grpc::Status& status) {
  measured_.End(static_cast<absl::StatusCode>(status.error_code()), ReasonOf(status));
  reactor.Finish(status);
}

void UnaryCall::Fail(const grpc::Status& status) {
  if (grpc::ServerUnaryReactor* reactor = TakeReactor()) Finish(*reactor, status);
}

void UnaryCall::Fail(const absl::Status& status) {
  if (grpc::ServerUnaryReactor* reactor = TakeReactor()) Finish(*reactor, ToGrpcStatus(status));
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
  return CheckNoUnknownFields(*request);
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
