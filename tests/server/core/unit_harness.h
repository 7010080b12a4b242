#ifndef EPSLEDGER_TESTS_SERVER_CORE_UNIT_HARNESS_H_
#define EPSLEDGER_TESTS_SERVER_CORE_UNIT_HARNESS_H_

// Caps in units of a reference, for tests: a ledger whose prices are computed as a server does, the
// epsilon of its charges by privacy loss distributions, and forged copies of the ledger.

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

#include "accounting/answer.h"
#include "server/core/codec.h"
#include "server/core/ledger_verifier.h"
#include "server/core/pricing.h"
#include "tests/server/core/compute_pricing.h"
#include "tests/server/core/ledger_harness.h"

namespace epsledger::core {

using accounting::ApproximateDpFilter;
using accounting::Gaussian;
using accounting::Laplace;
using accounting::MechanismEvent;
using accounting::PoissonSampled;

inline constexpr double kEpsilon = 2;
inline constexpr double kDelta = 1e-5;

inline MechanismEvent Sampled(double q, double z) {
  return PoissonSampled{q, MechanismEvent(Gaussian{z})};
}
inline const MechanismEvent& Step() {
  static const auto& step = *new MechanismEvent(Sampled(.05, 2));
  return step;
}

// A harness that computes the prices that a command needs, as a server does.
class UnitHarness : public LedgerHarness {
 public:
  template <class Body>
  absl::StatusOr<Outcome> Priced(Body body) {
    Command command{.time_micros = 1, .body = std::move(body)};
    for (int round = 0; round < 20; ++round) {
      absl::StatusOr<Outcome> outcome = Run(command);
      if (!outcome.ok() || !std::holds_alternative<PricesWanted>(*outcome)) return outcome;
      command.pricing = ComputePricing(std::get<PricesWanted>(*outcome), command.pricing.get());
      ++rounds;
    }
    return absl::InternalError("prices are wanted without end");
  }

  void Budget(
      const std::string& id, ApproximateDpFilter filter, std::optional<MechanismEvent> reference,
      const std::string& parent = "", std::optional<std::string> partition = std::nullopt,
      accounting::NeighboringRelation relation = accounting::NeighboringRelation::kAddOrRemoveOne,
      double epsilon = kEpsilon) {
    CreateBudget create{.spec = {.id = id,
                                 .parent_id = parent,
                                 .cap = ApproximateDpCap{epsilon, kDelta, filter, 0},
                                 .relation = relation,
                                 .privacy_unit = "person",
                                 .partition_function = std::move(partition)}};
    create.reference = std::move(reference);
    const absl::StatusOr<Outcome> outcome = Priced(std::move(create));
    ASSERT_TRUE(outcome.ok()) << outcome.status();
  }

  SessionName Session(const std::string& budget, const std::string& id = "s") {
    SessionSpec spec = AdaptiveSession(budget, id);
    spec.relation = ledger.FindBudget(budget)->spec.relation;
    EXPECT_TRUE(Priced(CreateSession{.spec = std::move(spec)}).ok());
    EXPECT_TRUE(Priced(OpenAttempt{.session = {budget, id}}).ok());
    return {budget, id};
  }

  ChargeRecord ChargeOf(const SessionName& session, const MechanismEvent& event,
                        int64_t count = 1) {
    const absl::StatusOr<Outcome> outcome =
        Priced(Charge{.session = session,
                      .attempt = 1,
                      .items = {{"c" + std::to_string(++charges_), event, count}}});
    EXPECT_TRUE(outcome.ok()) << outcome.status();
    return std::get<ChargeOutcome>(*outcome).records.at(0);
  }
  bool Charges(const SessionName& session, const MechanismEvent& event, int64_t count = 1) {
    return ChargeOf(session, event, count).row.decision == ChargeDecision::kAccepted;
  }

  const Balance& BalanceOf(const std::string& budget) { return ledger.FindBudget(budget)->balance; }
  int64_t UnitsOf(const std::string& budget) { return WholeUnits(BalanceOf(budget).spent()[0]); }
  int64_t CapOf(const std::string& budget) {
    return WholeUnits(BalanceOf(budget).filter().cells[0].cap);
  }

  // I18: replaying the entries from empty gives the same ledger.
  void ExpectReplays() {
    LedgerHarness again;
    for (const Entry& entry : entries) {
      const absl::StatusOr<Entry> decoded = DecodeEntry(entry.content, entry.hash);
      ASSERT_TRUE(decoded.ok()) << decoded.status();
      ASSERT_TRUE(again.Restore(*decoded)) << "entry " << entry.sequence;
    }
    EXPECT_EQ(again.ledger.head(), ledger.head());
    // Every reference and price also holds when it is proved again.
    LedgerVerifier verifier(ledger.root_id(), PriceCheck::kProved);
    for (const Entry& entry : entries) {
      const std::optional<LedgerFault> fault = verifier.Check(entry);
      ASSERT_FALSE(fault.has_value()) << "entry " << fault->sequence << ": " << fault->problem;
    }
    for (const auto& [id, budget] : ledger.budgets()) {
      EXPECT_EQ(again.ledger.FindBudget(id)->balance.spent(), budget.balance.spent()) << id;
    }
  }

  int rounds = 0;

 private:
  int64_t charges_ = 0;
};

inline double EpsilonOf(const std::vector<accounting::CountedEvent>& events,
                        double delta = kDelta) {
  accounting::Question question;
  question.accountant = accounting::Accountant::kPld;
  question.events = events;
  question.query = accounting::EpsilonAtDelta::FromDelta(delta);
  return *accounting::Answer(question)->lower;
}

// Returns the same entries with one changed body and recomputed hashes, as somebody with access to
// the file could write them.
template <class Change>
std::vector<Entry> Forged(const std::vector<Entry>& entries, Change change) {
  Ledger ledger;
  std::vector<Entry> forged;
  for (const Entry& entry : entries) {
    EntryBody body = entry.body;
    change(body);
    forged.push_back(ledger.Seal(std::move(body), entry.time_micros));
    EXPECT_TRUE(ledger.Apply(forged.back()).ok());
  }
  return forged;
}

inline std::string ProblemOf(const std::vector<Entry>& entries, PriceCheck prices) {
  LedgerVerifier verifier("b", prices);
  for (const Entry& entry : entries) {
    if (const std::optional<LedgerFault> fault = verifier.Check(entry)) return fault->problem;
  }
  return "";
}

}  // namespace epsledger::core

#endif  // EPSLEDGER_TESTS_SERVER_CORE_UNIT_HARNESS_H_
