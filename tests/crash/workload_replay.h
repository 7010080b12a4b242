#ifndef EPSLEDGER_TESTS_CRASH_WORKLOAD_REPLAY_H_
#define EPSLEDGER_TESTS_CRASH_WORKLOAD_REPLAY_H_

#include "gtest/gtest.h"

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "server/core/ledger.h"

namespace epsledger {

// Replays a stored ledger that a workload wrote, and keeps an independent account of it.
class WorkloadReplay {
 public:
  static constexpr double kUnit = 1.0 / 1024;  // dyadic: sums are exact

  static std::string KeyOf(const std::string& session, int64_t attempt,
                           const std::string& charge_id) {
    return session + "/" + std::to_string(attempt) + "/" + charge_id;
  }

  absl::Status Add(const core::Entry& entry) {
    const absl::Status status = ledger_.Apply(entry);  // the chain, and every cap
    if (!status.ok()) return status;
    EXPECT_EQ(entry.sequence, static_cast<int64_t>(entries_.size()) + 1);  // I8
    std::visit([&](const auto& body) { Account(body); }, entry.body);
    entries_.push_back(entry);
    return absl::OkStatus();
  }

  const core::Ledger& ledger() const { return ledger_; }
  const std::vector<core::Entry>& entries() const { return entries_; }
  const std::map<std::string, int64_t>& keys() const { return keys_; }
  int64_t settled() const { return settled_; }

  // I2.
  void ExpectSpentIsTheSum() {
    for (const auto& [id, budget] : ledger_.budgets()) {
      EXPECT_EQ(budget.balance.spent()[0], core::Cost::RoundUp(kUnit).Times(units_[id])) << id;
    }
  }

  std::string KeyOfEntry(const core::Entry& entry) const {
    const std::optional<core::ChargeKey> key = core::ChargeKeyOf(entry.body);
    return key.has_value() ? Key(*key) : "";
  }

 private:
  struct Session {
    std::string name;
    std::string budget;
    bool declared = false;
    int64_t attempt = 0;
  };

  std::string Key(const core::ChargeKey& key) const {
    return KeyOf(sessions_.at(key.session_number).name, key.attempt, key.charge_id);
  }
  void TakeKey(const std::string& key) {
    EXPECT_TRUE(keys_.emplace(key, entries_.size() + 1).second) << key << " is twice";
  }
  void Spend(std::string budget, int64_t units) {
    for (; !budget.empty(); budget = parents_[budget]) {
      EXPECT_EQ(frozen_.count(budget), 0u) << budget << " is frozen and was charged";
      units_[budget] += units;
    }
  }

  template <class Body>
  void Account(const Body&) {}
  void Account(const core::BudgetCreated& body) { parents_[body.spec.id] = body.spec.parent_id; }
  void Account(const core::BudgetPhaseChanged& body) {
    if (body.phase == core::BudgetPhase::kFrozen) frozen_.insert(body.budget_id);
    if (body.phase == core::BudgetPhase::kActive) frozen_.erase(body.budget_id);
  }
  void Account(const core::SessionCreated& body) {
    const std::string& budget = body.spec.budget_id;
    sessions_[body.session_number] = {.name = "budgets/" + budget + "/sessions/" + body.spec.id,
                                      .budget = budget,
                                      .declared = body.spec.mode == core::SessionMode::kDeclared};
    for (const auto& planned : body.spec.plan) Spend(budget, planned.count);
  }
  void Account(const core::AttemptOpened& body) {
    sessions_[body.session_number].attempt = body.attempt;
  }
  void Account(const core::LeaseSettled&) { ++settled_; }
  void Account(const core::ChargeDecided& body) {
    const Session& session = sessions_[body.session_number];
    const std::string key = Key(*core::ChargeKeyOf(body));
    TakeKey(key);
    if (body.decision != core::ChargeDecision::kAccepted) return;
    EXPECT_EQ(body.attempt, session.attempt) << key << " is of a fenced attempt (I9)";
    Spend(session.budget, session.declared ? 0 : body.count);
  }

  void Account(const core::ChargeRefused& body) { TakeKey(Key(*core::ChargeKeyOf(body))); }

  core::Ledger ledger_;
  std::vector<core::Entry> entries_;
  std::map<std::string, std::string> parents_;
  std::set<std::string> frozen_;
  std::map<int64_t, Session> sessions_;
  std::map<std::string, int64_t> units_;
  std::map<std::string, int64_t> keys_;  // the sequence number of each key
  int64_t settled_ = 0;
};

}  // namespace epsledger

#endif  // EPSLEDGER_TESTS_CRASH_WORKLOAD_REPLAY_H_
