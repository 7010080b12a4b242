#include "proto/bridge/json_message.h"

#include <cstddef>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "accounting/event/mechanism_event.h"
#include "accounting/event/status_macros.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/util/json_util.h"
#include "proto/json_syntax/json_syntax.h"

namespace epsledger::bridge {
namespace {

// Describes for people a type that protobuf names: "TYPE_INT64",
// "type.googleapis.com/epsledger.v1.Query".
std::string Wanted(std::string_view type) {
  const size_t slash = type.find('/');
  if (slash != type.npos) {
    const std::string name(type.substr(slash + 1));
    const auto* pool = google::protobuf::DescriptorPool::generated_pool();
    if (const auto* enumeration = pool->FindEnumTypeByName(name)) {
      std::string names;
      for (int i = 0; i < enumeration->value_count(); ++i) {
        if (enumeration->value(i)->number() == 0) continue;
        absl::StrAppend(&names, names.empty() ? "" : ", ", enumeration->value(i)->name());
      }
      return absl::StrCat("one of ", names);
    }
    return "an object of its kind";
  }
  if (type == "TYPE_DOUBLE") return "a number";
  if (type == "TYPE_STRING") return "a text";
  if (type == "TYPE_BOOL") return "true or false";
  return "an integer";
}

// The reader of protobuf says "(events[0].event) gausian: Cannot find field." and "(accountant):
// invalid value "FOO" for type type.googleapis.com/epsledger.v1.Accountant.Kind". Any other
// wording is passed on unchanged, its first line only.
absl::Status Readable(std::string said) {
  said = said.substr(0, said.find('\n'));
  std::string place;
  const size_t close = said.find(')');
  if (absl::StartsWith(said, "(") && close != said.npos) {
    place = accounting::JsonName(said.substr(1, close - 1).c_str());
    const size_t start = said.find_first_not_of(": ", close + 1);
    said = start == said.npos ? "not valid" : said.substr(start);
  }
  const std::string at = place.empty() ? "request" : place;

  const std::string_view kUnknown = ": Cannot find field.";
  if (said.size() > kUnknown.size() &&
      said.compare(said.size() - kUnknown.size(), kUnknown.size(), kUnknown) == 0) {
    const std::string name = said.substr(0, said.size() - kUnknown.size());
    return absl::InvalidArgumentError(
        absl::StrCat(place, place.empty() ? "" : ".", name, ": unknown field"));
  }
  const std::string kInvalid = "invalid value ";
  const std::string kType = " for type ";
  const size_t type = said.rfind(kType);
  if (absl::StartsWith(said, kInvalid) && type != said.npos) {
    const std::string value = said.substr(kInvalid.size(), type - kInvalid.size());
    if (said.substr(type + kType.size()) == "oneof") {
      return absl::InvalidArgumentError(
          absl::StrCat(at, ": got more than one alternative, want one"));
    }
    return absl::InvalidArgumentError(
        absl::StrCat(at, ": got ", value, ", want ", Wanted(said.substr(type + kType.size()))));
  }
  return absl::InvalidArgumentError(absl::StrCat(at, ": ", said));
}

}  // namespace

absl::Status ReadJson(std::string_view text, google::protobuf::Message* message) {
  google::protobuf::util::JsonParseOptions options;
  options.ignore_unknown_fields = false;
  const auto parsed = google::protobuf::util::JsonStringToMessage(
      google::protobuf::StringPiece(text.data(), text.size()), message, options);
  if (parsed.ok()) return absl::OkStatus();
  return Readable(std::string(parsed.message()));
}

absl::Status ReadJsonObject(std::string_view text, google::protobuf::Message* message) {
  RETURN_IF_ERROR(json_syntax::CheckObject(text, nullptr));
  return ReadJson(text, message);
}

}  // namespace epsledger::bridge
