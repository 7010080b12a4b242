#include "client/alerts/rules/alert_rules.h"

#include <algorithm>

#include <google/protobuf/util/time_util.h>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "client/alerts/rules/refused.h"

namespace epsledger::alerts {
namespace {

using google::protobuf::util::TimeUtil;

// Parents are a tree at most this deep; a server that says otherwise must not hang this program.
constexpr int kMostLevels = 64;

// The highest threshold that `fraction` has reached; 0: none.
double HighestPassed(const std::vector<double>& thresholds, double fraction) {
  double highest = 0;
  for (const double threshold : thresholds) {
    if (threshold <= fraction) highest = std::max(highest, threshold);
  }
  return highest;
}

std::vector<double> ThresholdsOf(const Rule& rule, const v1::Budget& budget) {
  if (!rule.thresholds.empty()) return rule.thresholds;
  return {budget.alert_thresholds().begin(), budget.alert_thresholds().end()};
}

bool Takes(const Rule& rule, const std::string& reason) {
  if (rule.reasons.empty()) return reason != "BATCH_REFUSED";
  return std::find(rule.reasons.begin(), rule.reasons.end(), reason) != rule.reasons.end();
}

// The name of the budget in "budgets/people/sessions/...".
std::string BudgetOf(const std::string& name) {
  const size_t end = name.find("/sessions/");
  return end == name.npos ? name : name.substr(0, end);
}

}  // namespace

AlertRules::AlertRules(std::vector<Rule> rules) : rules_(std::move(rules)) {}

void AlertRules::BeginTree(const std::string& tree, int64_t sequence) {
  positions_.emplace(tree, sequence);
}

std::optional<int64_t> AlertRules::Position(const std::string& tree) const {
  const auto found = positions_.find(tree);
  if (found == positions_.end()) return std::nullopt;
  return found->second;
}

std::vector<std::string> AlertRules::PathOf(const std::string& budget) const {
  std::vector<std::string> path;
  std::string name = budget;
  while (!name.empty() && path.size() < kMostLevels) {
    path.push_back(name);
    const auto found = known_.find(name);
    name = found == known_.end() ? "" : found->second.parent;
  }
  return path;
}

std::string AlertRules::SuccessorOf(const std::string& budget) const {
  const auto known = known_.find(budget);
  return known == known_.end() ? "" : known->second.superseded_by;
}

// True if `budget`, or one that it replaced, directly or not, is one of `names`.
bool AlertRules::IsSuccessorOfOne(const std::string& budget,
                                  const std::vector<std::string>& names) const {
  std::set<std::string> seen;
  for (std::string name = budget; !name.empty() && seen.insert(name).second;) {
    if (std::find(names.begin(), names.end(), name) != names.end()) return true;
    const auto known = known_.find(name);
    name = known == known_.end() ? "" : known->second.supersedes;
  }
  return false;
}

bool AlertRules::Covers(const Rule& rule, const std::string& budget) const {
  if (!rule.budgets.empty()) {
    const std::vector<std::string> path = PathOf(budget);
    const bool is_below = std::any_of(path.begin(), path.end(), [&](const std::string& name) {
      return IsSuccessorOfOne(name, rule.budgets);
    });
    if (!is_below) return false;
  }
  const auto known = known_.find(budget);
  return std::all_of(rule.labels.begin(), rule.labels.end(), [&](const auto& wanted) {
    if (known == known_.end()) return false;
    const auto label = known->second.labels.find(wanted.first);
    return label != known->second.labels.end() && label->second == wanted.second;
  });
}

std::vector<Alert> AlertRules::OnBudget(const v1::Budget& budget, int64_t now_micros,
                                        bool at_start) {
  known_[budget.name()] = {.parent = budget.parent(),
                           .supersedes = budget.supersedes(),
                           .superseded_by = budget.superseded_by(),
                           .display_name = budget.display_name(),
                           .labels = {budget.labels().begin(), budget.labels().end()}};
  std::vector<Alert> alerts;
  for (const Rule& rule : rules_) {
    if (rule.kind != AlertKind::kThreshold || !Covers(rule, budget.name())) continue;
    const std::vector<double> thresholds = ThresholdsOf(rule, budget);
    const double passed = HighestPassed(thresholds, budget.spent_fraction());
    double& alerted = alerted_[rule.name][budget.name()];
    if (passed <= alerted) continue;
    const bool is_old_news = at_start && restored_rules_.count(rule.name) == 0;
    // A superseded or closed budget takes no charges: what is read late was crossed before.
    if (!is_old_news) {
      alerts.push_back(ThresholdAlert(rule, budget, alerted, passed, thresholds, now_micros));
    }
    alerted = passed;
  }
  return alerts;
}

std::vector<Alert> AlertRules::OnChange(const std::string& tree, const v1::LedgerChange& change) {
  int64_t& position = positions_[tree];
  if (change.sequence() <= position) return {};
  position = change.sequence();
  const int64_t time_micros = TimeUtil::TimestampToMicroseconds(change.time());
  if (change.has_budget()) return OnBudget(change.budget(), time_micros, /*at_start=*/false);
  const std::optional<Refused> refused = Refused::In(change);
  if (!refused.has_value()) return {};
  std::vector<Alert> alerts;
  for (const Rule& rule : rules_) {
    if (rule.kind != AlertKind::kRefusal || !Takes(rule, refused->reason) ||
        !Covers(rule, refused->budget)) {
      continue;
    }
    const auto [place, is_new] =
        refusals_[rule.name].emplace(std::pair(refused->budget, refused->reason), Refusals{});
    Refusals& told = place->second;
    if (is_new || time_micros >= told.told_micros + rule.repeat_after_micros) {
      alerts.push_back(RefusalAlert(rule, *refused, told.counted));
      told = {.told_micros = time_micros};
    } else {
      ++told.counted;
      told.last_sequence = refused->sequence;
      told.last_name = refused->name;
    }
  }
  return alerts;
}

std::vector<Alert> AlertRules::OnTime(int64_t now_micros) {
  std::vector<Alert> alerts;
  for (const Rule& rule : rules_) {
    if (rule.kind != AlertKind::kRefusal) continue;
    auto& of_rule = refusals_[rule.name];
    for (auto place = of_rule.begin(); place != of_rule.end();) {
      auto& [key, told] = *place;
      if (now_micros < told.told_micros + rule.repeat_after_micros) {
        ++place;
      } else if (told.counted == 0) {
        place = of_rule.erase(place);
      } else {
        alerts.push_back(CountedAlert(rule, key.first, key.second, told, now_micros));
        told = {.told_micros = now_micros};
        ++place;
      }
    }
  }
  return alerts;
}

std::vector<Alert> AlertRules::OnEntriesLost(const std::string& tree, int64_t head,
                                             int64_t now_micros) {
  int64_t& position = positions_[tree];
  const int64_t seen = position;
  position = head;
  std::vector<Alert> alerts;
  for (const Rule& rule : rules_) {
    if (rule.kind != AlertKind::kQuarantine || !Covers(rule, tree)) continue;
    Alert alert = NewAlert(rule, tree, now_micros);
    alert.id = AlertId({"entries-lost", rule.name, tree, absl::StrCat(seen), absl::StrCat(head),
                        absl::StrCat(now_micros)});
    alert.title = absl::StrCat(tree, ": the ledger has lost entries");
    alert.text = absl::StrCat("The server has ", head, " entries of the ledger of ", tree,
                              ", and showed ", seen,
                              " before. Charges may be missing: stop training on these data until "
                              "somebody knows why.");
    alert.facts = {{"seenSequence", absl::StrCat(seen)}, {"lastSequence", absl::StrCat(head)}};
    alert.page = absl::StrCat(tree, "/audit");
    alerts.push_back(std::move(alert));
  }
  return alerts;
}

std::vector<Alert> AlertRules::OnQuarantines(const std::vector<v1::Quarantine>& quarantines,
                                             int64_t now_micros) {
  std::vector<Alert> alerts;
  std::map<std::string, int64_t> now;
  for (const v1::Quarantine& quarantine : quarantines) {
    const std::string& root = quarantine.root_budget();
    if (const auto before = quarantined_.find(root); before != quarantined_.end()) {
      now.insert(*before);
      continue;
    }
    now[root] = now_micros;
    for (const Rule& rule : rules_) {
      if (rule.kind != AlertKind::kQuarantine || !Covers(rule, root)) continue;
      Alert alert = NewAlert(rule, root, now_micros);
      alert.id = AlertId({"quarantine", rule.name, root, absl::StrCat(now_micros)});
      alert.title = absl::StrCat(root, ": the ledger takes no charges");
      alert.text = absl::StrCat(
          "The ledger of ", root, " is in quarantine: ", quarantine.reason(), ". ",
          quarantine.can_be_lifted()
              ? "An admin can lift the quarantine after the lost entries were charged by hand."
              : "The stored data is damaged.");
      alert.facts = {{"reason", quarantine.reason()},
                     {"canBeLifted", quarantine.can_be_lifted() ? "true" : "false"}};
      alert.page = absl::StrCat(root, "/audit");
      alerts.push_back(std::move(alert));
    }
  }
  quarantined_ = std::move(now);
  return alerts;
}

std::vector<Alert> AlertRules::OnProposals(const std::string& tree,
                                           const std::vector<v1::Proposal>& pending,
                                           int64_t now_micros) {
  std::vector<Alert> alerts;
  for (const Rule& rule : rules_) {
    if (rule.kind != AlertKind::kApproval) continue;
    std::set<std::string>& told = told_proposals_[rule.name][tree];
    std::set<std::string> still_pending;
    for (const v1::Proposal& proposal : pending) {
      const std::string key = absl::StrCat(proposal.name(), " ", proposal.sequence());
      if (told.count(key) > 0) {
        still_pending.insert(key);
        continue;
      }
      const std::string budget = proposal.name().substr(0, proposal.name().find("/proposals/"));
      const int64_t created = TimeUtil::TimestampToMicroseconds(proposal.create_time());
      if (now_micros - created < rule.wait_micros || !Covers(rule, budget)) continue;
      alerts.push_back(ApprovalAlert(rule, proposal, now_micros));
      still_pending.insert(key);
    }
    told = std::move(still_pending);
  }
  return alerts;
}

std::set<std::string> AlertRules::BudgetsCharged(const v1::LedgerChange& change) const {
  std::string name;
  if (change.has_charge() && change.charge().decision() == v1::Charge::ACCEPTED) {
    name = change.charge().name();
  } else if (change.has_lease()) {
    name = change.lease().name();
  } else if (change.has_session()) {
    name = change.session().name();  // a DECLARED session pays for its plan
  }
  const std::vector<std::string> path = PathOf(BudgetOf(name));
  return {path.begin(), path.end()};
}

}  // namespace epsledger::alerts
