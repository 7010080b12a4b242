#ifndef EPSLEDGER_CLIENT_ALERTS_RULES_RULE_H_
#define EPSLEDGER_CLIENT_ALERTS_RULES_RULE_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "client/alerts/rules/alert.h"

namespace epsledger::alerts {

inline constexpr int64_t kMicrosPerHour = 3'600'000'000;

// Which events become alerts, and whom they go to.
struct Rule {
  std::string name;  // unique; part of the ids of alerts
  AlertKind kind = AlertKind::kThreshold;
  std::vector<std::string> destinations;  // at least one
  // "budgets/{budget}": covers these with everything below them. Empty: every budget.
  std::vector<std::string> budgets;
  // Covers only budgets that have all of these labels.
  std::map<std::string, std::string> labels;
  // kThreshold: rising shares of the cap, in (0, 1]. Empty: the budget's own alert_thresholds.
  std::vector<double> thresholds;
  // kRefusal: names of Refusal.Reason. Empty: every reason but BATCH_REFUSED, which only says that
  // another charge was refused.
  std::vector<std::string> reasons;
  // kRefusal: after an alert, further refusals of the same budget for the same reason are counted
  // for so long, and told in one alert.
  int64_t repeat_after_micros = kMicrosPerHour;
  // kApproval: how long a proposal waits before somebody is told.
  int64_t wait_micros = 24 * kMicrosPerHour;
};

}  // namespace epsledger::alerts

#endif  // EPSLEDGER_CLIENT_ALERTS_RULES_RULE_H_
