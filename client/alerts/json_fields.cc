#include "client/alerts/json_fields.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace epsledger::alerts {
namespace {

using nlohmann::json;

constexpr size_t kMostShownBytes = 60;

// A value for an error, short and on one line.
std::string Shown(const json& value) {
  std::string text = value.dump(-1, ' ', true, json::error_handler_t::replace);
  if (text.size() > kMostShownBytes) text = absl::StrCat(text.substr(0, kMostShownBytes), "...");
  return text;
}

bool IsListOf(const json& value, bool (*is_one)(const json&)) {
  return value.is_array() && std::all_of(value.begin(), value.end(), is_one);
}

}  // namespace

JsonFields::JsonFields(const json& value, std::string path, absl::Status* status)
    : value_(value), path_(std::move(path)), status_(status) {
  if (!value_.is_object() && status_->ok()) {
    *status_ = absl::InvalidArgumentError(
        absl::StrCat(path_, ": got ", Shown(value_), ", want an object"));
  }
}

std::string JsonFields::PathOf(const std::string& key) const {
  return path_.empty() ? key : absl::StrCat(path_, ".", key);
}

void JsonFields::Fail(const std::string& key, const std::string& got_and_want) {
  if (status_->ok()) {
    *status_ = absl::InvalidArgumentError(absl::StrCat(PathOf(key), ": ", got_and_want));
  }
}

bool JsonFields::Has(const std::string& key) const {
  return value_.is_object() && value_.contains(key);
}

const json* JsonFields::Find(const std::string& key) {
  asked_.insert(key);
  return Has(key) ? &value_.at(key) : nullptr;
}

void JsonFields::Text(const std::string& key, std::string* text) {
  const json* const found = Find(key);
  if (found == nullptr) return;
  if (!found->is_string() || found->get_ref<const std::string&>().empty()) {
    return Fail(key, absl::StrCat("got ", Shown(*found), ", want a text that is not empty"));
  }
  *text = found->get<std::string>();
}

void JsonFields::RequiredText(const std::string& key, std::string* text) {
  if (!Has(key)) Fail(key, "got nothing, want a text");
  Text(key, text);
}

void JsonFields::Flag(const std::string& key, bool* flag) {
  const json* const found = Find(key);
  if (found == nullptr) return;
  if (!found->is_boolean()) {
    return Fail(key, absl::StrCat("got ", Shown(*found), ", want true or false"));
  }
  *flag = found->get<bool>();
}

void JsonFields::Texts(const std::string& key, std::vector<std::string>* texts) {
  const json* const found = Find(key);
  if (found == nullptr) return;
  if (found->empty() || !IsListOf(*found, [](const json& one) { return one.is_string(); })) {
    return Fail(key, absl::StrCat("got ", Shown(*found), ", want a list of texts, not empty"));
  }
  *texts = found->get<std::vector<std::string>>();
}

void JsonFields::TextMap(const std::string& key, std::map<std::string, std::string>* texts) {
  const json* const found = Find(key);
  if (found == nullptr) return;
  const bool is_map =
      found->is_object() &&
      std::all_of(found->begin(), found->end(), [](const json& one) { return one.is_string(); });
  if (!is_map) {
    return Fail(key, absl::StrCat("got ", Shown(*found), ", want an object of texts"));
  }
  *texts = found->get<std::map<std::string, std::string>>();
}

void JsonFields::Numbers(const std::string& key, std::vector<double>* numbers) {
  const json* const found = Find(key);
  if (found == nullptr) return;
  if (found->empty() || !IsListOf(*found, [](const json& one) { return one.is_number(); })) {
    return Fail(key, absl::StrCat("got ", Shown(*found), ", want a list of numbers, not empty"));
  }
  *numbers = found->get<std::vector<double>>();
}

void JsonFields::Count(const std::string& key, int64_t most, int64_t* count) {
  const json* const found = Find(key);
  if (found == nullptr) return;
  const bool is_count = found->is_number_unsigned() && found->get<uint64_t>() >= 1 &&
                        found->get<uint64_t>() <= static_cast<uint64_t>(most);
  if (!is_count) {
    return Fail(key,
                absl::StrCat("got ", Shown(*found), ", want a whole number in [1, ", most, "]"));
  }
  *count = found->get<int64_t>();
}

void JsonFields::Duration(const std::string& key, absl::Duration* duration) {
  const json* const found = Find(key);
  if (found == nullptr) return;
  absl::Duration read;
  const bool is_duration = found->is_string() &&
                           absl::ParseDuration(found->get<std::string>(), &read) &&
                           read > absl::ZeroDuration() && read <= absl::Hours(24 * 366);
  if (!is_duration) {
    return Fail(key, absl::StrCat("got ", Shown(*found),
                                  ", want a duration as \"500ms\", \"30s\", \"24h\", more than 0 "
                                  "and at most a year"));
  }
  *duration = read;
}

const json* JsonFields::Object(const std::string& key) {
  const json* const found = Find(key);
  if (found != nullptr && !found->is_object()) {
    Fail(key, absl::StrCat("got ", Shown(*found), ", want an object"));
    return nullptr;
  }
  return found;
}

const json* JsonFields::List(const std::string& key) {
  const json* const found = Find(key);
  if (found == nullptr || !found->is_array() || found->empty()) {
    Fail(key, absl::StrCat("got ", found == nullptr ? "nothing" : Shown(*found),
                           ", want a list, not empty"));
    return nullptr;
  }
  return found;
}

void JsonFields::End() {
  if (!value_.is_object()) return;
  for (const auto& [key, value] : value_.items()) {
    if (asked_.count(key) == 0) {
      Fail(key, absl::StrCat("is not known; known are ", absl::StrJoin(asked_, ", ")));
    }
  }
}

}  // namespace epsledger::alerts
