// Mechanism events as proto3 JSON: whatever is taken is valid and comes back equal, through bytes
// and through JSON, and its description can be written.

#include <cstdint>
#include <cstdlib>
#include <string>

#include "accounting/event/mechanism_event.h"
#include "accounting/event/validation.h"
#include "google/protobuf/util/json_util.h"
#include "proto/bridge/mechanism_convert.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace epsledger;  // NOLINT: one function
  using google::protobuf::util::JsonStringToMessage;
  using google::protobuf::util::MessageToJsonString;
  const std::string text(reinterpret_cast<const char*>(data), size);
  v1::MechanismEvent message;
  if (!JsonStringToMessage(text, &message).ok()) return 0;
  const absl::StatusOr<accounting::MechanismEvent> event = bridge::FromProto(message, "event");
  if (!event.ok()) {
    if (event.status().code() != absl::StatusCode::kInvalidArgument) std::abort();
    return 0;
  }
  if (!accounting::Validate(*event, "event").ok()) std::abort();
  if (accounting::Describe(*event).empty()) std::abort();

  v1::MechanismEvent again;
  bridge::ToProto(*event, &again);
  v1::MechanismEvent from_bytes;
  if (!from_bytes.ParseFromString(again.SerializeAsString())) std::abort();
  const auto first = bridge::FromProto(from_bytes, "event");
  if (!first.ok() || *first != *event) std::abort();

  std::string json;
  if (!MessageToJsonString(again, &json).ok()) std::abort();
  v1::MechanismEvent from_json;
  if (!JsonStringToMessage(json, &from_json).ok()) std::abort();
  const auto second = bridge::FromProto(from_json, "event");
  if (!second.ok() || *second != *event) std::abort();
  return 0;
}
