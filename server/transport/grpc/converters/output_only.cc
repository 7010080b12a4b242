#include "server/transport/grpc/converters/output_only.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "accounting/event/domain.h"
#include "google/api/field_behavior.pb.h"
#include "google/protobuf/descriptor.h"

namespace epsledger::transport {

absl::Status CheckOutputOnlyUnset(const google::protobuf::Message& resource,
                                  const std::string& path) {
  std::vector<const google::protobuf::FieldDescriptor*> fields;
  resource.GetReflection()->ListFields(resource, &fields);
  for (const auto* field : fields) {
    const auto& options = field->options();
    for (int i = 0; i < options.ExtensionSize(google::api::field_behavior); ++i) {
      if (options.GetExtension(google::api::field_behavior, i) == google::api::OUTPUT_ONLY) {
        return accounting::OutOfDomain(absl::StrCat(path, ".", field->json_name()), "a value",
                                       "unset: the server fills it in");
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace epsledger::transport
