#ifndef EPSLEDGER_PROTO_BRIDGE_JSON_MESSAGE_H_
#define EPSLEDGER_PROTO_BRIDGE_JSON_MESSAGE_H_

#include <string_view>

#include "absl/status/status.h"
#include "google/protobuf/message.h"

namespace epsledger::bridge {

// Reads proto3 JSON into `message` and refuses unknown fields. The caller must have checked the
// syntax with json_syntax::CheckObject (proto/json_syntax), because the reader used here is
// lenient. INVALID_ARGUMENT names the place in proto3 JSON form:
//   "events[0].event.gausian: unknown field"
//   "accountant: got "FOO", want one of BASIC, ADVANCED, ..."
//   "events[0].count: got 1.5, want an integer"
// On an error `message` is in an unspecified state.
absl::Status ReadJson(std::string_view text, google::protobuf::Message* message);

// Does the same for a text whose syntax was not checked: json_syntax::CheckObject, then ReadJson.
// It refuses a repeated key, of which the reader of protobuf would take the last value.
absl::Status ReadJsonObject(std::string_view text, google::protobuf::Message* message);

}  // namespace epsledger::bridge

#endif  // EPSLEDGER_PROTO_BRIDGE_JSON_MESSAGE_H_
