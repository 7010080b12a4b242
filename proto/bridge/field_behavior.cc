#include "proto/bridge/field_behavior.h"

namespace epsledger::bridge {

bool HasBehavior(const google::protobuf::FieldDescriptor& field,
                 google::api::FieldBehavior behavior) {
  const google::protobuf::FieldOptions& options = field.options();
  for (int i = 0; i < options.ExtensionSize(google::api::field_behavior); ++i) {
    if (options.GetExtension(google::api::field_behavior, i) == behavior) return true;
  }
  return false;
}

}  // namespace epsledger::bridge
