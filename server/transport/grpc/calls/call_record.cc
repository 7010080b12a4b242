#include "server/transport/grpc/calls/call_record.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "google/protobuf/descriptor.h"
#include "server/transport/grpc/status/status_mapping.h"

namespace epsledger::transport {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

// The first of these that is set.
constexpr const char* kNames[] = {"name",   "attempt", "session", "lease",
                                  "parent", "budget",  "token",   "filter"};
// What is made below it, or asked of it.
constexpr const char* kIds[] = {"charge_id",  "lease_id", "budget_id",
                                "session_id", "token_id", "successor_id"};

// The text of a field, or the name of the resource in it.
std::string TextOf(const Message& message, const char* name) {
  const FieldDescriptor* field = message.GetDescriptor()->FindFieldByName(name);
  if (field == nullptr || field->is_repeated()) return "";
  std::string scratch;
  if (field->cpp_type() == FieldDescriptor::CPPTYPE_STRING) {
    return message.GetReflection()
        ->GetStringReference(message, field, &scratch)
        .substr(0, kMaxResourceBytes);
  }
  if (field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE ||
      !message.GetReflection()->HasField(message, field)) {
    return "";
  }
  const Message& inner = message.GetReflection()->GetMessage(message, field);
  const FieldDescriptor* of_inner = inner.GetDescriptor()->FindFieldByName("name");
  if (of_inner == nullptr || of_inner->cpp_type() != FieldDescriptor::CPPTYPE_STRING) return "";
  return inner.GetReflection()
      ->GetStringReference(inner, of_inner, &scratch)
      .substr(0, kMaxResourceBytes);
}

}  // namespace

std::string ResourceOf(const Message& request) {
  std::string resource;
  for (const char* name : kNames) {
    resource = TextOf(request, name);
    if (!resource.empty()) break;
  }
  for (const char* name : kIds) {
    const std::string id = TextOf(request, name);
    if (id.empty()) continue;
    absl::StrAppend(&resource, resource.empty() ? "" : " ", id);
  }
  return resource.substr(0, kMaxResourceBytes);
}

void Record(access::AccessLog* log, std::string_view method, const wire::CallOrigin& origin,
            access::Caller caller, std::string resource, SteadyTime arrival,
            const grpc::Status& status) {
  const auto outcome = static_cast<absl::StatusCode>(status.error_code());
  if (log == nullptr || !log->Wants(method, outcome)) return;
  const absl::Duration duration = SteadyNow() - arrival;
  const bool is_over_http = origin.peer != nullptr && origin.peer->is_over_http;
  log->Add({.time = absl::Now() - duration,
            .method = std::string(method),
            .door = is_over_http ? core::Door::kHttp : core::Door::kGrpc,
            .caller = std::move(caller),
            .client = origin.client,
            .peer = origin.peer == nullptr ? std::string() : origin.peer->address,
            .resource = std::move(resource),
            .outcome = outcome,
            .reason = ReasonOf(status),
            .duration = duration,
            .request_id = origin.request_id,
            .traceparent = origin.traceparent});
}

}  // namespace epsledger::transport
