#ifndef EPSLEDGER_CLIENT_ALERTS_RULES_REFUSED_H_
#define EPSLEDGER_CLIENT_ALERTS_RULES_REFUSED_H_

#include <cstdint>
#include <optional>
#include <string>

#include "client/alerts/rules/alert_rules.h"
#include "epsledger/v1/change.pb.h"
#include "epsledger/v1/charge.pb.h"

namespace epsledger::alerts {

// A refused charge, lease or plan.
struct AlertRules::Refused {
  std::string name;    // of the charge or session
  std::string budget;  // in which it would have been spent
  std::string reason;  // of Refusal.Reason: "BUDGET_EXHAUSTED"
  bool is_plan = false;
  v1::Refusal refusal;
  int64_t sequence = 0;
  int64_t time_micros = 0;

  // Returns nullopt if the change is no refusal.
  static std::optional<Refused> In(const v1::LedgerChange& change);
};

}  // namespace epsledger::alerts

#endif  // EPSLEDGER_CLIENT_ALERTS_RULES_REFUSED_H_
