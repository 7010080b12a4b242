#include "server/transport/grpc/calls/call_record.h"

#include <utility>

#include "absl/time/clock.h"
#include "server/transport/grpc/status/status_mapping.h"
#include "server/transport/wire/call_headers.h"

namespace epsledger::transport {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

constexpr const char* kNames[] = {"name",   "attempt", "session", "lease",
                                  "parent", "budget",  "token",   "filter"};
constexpr const char* kIds[] = {"charge_id",  "lease_id", "budget_id",
                                "session_id", "token_id", "successor_id"};

bool IsText(const FieldDescriptor& field) {
  return !field.is_repeated() && field.cpp_type() == FieldDescriptor::CPPTYPE_STRING;
}

// Returns the name field of a field that is a resource; nullptr for other fields.
const FieldDescriptor* NameIn(const FieldDescriptor& field) {
  if (field.is_repeated() || field.cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) return nullptr;
  const FieldDescriptor* name = field.message_type()->FindFieldByName("name");
  return name != nullptr && IsText(*name) ? name : nullptr;
}

void AppendText(const Message& message, const FieldDescriptor& field, std::string* out) {
  if (field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
    if (!message.GetReflection()->HasField(message, &field)) return;
    return AppendText(message.GetReflection()->GetMessage(message, &field), *NameIn(field), out);
  }
  std::string scratch;
  const std::string& text = message.GetReflection()->GetStringReference(message, &field, &scratch);
  if (text.empty()) return;
  if (!out->empty()) out->push_back(' ');
  out->append(text, 0, ResourceFields::kMaxBytes);
}

}  // namespace

ResourceFields::ResourceFields(const Descriptor& request) {
  const auto find = [&](const char* name, std::vector<const FieldDescriptor*>* fields) {
    const FieldDescriptor* field = request.FindFieldByName(name);
    if (field != nullptr && (IsText(*field) || NameIn(*field) != nullptr)) fields->push_back(field);
  };
  for (const char* name : kNames) find(name, &names_);
  for (const char* id : kIds) find(id, &ids_);
}

std::string ResourceFields::Of(const Message& request) const {
  std::string resource;
  for (const FieldDescriptor* field : names_) {
    AppendText(request, *field, &resource);
    if (!resource.empty()) break;
  }
  for (const FieldDescriptor* field : ids_) AppendText(request, *field, &resource);
  if (resource.size() > kMaxBytes) resource.resize(kMaxBytes);
  return resource;
}

void Record(access_log::AccessLog* log, std::string_view method, const wire::CallOrigin& origin,
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
            .request_id = wire::RequestIdOf(origin),
            .traceparent = origin.traceparent});
}

}  // namespace epsledger::transport
