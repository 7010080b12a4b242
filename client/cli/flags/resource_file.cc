#include "client/cli/flags/resource_file.h"

#include <istream>
#include <vector>

#include "absl/strings/str_cat.h"
#include "accounting/event/status_macros.h"
#include "client/cli/files/input_file.h"
#include "proto/bridge/field_behavior.h"
#include "proto/bridge/json_message.h"

namespace epsledger::cli {

void ClearWhatTheServerSets(google::protobuf::Message* message) {
  const google::protobuf::Reflection& reflection = *message->GetReflection();
  std::vector<const google::protobuf::FieldDescriptor*> fields;
  reflection.ListFields(*message, &fields);
  for (const google::protobuf::FieldDescriptor* field : fields) {
    if (bridge::HasBehavior(*field, google::api::OUTPUT_ONLY) ||
        bridge::HasBehavior(*field, google::api::IDENTIFIER)) {
      reflection.ClearField(message, field);
    } else if (field->is_map() ||
               field->cpp_type() != google::protobuf::FieldDescriptor::CPPTYPE_MESSAGE) {
      continue;
    } else if (field->is_repeated()) {
      for (int i = 0; i < reflection.FieldSize(*message, field); ++i) {
        ClearWhatTheServerSets(reflection.MutableRepeatedMessage(message, field, i));
      }
    } else {
      ClearWhatTheServerSets(reflection.MutableMessage(message, field));
    }
  }
}

void AddFileFlag(CLI::App& command, std::string& path) {
  command
      .add_option("--file", path,
                  "take from this file (- for standard input) what the other options do not say: "
                  "JSON as the verb `get` prints it with -o json")
      ->type_name("FILE");
}

absl::Status ReadResourceFile(const std::string& path, std::istream& in,
                              google::protobuf::Message* resource) {
  ASSIGN_OR_RETURN(const std::string text, ReadInput("--file", path, in));
  const absl::Status read = bridge::ReadJsonObject(text, resource);
  if (!read.ok()) {
    return absl::InvalidArgumentError(absl::StrCat("--file ", path, ": want the proto3 JSON of ",
                                                   resource->GetDescriptor()->full_name(), ": ",
                                                   std::string(read.message())));
  }
  ClearWhatTheServerSets(resource);
  return absl::OkStatus();
}

}  // namespace epsledger::cli
