#ifndef EPSLEDGER_CLIENT_ALERTS_RULES_ALERT_RULES_H_
#define EPSLEDGER_CLIENT_ALERTS_RULES_ALERT_RULES_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "client/alerts/rules/alert.h"
#include "client/alerts/rules/rule.h"
#include "epsledger/v1/budget.pb.h"
#include "epsledger/v1/change.pb.h"
#include "epsledger/v1/proposal_service.pb.h"
#include "epsledger/v1/server_service.pb.h"
#include "nlohmann/json.hpp"

namespace epsledger::alerts {

// Decides which changes and readings of ledgers become alerts. A pure state machine: no clock, no
// thread, no I/O. The same inputs from the same state give the same alerts with the same ids.
//
// 1. A budget crosses each threshold at most once under each rule: its cap never changes, and what
//    is spent never returns, so an older reading that arrives late changes nothing. One reading
//    that passes several thresholds is one alert, which names the highest.
// 2. The successor of a budget (a raised cap) is a new budget: what it starts with is told once,
//    and each threshold above that is crossed anew. What the superseded budget crossed before, and
//    was not read in time, is told as well.
// 3. Each entry of a ledger is looked at once, however often it comes.
// 4. A refusal is told at once, or counted and told within the rule's repeat_after.
// 5. At the first start, and for a rule that is new at a start, the thresholds that are passed
//    already are remembered and not told.
class AlertRules {
 public:
  // REQUIRES: names of rules are unique.
  explicit AlertRules(std::vector<Rule> rules);

  const std::vector<Rule>& rules() const { return rules_; }

  // Takes the position of a tree that is watched for the first time: everything up to `sequence`
  // is past. Changes nothing if the tree has a position.
  void BeginTree(const std::string& tree, int64_t sequence);
  // The last entry of the tree that was looked at; nullopt: the tree is not known.
  std::optional<int64_t> Position(const std::string& tree) const;

  // The budget that replaced `budget`, as far as readings tell; empty: none did.
  std::string SuccessorOf(const std::string& budget) const;

  // Takes a reading of a budget. `at_start`: the budget was there before this program started.
  std::vector<Alert> OnBudget(const v1::Budget& budget, int64_t now_micros, bool at_start);
  // Takes one change of a watched tree, bookmarks included.
  std::vector<Alert> OnChange(const std::string& tree, const v1::LedgerChange& change);
  // The tree has only `head` entries, fewer than were seen: it continues after `head`.
  std::vector<Alert> OnEntriesLost(const std::string& tree, int64_t head, int64_t now_micros);
  // Takes the complete list of ledgers in quarantine.
  std::vector<Alert> OnQuarantines(const std::vector<v1::Quarantine>& quarantines,
                                   int64_t now_micros);
  // Takes the complete list of pending proposals of a tree.
  std::vector<Alert> OnProposals(const std::string& tree, const std::vector<v1::Proposal>& pending,
                                 int64_t now_micros);
  // Tells refusals that were counted for long enough.
  std::vector<Alert> OnTime(int64_t now_micros);

  // The budgets whose spending a change may have changed: that of its session, with all above it
  // that are known.
  std::set<std::string> BudgetsCharged(const v1::LedgerChange& change) const;

  // Everything that is remembered, and back. INVALID_ARGUMENT for what State did not write.
  nlohmann::ordered_json State() const;
  absl::Status Restore(const nlohmann::ordered_json& state);

 private:
  // What a rule asks of a budget. From readings; not kept in the state.
  struct KnownBudget {
    std::string parent;
    std::string supersedes;
    std::string superseded_by;
    std::string display_name;
    std::map<std::string, std::string> labels;
  };
  struct Refusals {
    int64_t told_micros = 0;    // when the last alert was
    int64_t counted = 0;        // since then
    int64_t last_sequence = 0;  // of the newest one
    std::string last_name;
  };
  struct Refused;  // one refusal, of a charge or a plan

  bool Covers(const Rule& rule, const std::string& budget) const;
  bool IsSuccessorOfOne(const std::string& budget, const std::vector<std::string>& names) const;
  std::vector<std::string> PathOf(const std::string& budget) const;
  Alert NewAlert(const Rule& rule, const std::string& budget, int64_t time_micros) const;
  Alert ThresholdAlert(const Rule& rule, const v1::Budget& budget, double from, double passed,
                       const std::vector<double>& thresholds, int64_t now_micros) const;
  Alert RefusalAlert(const Rule& rule, const Refused& refused, int64_t before) const;
  Alert CountedAlert(const Rule& rule, const std::string& budget, const std::string& reason,
                     const Refusals& refusals, int64_t now_micros) const;
  Alert ApprovalAlert(const Rule& rule, const v1::Proposal& proposal, int64_t now_micros) const;

  const std::vector<Rule> rules_;
  std::map<std::string, KnownBudget> known_;
  std::set<std::string> restored_rules_;  // the rules of the state that was restored
  std::map<std::string, int64_t> positions_;
  // By rule and budget: the highest threshold that was told or remembered.
  std::map<std::string, std::map<std::string, double>> alerted_;
  // By rule, budget and reason.
  std::map<std::string, std::map<std::pair<std::string, std::string>, Refusals>> refusals_;
  std::map<std::string, int64_t> quarantined_;  // since when
  // By rule and tree: "{name} {sequence}" of pending proposals that were told.
  std::map<std::string, std::map<std::string, std::set<std::string>>> told_proposals_;
};

}  // namespace epsledger::alerts

#endif  // EPSLEDGER_CLIENT_ALERTS_RULES_ALERT_RULES_H_
