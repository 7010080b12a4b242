#ifndef EPSLEDGER_PROTO_CONVERT_MECHANISM_CONVERT_H_
#define EPSLEDGER_PROTO_CONVERT_MECHANISM_CONVERT_H_

// Mechanism events from and to their messages. Written once over Fields
// (accounting/event/mechanism_event.h) and protobuf reflection: a new event needs no line here.
// tests/proto/mechanism_schema_test.cc holds both descriptions of every event against each other.

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "accounting/event/mechanism_event.h"
#include "epsledger/v1/mechanism.pb.h"

namespace epsledger::convert {

// Returns the event that `message` defines, valid in the sense of accounting::Validate.
//
// INVALID_ARGUMENT names the field in proto3 JSON form below `path`:
//   "event: unset, want one of gaussian, laplace, ..."           nothing is set
//   "event.gaussian.noiseMultiplier: got -1, want in (0, inf)"   out of its domain, NaN included
//   "event.gaussian: unknown field 27: this version does not know it"
//   "event...: got 17 events inside each other, want at most 16"
// A field that is not known might change what the event means, so it is never dropped. The depth
// is checked on the way down: the cost is linear in the size of the message.
absl::StatusOr<accounting::MechanismEvent> FromProto(const v1::MechanismEvent& message,
                                                     const std::string& path);

// As above, and count in [1, 2^53]: a count that is not set is an error, never 1.
absl::StatusOr<accounting::CountedEvent> FromProto(const v1::CountedEvent& message,
                                                   const std::string& path);

// Every event of the list, as `path`[0], `path`[1], ... Any length: the caller limits it.
absl::StatusOr<std::vector<accounting::CountedEvent>> FromProto(
    const google::protobuf::RepeatedPtrField<v1::CountedEvent>& messages, const std::string& path);

// Replaces what `message` holds. FromProto gives back an equal event if `event` is valid. An event
// that was never filled in (a NestedEvent without a value) leaves the field unset.
void ToProto(const accounting::MechanismEvent& event, v1::MechanismEvent* message);
void ToProto(const accounting::CountedEvent& event, v1::CountedEvent* message);

}  // namespace epsledger::convert

#endif  // EPSLEDGER_PROTO_CONVERT_MECHANISM_CONVERT_H_
