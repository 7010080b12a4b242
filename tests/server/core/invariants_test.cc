// The ledger's invariants, each by its number in the design, over random histories of every kind
// of command. I7, I13 and I17 are in tests/server/storage, I19 in tests/client/cpp.

#include <rapidcheck/gtest.h>
#include "gtest/gtest.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "server/core/charge_decider.h"
#include "server/core/codec.h"
#include "server/core/gate.h"
#include "tests/server/core/random_history.h"

namespace epsledger::core {
namespace {

using accounting::NeighboringRelation;
using Costs = std::vector<Cost>;

RandomHistory AnyHistory(uint64_t seed) {
  return RandomHistory(seed, seed % 2 == 0 ? NeighboringRelation::kAddOrRemoveOne
                                           : NeighboringRelation::kReplaceOne);
}

RandomHistory Lived(uint64_t seed, int steps) {
  RandomHistory history = AnyHistory(seed);
  for (int i = 0; i < steps; ++i) history.Take();
  return history;
}

constexpr int kSteps = 150;

// What every balance must be, from the stored rows alone: sums over sessions, and over the parts of
// a partition the largest (of a pair of neighbors that change two: the two largest) of final sums.
class Recount {
 public:
  explicit Recount(const std::vector<Entry>& entries) {
    for (const Entry& entry : entries) std::visit([this](const auto& e) { Read(e); }, entry.body);
  }

  Costs SpentBy(const std::string& budget) const {
    Costs sum = Below(budget, budget, 0);
    const auto carried = carried_.find(budget);
    if (carried != carried_.end()) AddInPlace(carried->second, &sum);
    return sum;
  }
  const Costs& SpentBySession(int64_t number) const { return sessions_.at(number).own; }

 private:
  struct Budget {
    BudgetSpec spec;
    CellFilter filter;
    std::string supersedes;
    std::string superseded_by;
    std::vector<std::string> children;
  };
  struct Session {
    std::string budget;
    bool has_own = false;
    std::vector<std::vector<Costs>> prices;  // by event, by gate
    Costs own;
    std::vector<Costs> spent;  // by level above the session's budget
  };

  void Add(const BudgetSpec& spec, const CellFilter& filter, const std::string& supersedes) {
    budgets_[spec.id] = {spec, filter, supersedes, "", {}};
    if (!spec.parent_id.empty()) budgets_[spec.parent_id].children.push_back(spec.id);
    if (!supersedes.empty()) budgets_[supersedes].superseded_by = spec.id;
  }
  void Read(const BudgetCreated& e) { Add(e.spec, e.filter, ""); }
  void Read(const BudgetSuperseded& e) {
    Add(e.successor, e.filter, e.budget_id);
    carried_[e.successor.id] = e.carried;
  }
  void Read(const SessionCreated& e) {
    Session& session = sessions_[e.session_number];
    session.budget = e.spec.budget_id;
    session.has_own = e.own_filter.has_value();
    if (e.own_filter) session.own.resize(e.own_filter->cells.size());
    for (std::string at = session.budget; !at.empty(); at = budgets_[at].spec.parent_id) {
      session.spent.emplace_back(budgets_[at].filter.cells.size());
    }
    if (e.plan_charge) {
      session.spent = e.plan_charge->costs;
      session.prices.resize(e.spec.plan.size());
    }
  }
  void Read(const EventPriced& e) { sessions_[e.session_number].prices.push_back(e.unit_costs); }
  void Read(const ChargeDecided& e) {
    if (e.decision != ChargeDecision::kAccepted) return;
    Session& session = sessions_[e.session_number];
    const std::vector<Costs>& prices = session.prices.at(e.event_index);
    for (size_t gate = 0; gate < prices.size(); ++gate) {
      Costs& spent =
          session.has_own && gate == 0 ? session.own : session.spent.at(gate - session.has_own);
      AddInPlace(Times(prices[gate], e.count), &spent);
    }
  }
  template <class Other>
  void Read(const Other&) {}

  // What `budget` and all below it have spent in the cells of `top`, `level` levels above it.
  Costs Below(const std::string& budget, const std::string& top, size_t level) const {
    const Budget& node = budgets_.at(budget);
    Costs sum(budgets_.at(top).filter.cells.size());
    for (const auto& [number, session] : sessions_) {
      if (session.budget == budget) AddInPlace(session.spent.at(level), &sum);
    }
    std::vector<Costs> parts;
    for (const std::string& child : node.children) {
      Costs part = Below(child, top, level + 1);
      const bool partition = node.spec.partition_function.has_value();
      // The population of a superseded part is its successor's.
      if (partition && !budgets_.at(child).superseded_by.empty()) continue;
      if (partition) {
        for (std::string old = budgets_.at(child).supersedes; !old.empty();
             old = budgets_.at(old).supersedes) {
          AddInPlace(Below(old, top, level + 1), &part);
        }
      }
      parts.push_back(std::move(part));
    }
    const size_t counted = !node.spec.partition_function                            ? parts.size()
                           : node.spec.relation == NeighboringRelation::kReplaceOne ? 2
                                                                                    : 1;
    for (size_t cell = 0; cell < sum.size(); ++cell) {
      std::sort(parts.begin(), parts.end(),
                [cell](const Costs& a, const Costs& b) { return a[cell] > b[cell]; });
      for (size_t i = 0; i < std::min(counted, parts.size()); ++i) {
        sum[cell] = sum[cell] + parts[i][cell];
      }
    }
    return sum;
  }

  std::map<std::string, Budget> budgets_;
  std::map<std::string, Costs> carried_;
  std::map<int64_t, Session> sessions_;
};

bool WithinCap(const Balance& balance) {
  const bool any = balance.filter().rule == accounting::FilterRule::kAnyCell;
  bool result = !any;
  for (size_t i = 0; i < balance.spent().size(); ++i) {
    // The number that is stated: the cap, or 2^-32 of it more (at least 2^-64) where a person wrote
    // it.
    Cost::Units kept = balance.filter().cells[i].cap.units();
    if (balance.filter().rule == accounting::FilterRule::kAllCellsWithTolerance && kept > 0) {
      kept += std::max<Cost::Units>(1, kept >> 32);
    }
    const bool fits = balance.spent()[i].units() <= kept;
    result = any ? result || fits : result && fits;
  }
  return result;
}

std::map<std::string, Costs> Spent(const Ledger& ledger) {
  std::map<std::string, Costs> spent;
  for (const auto& [id, budget] : ledger.budgets()) spent[id] = budget.balance.spent();
  return spent;
}

std::vector<const SessionState*> AllSessions(const Ledger& ledger) {
  std::vector<const SessionState*> sessions;
  for (int64_t number = 1; ledger.FindSession(number) != nullptr; ++number) {
    sessions.push_back(ledger.FindSession(number));
  }
  return sessions;
}

TEST(RandomHistoryTest, ReachesEveryKindOfEntryAndRefusal) {
  std::set<size_t> kinds;
  std::set<RefusalReason> reasons;
  int partition_savings = 0;  // parts that have spent while their parent has less than their sum
  for (uint64_t seed = 0; seed < 120; ++seed) {
    const RandomHistory history = Lived(seed, 300);
    for (const Entry& entry : history.entries()) {
      kinds.insert(entry.body.index());
      const auto* row = std::get_if<ChargeDecided>(&entry.body);
      if (row != nullptr && row->refusal) reasons.insert(row->refusal->reason);
      const auto* refused = std::get_if<ChargeRefused>(&entry.body);
      if (refused != nullptr) reasons.insert(refused->refusal.reason);
    }
    for (const auto& [id, budget] : history.ledger().budgets()) {
      if (!budget.spec.partition_function) continue;
      Cost sum;
      for (const std::string& child : budget.child_ids) {
        sum = sum + history.ledger().FindBudget(child)->contributions[0][0];
      }
      partition_savings += budget.balance.spent()[0] < sum;
    }
  }
  // Those after it are the ledger of access's, and audits.
  const size_t last = EntryBody(LeaseSettled()).index();
  for (size_t kind = 0; kind <= last; ++kind) {
    EXPECT_EQ(kinds.count(kind), 1u) << "kind " << kind;
  }
  EXPECT_EQ(kinds.count(EntryBody(AuditRecorded()).index()), 1u);
  EXPECT_EQ(kinds.count(EntryBody(Annotated()).index()), 1u);
  EXPECT_EQ(kinds.count(EntryBody(SignedOff()).index()), 1u);
  EXPECT_EQ(kinds.count(EntryBody(ChargeRefused()).index()), 1u);
  EXPECT_EQ(reasons.size(), 9u);
  EXPECT_GT(partition_savings, 10);
}

RC_GTEST_PROP(Invariants, I1NoCapIsEverExceeded, (uint64_t seed)) {
  RandomHistory history = AnyHistory(seed);
  for (int i = 0; i < kSteps; ++i) {
    history.Take();
    for (const auto& [id, budget] : history.ledger().budgets()) {
      RC_ASSERT(WithinCap(budget.balance));
    }
    for (const SessionState* session : AllSessions(history.ledger())) {
      if (session->own_balance) RC_ASSERT(WithinCap(*session->own_balance));
    }
  }
}

RC_GTEST_PROP(Invariants, I2SpentIsTheSumOfAcceptedCosts, (uint64_t seed)) {
  const RandomHistory history = Lived(seed, kSteps);
  const Recount recount(history.entries());
  for (const auto& [id, budget] : history.ledger().budgets()) {
    RC_ASSERT(budget.balance.spent() == recount.SpentBy(id));
  }
  for (const SessionState* session : AllSessions(history.ledger())) {
    if (!session->own_balance) continue;
    RC_ASSERT(session->own_balance->spent() == recount.SpentBySession(session->number));
  }
}

RC_GTEST_PROP(Invariants, I3AChargeIsInAllItsBudgetsOrInNone, (uint64_t seed)) {
  RandomHistory history = AnyHistory(seed);
  for (int i = 0; i < kSteps; ++i) {
    const std::map<std::string, Costs> before = Spent(history.ledger());
    const RandomHistory::Step& step = history.Take();
    bool accepted = false;
    for (size_t e = step.entries_before; e < history.entries().size(); ++e) {
      const EntryBody& body = history.entries()[e].body;
      const auto* row = std::get_if<ChargeDecided>(&body);
      accepted |= row != nullptr && row->decision == ChargeDecision::kAccepted;
      accepted |= std::holds_alternative<SessionCreated>(body) ||
                  std::holds_alternative<BudgetCreated>(body) ||
                  std::holds_alternative<BudgetSuperseded>(body);
    }
    // A refusal moves no balance; what an acceptance moves is I2's.
    if (!accepted) RC_ASSERT(Spent(history.ledger()) == before);
  }
}

RC_GTEST_PROP(Invariants, I4SpentNeverDecreases, (uint64_t seed)) {
  RandomHistory history = AnyHistory(seed);
  std::map<std::string, Costs> before;
  for (int i = 0; i < kSteps; ++i) {
    history.Take();
    std::map<std::string, Costs> after = Spent(history.ledger());
    for (const auto& [id, costs] : before) {
      for (size_t cell = 0; cell < costs.size(); ++cell) {
        RC_ASSERT(costs[cell] <= after.at(id)[cell]);
      }
    }
    before = std::move(after);
  }
}

RC_GTEST_PROP(Invariants, I5AKeyIsChargedAtMostOnce, (uint64_t seed)) {
  const RandomHistory history = Lived(seed, kSteps);
  std::set<std::tuple<int64_t, int64_t, std::string>> keys;
  for (const Entry& entry : history.entries()) {
    const std::optional<ChargeKey> key = ChargeKeyOf(entry.body);
    if (!key.has_value()) continue;
    RC_ASSERT(keys.insert({key->session_number, key->attempt, key->charge_id}).second);
  }
}

RC_GTEST_PROP(Invariants, I6OutcomesStayAcrossRestarts, (uint64_t seed)) {
  RandomHistory history = Lived(seed, kSteps);
  LedgerHarness restarted;
  for (const Entry& entry : history.entries()) RC_ASSERT(restarted.Restore(entry));
  for (const RandomHistory::Step& step : history.steps()) {
    if (!std::holds_alternative<Charge>(step.command.body) || !step.outcome.ok()) continue;
    const LedgerHead head = restarted.ledger.head();
    const absl::StatusOr<Outcome> again = restarted.Run(step.command);
    RC_ASSERT(again.ok());
    RC_ASSERT(restarted.ledger.head() == head);
    const auto& was = std::get<ChargeOutcome>(*step.outcome).records;
    const auto& is = std::get<ChargeOutcome>(*again).records;
    RC_ASSERT(was.size() == is.size());
    for (size_t i = 0; i < was.size(); ++i) {
      RC_ASSERT(was[i].row.decision == is[i].row.decision);
      RC_ASSERT(was[i].sequence == is[i].sequence);
      RC_ASSERT(was[i].hash == is[i].hash);
      RC_ASSERT(was[i].row.refusal.has_value() == is[i].row.refusal.has_value());
      if (was[i].row.refusal) RC_ASSERT(was[i].row.refusal->reason == is[i].row.refusal->reason);
    }
  }
}

RC_GTEST_PROP(Invariants, I8SequenceNumbersAreDense, (uint64_t seed)) {
  const RandomHistory history = Lived(seed, kSteps);
  for (size_t i = 0; i < history.entries().size(); ++i) {
    RC_ASSERT(history.entries()[i].sequence == static_cast<int64_t>(i) + 1);
  }
}

RC_GTEST_PROP(Invariants, I9AFencedAttemptNeverCharges, (uint64_t seed)) {
  const RandomHistory history = Lived(seed, kSteps);
  std::map<int64_t, int64_t> newest;
  for (const Entry& entry : history.entries()) {
    if (const auto* opened = std::get_if<AttemptOpened>(&entry.body)) {
      newest[opened->session_number] = opened->attempt;
    }
    const auto* row = std::get_if<ChargeDecided>(&entry.body);
    if (row == nullptr || row->decision != ChargeDecision::kAccepted) continue;
    RC_ASSERT(row->attempt == newest[row->session_number]);
  }
}

RC_GTEST_PROP(Invariants, I10ALeaseIsUsedPlusWasted, (uint64_t seed)) {
  RandomHistory history = AnyHistory(seed);
  std::map<std::tuple<int64_t, int64_t, std::string>, int64_t> granted;
  for (int i = 0; i < kSteps; ++i) {
    const std::map<std::string, Costs> before = Spent(history.ledger());
    const RandomHistory::Step& step = history.Take();
    for (size_t e = step.entries_before; e < history.entries().size(); ++e) {
      const EntryBody& body = history.entries()[e].body;
      if (const auto* row = std::get_if<ChargeDecided>(&body)) {
        granted[{row->session_number, row->attempt, row->charge_id}] = row->count;
      }
      const auto* settled = std::get_if<LeaseSettled>(&body);
      if (settled == nullptr) continue;
      const int64_t count =
          granted.at({settled->session_number, settled->attempt, settled->lease_id});
      RC_ASSERT(settled->used_count >= 0 && settled->used_count <= count);
      RC_ASSERT(Spent(history.ledger()) == before);  // nothing returns
    }
  }
  size_t open = 0;
  size_t expected = 0;
  for (const SessionState* session : AllSessions(history.ledger())) {
    open += session->open_leases.size();
  }
  for (const Entry& entry : history.entries()) {
    expected += std::holds_alternative<LeaseGranted>(entry.body);
    expected -= std::holds_alternative<LeaseSettled>(entry.body);
  }
  RC_ASSERT(open == expected);
}

RC_GTEST_PROP(Invariants, I11CapsParentsAndCurrenciesNeverChange, (uint64_t seed)) {
  RandomHistory history = AnyHistory(seed);
  std::map<std::string, BudgetSpec> specs;
  for (int i = 0; i < kSteps; ++i) {
    history.Take();
    for (const auto& [id, spec] : specs) {
      RC_ASSERT(FirstDifference(spec, history.ledger().FindBudget(id)->spec).empty());
    }
    for (const auto& [id, budget] : history.ledger().budgets()) specs.try_emplace(id, budget.spec);
  }
}

RC_GTEST_PROP(Invariants, I12NothingDependsOnAClock, (uint64_t seed)) {
  constexpr int64_t kTenYears = int64_t{10} * 366 * 86400 * 1'000'000;
  const auto relation = NeighboringRelation::kAddOrRemoveOne;
  RandomHistory steady(seed, relation);
  RandomHistory jumping(seed, relation,
                        [](int64_t n) { return n % 3 == 0 ? -kTenYears : kTenYears - n; });
  for (int i = 0; i < kSteps; ++i) {
    const auto& a = steady.Take();
    const auto& b = jumping.Take();
    RC_ASSERT(a.outcome.status() == b.outcome.status());
  }
  RC_ASSERT(Spent(steady.ledger()) == Spent(jumping.ledger()));
  RC_ASSERT(steady.entries().size() == jumping.entries().size());
  for (size_t i = 0; i < steady.entries().size(); ++i) {
    const Entry& entry = steady.entries()[i];
    const EntryBody& other = jumping.entries()[i].body;
    RC_ASSERT(EncodeContent(entry.sequence, 0, entry.body) ==
              EncodeContent(entry.sequence, 0, other));
  }
}

RC_GTEST_PROP(Invariants, I14TheCellThatIsCheckedIsTheCellThatIsCharged, (uint64_t seed)) {
  // A preview checks; the charge that follows agrees with it, and moves exactly the cells that it
  // was checked in.
  RandomHistory history = Lived(seed, kSteps);
  const accounting::MechanismEvent event(accounting::Gaussian{.noise_multiplier = 25});
  for (const SessionState* session : AllSessions(history.ledger())) {
    if (session->current_attempt == 0) continue;
    const SessionName name{session->spec.budget_id, session->spec.id};
    const absl::StatusOr<Preview> preview = history.harness().PreviewOf(name, event);
    RC_ASSERT(preview.ok());
    const ChargeRecord record =
        history.harness().Decide(name, session->current_attempt, "previewed", event);
    RC_ASSERT((record.row.decision == ChargeDecision::kAccepted) == !preview->refusal.has_value());
    const Recount recount(history.entries());
    for (const auto& [id, budget] : history.ledger().budgets()) {
      RC_ASSERT(budget.balance.spent() == recount.SpentBy(id));
    }
  }
}

RC_GTEST_PROP(Invariants, I15SplittingAndMergingChangeNoCharge, (uint64_t seed)) {
  RandomHistory history = Lived(seed, kSteps);
  std::mt19937_64 random(seed);
  for (const SessionState* session : AllSessions(history.ledger())) {
    for (const SessionEvent& event : session->events) {
      const int64_t count = 1 + static_cast<int64_t>(random() % 1'000'000);
      const int64_t part = static_cast<int64_t>(random() % static_cast<uint64_t>(count));
      for (const Costs& unit : event.unit_costs) {
        Costs split = Times(unit, part);
        AddInPlace(Times(unit, count - part), &split);
        RC_ASSERT(split == Times(unit, count));
      }
    }
  }
}

RC_GTEST_PROP(Invariants, I16EveryChangeHasItsEntryAndTheChainVerifies, (uint64_t seed)) {
  RandomHistory history = AnyHistory(seed);
  for (int i = 0; i < kSteps; ++i) {
    const LedgerHead head = history.ledger().head();
    const RandomHistory::Step& step = history.Take();
    const size_t added = history.entries().size() - step.entries_before;
    RC_ASSERT((added == 0) == (history.ledger().head() == head));
    if (!step.outcome.ok()) RC_ASSERT(added == 0u);
  }
  Hash hash{};
  for (const Entry& entry : history.entries()) {
    RC_ASSERT(entry.hash == ChainHash(hash, entry.content));
    hash = entry.hash;
  }
}

RC_GTEST_PROP(Invariants, I18ReplayReproducesTheHeadAndTheState, (uint64_t seed)) {
  const RandomHistory history = Lived(seed, kSteps);
  Ledger replay;
  for (const Entry& entry : history.entries()) {
    const absl::StatusOr<Entry> stored = DecodeEntry(entry.content, entry.hash);
    RC_ASSERT(stored.ok());
    RC_ASSERT(replay.Apply(*stored).ok());
  }
  RC_ASSERT(replay.head() == history.ledger().head());
  RC_ASSERT(Spent(replay) == Spent(history.ledger()));
  for (const auto& [id, budget] : history.ledger().budgets()) {
    RC_ASSERT(replay.FindBudget(id)->phase == budget.phase);
    RC_ASSERT(replay.FindBudget(id)->contributions == budget.contributions);
  }
}

}  // namespace
}  // namespace epsledger::core
