#include "server/transport/grpc/converters/output_only.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "accounting/event/domain.h"
#include "proto/bridge/field_behavior.h"

namespace epsledger::transport {

absl::Status CheckOutputOnlyUnset(const google::protobuf::Message& resource,
                                  const std::string& path) {
  std::vector<const google::protobuf::FieldDescriptor*> fields;
  resource.GetReflection()->ListFields(resource, &fields);
  for (const auto* field : fields) {
    if (bridge::HasBehavior(*field, google::api::OUTPUT_ONLY)) {
      return accounting::OutOfDomain(absl::StrCat(path, ".", field->json_name()), "a value",
                                     "unset: the server fills it in");
    }
  }
  return absl::OkStatus();
}

}  // namespace epsledger::transport
