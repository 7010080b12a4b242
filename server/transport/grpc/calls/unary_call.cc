#include "server/transport/grpc/calls/unary_call.h"

#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "epsledger/v1/mechanism.pb.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/unknown_field_set.h"
#include "server/transport/grpc/status/status_mapping.h"

namespace epsledger::transport {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

// Returns the path of the first unknown field in a message, with its number; nullopt if there is
// none.
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
    // proto/bridge checks these field by field.
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

absl::Status NoMessage(const Message& request) {
  return absl::InvalidArgumentError(
      absl::StrCat("request: not a message ", request.GetDescriptor()->full_name(),
                   ": its bytes do not parse, hold text that is not UTF-8, or nest too deeply"));
}

}  // namespace

std::shared_ptr<UnaryCall> UnaryCall::Start(OpenCalls& open_calls, std::string_view method,
                                            wire::UnaryRequest& request) {
  std::shared_ptr<UnaryCall> call(new UnaryCall(open_calls, method, request));
  if (open_calls.Add(call, request.message.size())) return call;
  call->Fail(TooManyCalls());
  return nullptr;
}

UnaryCall::UnaryCall(OpenCalls& open_calls, std::string_view method, wire::UnaryRequest& request)
    : open_calls_(open_calls),
      method_(method),
      origin_(std::move(request.origin)),
      deadline_(SteadyDeadline(request.deadline)),
      measured_(open_calls.metrics(), method),
      responder_(std::move(request.responder)) {}

UnaryCall::~UnaryCall() {
  Fail(absl::InternalError(
      "the call was lost inside the server: the outcome is unknown and counts as done"));
}

std::unique_ptr<wire::Responder> UnaryCall::TakeResponder() {
  std::unique_ptr<wire::Responder> responder;
  {
    absl::MutexLock lock(&mutex_);
    responder = std::move(responder_);
  }
  // Before the answer is given: the server may end right after the last one.
  if (responder != nullptr) open_calls_.Remove(*this);
  return responder;
}

void UnaryCall::set_caller(access::Caller caller) {
  absl::MutexLock lock(&mutex_);
  caller_ = std::move(caller);
}

absl::Status UnaryCall::Claim(bool is_read) {
  is_read_ = is_read;
  is_admitted_ = true;
  if (is_read && !open_calls_.read_rate().MayRead(caller_.tenant)) return ReadsTooFast();
  return open_calls_.Claim(*this, caller_) ? absl::OkStatus() : TooManyCallsOfTenant();
}

void UnaryCall::set_request(const Message& request, const ResourceFields& fields) {
  if (open_calls_.access_log() == nullptr) return;
  std::string resource = fields.Of(request);
  absl::MutexLock lock(&mutex_);
  resource_ = std::move(resource);
}

void UnaryCall::Succeed(const Message& response) {
  const std::unique_ptr<wire::Responder> responder = TakeResponder();
  if (responder == nullptr) return;
  std::string message;
  if (response.SerializeToString(&message)) {
    if (is_read_) open_calls_.read_rate().Count(caller_.tenant, message.size() + kBytesOfRead);
    Finish(*responder, grpc::Status::OK, std::move(message));
  } else {
    Finish(*responder, {grpc::StatusCode::INTERNAL, "the answer cannot be written"}, "");
  }
}

void UnaryCall::Finish(wire::Responder& responder, const grpc::Status& status,
                       std::string message) {
  measured_.End(static_cast<absl::StatusCode>(status.error_code()), ReasonOf(status));
  if (access_log::AccessLog* log = open_calls_.access_log()) {
    access::Caller caller;
    std::string resource;
    {
      absl::MutexLock lock(&mutex_);
      caller = caller_;
      resource = std::move(resource_);
    }
    Record(log, method_, origin_, std::move(caller), std::move(resource), arrival_time(), status);
  }
  if (is_admitted_ && IsRefusedForNow(status)) {
    responder.SlowDown(open_calls_.refusal_rate().Count(caller_.tenant));
  }
  responder.Respond(status, std::move(message));
}

void UnaryCall::Fail(const grpc::Status& status) {
  if (const auto responder = TakeResponder()) Finish(*responder, status, "");
}

void UnaryCall::Fail(const absl::Status& status) {
  if (const auto responder = TakeResponder()) Finish(*responder, ToGrpcStatus(status), "");
}

bool UnaryCall::Abandoned() {
  if (SteadyNow() > deadline_) return true;
  absl::MutexLock lock(&mutex_);
  return responder_ == nullptr || responder_->IsGone();
}

void UnaryCall::KeepHouse(SteadyTime now) {
  if (now > deadline_) Fail(DeadlinePassed());
}

absl::Status ReadRequest(std::string_view bytes, Message* request) {
  if (!request->ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return NoMessage(*request);
  }
  return CheckNoUnknownFields(*request);
}

}  // namespace epsledger::transport
