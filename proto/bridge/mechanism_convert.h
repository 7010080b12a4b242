#ifndef EPSLEDGER_PROTO_BRIDGE_MECHANISM_CONVERT_H_
#define EPSLEDGER_PROTO_BRIDGE_MECHANISM_CONVERT_H_

// Converts mechanism events from and to their messages. Written once over Fields
// (accounting/event/mechanism_event.h) and protobuf reflection: a new event needs no code here.
// tests/proto/mechanism_schema_test.cc compares the two descriptions of every event.

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "accounting/event/mechanism_event.h"
#include "epsledger/v1/mechanism.pb.h"

namespace epsledger::bridge {

// Returns the event that `message` defines, valid in the sense of accounting::Validate and
// accounting::CheckNestedSizes. Messages are new input: stored events are not read from them.
//
// INVALID_ARGUMENT names the field in proto3 JSON form below `path`:
//   "event: unset, want one of gaussian, laplace, ..."           nothing is set
//   "event.gaussian.noiseMultiplier: got -1, want in [0, inf)"   out of its domain, NaN included
//   "event.gaussian: unknown field 27: this version does not know it"
//   "event...: got 17 events inside each other, want at most 16"
// An unknown field might change the meaning of the event, so it is never dropped. The depth is
// checked before each nested event is read: the cost is linear in the size of the message.
absl::StatusOr<accounting::MechanismEvent> FromProto(const v1::MechanismEvent& message,
                                                     const std::string& path);

// As above, with a count in [1, 2^53]. A count that is not set is an error, never 1.
absl::StatusOr<accounting::CountedEvent> FromProto(const v1::CountedEvent& message,
                                                   const std::string& path);

// Returns every event of the list; errors name `path`[0], `path`[1], ... The caller must limit the
// length of the list.
absl::StatusOr<std::vector<accounting::CountedEvent>> FromProto(
    const google::protobuf::RepeatedPtrField<v1::CountedEvent>& messages, const std::string& path);

// Replaces the content of `message`. If `event` is valid, FromProto of `message` returns an equal
// event. An event that was never set (a NestedEvent without a value) leaves the field unset.
void ToProto(const accounting::MechanismEvent& event, v1::MechanismEvent* message);
void ToProto(const accounting::CountedEvent& event, v1::CountedEvent* message);

}  // namespace epsledger::bridge

#endif  // EPSLEDGER_PROTO_BRIDGE_MECHANISM_CONVERT_H_
