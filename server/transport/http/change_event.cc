#include "server/transport/http/change_event.h"

#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "server/transport/http/json_answer.h"

namespace epsledger::transport {
namespace {

// "charge", "bookmark", ...
std::string KindOf(const v1::LedgerChange& change) {
  const google::protobuf::OneofDescriptor* oneof =
      v1::LedgerChange::descriptor()->FindOneofByName("change");
  const google::protobuf::FieldDescriptor* set =
      change.GetReflection()->GetOneofFieldDescriptor(change, oneof);
  return set == nullptr ? "bookmark" : set->json_name();
}

std::string TextOf(const std::string& resource, const v1::LedgerChange& change) {
  const std::string kind = KindOf(change);
  if (kind == "bookmark") return "event: bookmark\ndata: {}\n\n";
  const std::string json = ToJson(change);
  const nlohmann::ordered_json name = resource;
  return absl::StrCat("event: ", kind, "\ndata: {\"watched\":", name.dump(), ",",
                      absl::string_view(json).substr(1), "\n\n");
}

}  // namespace

ChangeEvent ToEvent(const std::string& resource, const v1::LedgerChange& change) {
  return {change.sequence(), std::make_shared<const std::string>(TextOf(resource, change))};
}

std::string WithId(const ChangePositions& positions, const ChangeEvent& event) {
  return absl::StrCat("id: ", ToEventId(positions), "\n", *event.text);
}

std::string EndEvent(const grpc::Status& status) {
  return absl::StrCat("event: end\ndata: ", ErrorAnswer(status).body, "\n\n");
}

}  // namespace epsledger::transport
