#include "client/alerts/rules/alert.h"

#include <openssl/sha.h>

#include <algorithm>

#include <google/protobuf/util/time_util.h>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

namespace epsledger::alerts {
namespace {

using Json = nlohmann::ordered_json;
using google::protobuf::util::TimeUtil;

constexpr int64_t kMicrosPerSecond = 1'000'000;

struct Named {
  AlertKind kind;
  std::string_view name;
};
constexpr Named kNames[] = {
    {AlertKind::kThreshold, "threshold"},   {AlertKind::kRefusal, "refusal"},
    {AlertKind::kQuarantine, "quarantine"}, {AlertKind::kApproval, "approval"},
    {AlertKind::kDropped, "dropped"},       {AlertKind::kTest, "test"},
};

bool IsText(const Json& state, const char* key) {
  return state.contains(key) && state[key].is_string();
}

}  // namespace

std::string_view KindName(AlertKind kind) {
  for (const Named& named : kNames) {
    if (named.kind == kind) return named.name;
  }
  return "unknown";
}

std::optional<AlertKind> KindOfName(std::string_view name) {
  for (const Named& named : kNames) {
    if (named.name == name) return named.kind;
  }
  return std::nullopt;
}

std::string AlertId(const std::vector<std::string>& parts) {
  std::string whole;
  for (const std::string& part : parts) absl::StrAppend(&whole, part.size(), ":", part);
  unsigned char digest[SHA256_DIGEST_LENGTH];
  SHA256(reinterpret_cast<const unsigned char*>(whole.data()), whole.size(), digest);
  return absl::BytesToHexString(
      absl::string_view(reinterpret_cast<const char*>(digest), sizeof digest / 2));
}

std::string TimeText(int64_t micros) {
  // Whole seconds: people read it.
  return TimeUtil::ToString(TimeUtil::SecondsToTimestamp(micros / kMicrosPerSecond));
}

Json ToState(const Alert& alert) {
  Json state;
  state["id"] = alert.id;
  state["kind"] = std::string(KindName(alert.kind));
  state["rule"] = alert.rule;
  state["timeMicros"] = alert.time_micros;
  state["title"] = alert.title;
  state["text"] = alert.text;
  state["budget"] = alert.budget;
  state["displayName"] = alert.display_name;
  state["labels"] = Json::object();
  for (const auto& [key, value] : alert.labels) state["labels"][key] = value;
  state["facts"] = Json::array();
  for (const auto& [name, value] : alert.facts) state["facts"].push_back({name, value});
  state["page"] = alert.page;
  return state;
}

absl::StatusOr<Alert> AlertFromState(const Json& state) {
  const absl::Status wrong = absl::InvalidArgumentError("not an alert of a state file");
  if (!state.is_object()) return wrong;
  for (const char* key : {"id", "kind", "rule", "title", "text", "budget", "displayName", "page"}) {
    if (!IsText(state, key)) return wrong;
  }
  const std::optional<AlertKind> kind = KindOfName(state["kind"].get<std::string>());
  if (!kind.has_value() || !state.contains("timeMicros") ||
      !state["timeMicros"].is_number_integer() || !state.contains("labels") ||
      !state["labels"].is_object() || !state.contains("facts") || !state["facts"].is_array()) {
    return wrong;
  }
  Alert alert{.id = state["id"].get<std::string>(),
              .kind = *kind,
              .rule = state["rule"].get<std::string>(),
              .time_micros = state["timeMicros"].get<int64_t>(),
              .title = state["title"].get<std::string>(),
              .text = state["text"].get<std::string>(),
              .budget = state["budget"].get<std::string>(),
              .display_name = state["displayName"].get<std::string>(),
              .page = state["page"].get<std::string>()};
  for (const auto& [key, value] : state["labels"].items()) {
    if (!value.is_string()) return wrong;
    alert.labels[key] = value.get<std::string>();
  }
  for (const Json& fact : state["facts"]) {
    if (!fact.is_array() || fact.size() != 2 || !fact[0].is_string() || !fact[1].is_string()) {
      return wrong;
    }
    alert.facts.emplace_back(fact[0].get<std::string>(), fact[1].get<std::string>());
  }
  return alert;
}

}  // namespace epsledger::alerts
