#ifndef EPSLEDGER_PROTO_BRIDGE_FIELD_BEHAVIOR_H_
#define EPSLEDGER_PROTO_BRIDGE_FIELD_BEHAVIOR_H_

#include "google/api/field_behavior.pb.h"
#include "google/protobuf/descriptor.h"

namespace epsledger::bridge {

// True if the .proto file annotates the field with `behavior`, as in
// [(google.api.field_behavior) = REQUIRED].
bool HasBehavior(const google::protobuf::FieldDescriptor& field,
                 google::api::FieldBehavior behavior);

}  // namespace epsledger::bridge

#endif  // EPSLEDGER_PROTO_BRIDGE_FIELD_BEHAVIOR_H_
