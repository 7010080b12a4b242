#ifndef EPSLEDGER_CLIENT_ALERTS_RULES_ALERT_H_
#define EPSLEDGER_CLIENT_ALERTS_RULES_ALERT_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "nlohmann/json.hpp"

namespace epsledger::alerts {

enum class AlertKind {
  kThreshold,   // a share of a cap is spent
  kRefusal,     // a charge or a plan was refused
  kQuarantine,  // a ledger takes no commands, or has lost entries
  kApproval,    // a proposal waits for another person
  kDropped,     // alerts were not sent, because too many waited
  kTest,        // --test
};

// "threshold", "refusal", "quarantine", "approval", "dropped", "test". Receivers see these names:
// they never change.
std::string_view KindName(AlertKind kind);
std::optional<AlertKind> KindOfName(std::string_view name);

// What one destination is told, once. A value.
struct Alert {
  // 32 hexadecimal digits: the same event under the same rule has the same id, also after a
  // restart. Receivers tell repeated deliveries by it.
  std::string id;
  AlertKind kind = AlertKind::kTest;
  std::string rule;
  int64_t time_micros = 0;  // of the event; since 1970, UTC
  std::string title;        // one sentence
  std::string text;         // some sentences for people
  std::string budget;       // "budgets/{budget}"; empty: none
  std::string display_name;
  std::map<std::string, std::string> labels;  // of the budget
  // What programs want to know, in the order in which people read it. Numbers are exact: the
  // shortest decimal that reads back as the double that the server sent.
  std::vector<std::pair<std::string, std::string>> facts;
  std::string page;  // of the dashboard: "budgets/people"
};

// Returns 32 hexadecimal digits of a SHA-256 over the parts. Different lists of parts have
// different ids.
std::string AlertId(const std::vector<std::string>& parts);

// "2026-11-29T01:02:03Z".
std::string TimeText(int64_t micros);

// The alert as it is kept in the state file, and back. INVALID_ARGUMENT for anything else.
nlohmann::ordered_json ToState(const Alert& alert);
absl::StatusOr<Alert> AlertFromState(const nlohmann::ordered_json& state);

}  // namespace epsledger::alerts

#endif  // EPSLEDGER_CLIENT_ALERTS_RULES_ALERT_H_
