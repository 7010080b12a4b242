// Caps in units of a reference, through the ledger: what is charged, stored, replayed and refused.

#include <cmath>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "accounting/filter/residue.h"
#include "tests/accounting/filter/event_pricer.h"
#include "tests/server/core/unit_harness.h"

namespace epsledger::core {
namespace {

class UnitCharges : public testing::Test {
 protected:
  UnitHarness harness_;
};

TEST_F(UnitCharges, TheReferenceCostsOneUnitUntilTheCapIsFull) {
  harness_.Budget("b", ApproximateDpFilter::kResidue, Step());
  const SessionName session = harness_.Session("b");
  int64_t steps = 0;
  while (harness_.Charges(session, Step())) {
    ++steps;
    EXPECT_EQ(harness_.UnitsOf("b"), steps);
  }
  EXPECT_EQ(steps, harness_.CapOf("b"));
  EXPECT_GE(steps, 316);  // PLD proves 321
  EXPECT_LE(EpsilonOf({{Step(), steps}}), kEpsilon);
  const ChargeRecord refused = harness_.ChargeOf(session, Step());
  EXPECT_EQ(refused.row.refusal->reason, RefusalReason::kBudgetExhausted);
  EXPECT_EQ(refused.row.refusal->cell.quantity, accounting::CellQuantity::kUnits);
  EXPECT_EQ(refused.row.refusal->requested, CostOfUnits(1));
  EXPECT_EQ(harness_.UnitsOf("b"), steps) << "a refusal costs nothing";
  harness_.ExpectReplays();
}

TEST_F(UnitCharges, ABlockIsTheReferenceAsOftenAsItSays) {
  harness_.Budget("b", ApproximateDpFilter::kResidue, Step());
  const SessionName session = harness_.Session("b");
  EXPECT_TRUE(harness_.Charges(session, Step(), 100));
  EXPECT_EQ(harness_.UnitsOf("b"), 100);
  EXPECT_FALSE(harness_.Charges(session, Step(), harness_.CapOf("b")));
  EXPECT_TRUE(harness_.Charges(session, Step(), harness_.CapOf("b") - 100));
  EXPECT_EQ(harness_.UnitsOf("b"), harness_.CapOf("b"));
}

TEST_F(UnitCharges, OtherEventsAreChargedAtTheLevelOfTheMoment) {
  harness_.Budget("b", ApproximateDpFilter::kResidue, Step());
  const SessionName session = harness_.Session("b");
  const MechanismEvent dear = Sampled(.1, 2);
  int64_t first = 0;
  int64_t last = 0;
  while (harness_.Charges(session, dear)) {
    const int64_t spent = harness_.UnitsOf("b");
    if (first == 0) first = spent;
    EXPECT_GE(spent - last, 1);
    last = spent;
    // Every price in the ledger is proved again by the pricer that it names.
  }
  EXPECT_GT(first, 1);
  accounting::EventPricer pricer(harness_.BalanceOf("b").reference()->reference);
  int64_t prices = 0;
  int64_t before = 0;
  for (const Entry& entry : harness_.entries) {
    const auto* price = std::get_if<UnitsPriced>(&entry.body);
    if (price == nullptr) continue;
    ++prices;
    EXPECT_TRUE(*pricer.IsProved(dear, accounting::NeighboringRelation::kAddOrRemoveOne,
                                 price->count, price->level, {price->units, price->reserve}));
    EXPECT_GE(price->units, before) << "prices rise as units run out";
    before = price->units;
  }
  EXPECT_GT(prices, 5);
  harness_.ExpectReplays();
}

TEST_F(UnitCharges, PricesAreAskedForOnceALevelAndThenLookedUp) {
  harness_.Budget("b", ApproximateDpFilter::kResidue, Step());
  const SessionName session = harness_.Session("b");
  // Two units each, and a level of the table is some eight units long.
  for (int i = 0; i < 40; ++i) EXPECT_TRUE(harness_.Charges(session, Sampled(.06, 2)));
  EXPECT_LE(harness_.rounds, 25);
  EXPECT_GE(harness_.rounds, 2);
}

TEST_F(UnitCharges, WithoutAReferenceTheFirstChargeDecides) {
  harness_.Budget("b", ApproximateDpFilter::kPortfolio, std::nullopt);
  EXPECT_EQ(harness_.CapOf("b"), 0);
  const SessionName session = harness_.Session("b");
  EXPECT_TRUE(harness_.Charges(session, Step()));
  EXPECT_EQ(harness_.BalanceOf("b").reference()->event, Step());
  EXPECT_TRUE(harness_.Charges(session, Sampled(.01, 1)));
  EXPECT_EQ(harness_.BalanceOf("b").reference()->event, Step()) << "and nobody after it";
  harness_.ExpectReplays();
}

TEST_F(UnitCharges, ASessionThatExpectsAnEventFixesTheReferenceWhileNothingIsCharged) {
  harness_.Budget("b", ApproximateDpFilter::kPortfolio, std::nullopt);
  CreateSession create{.spec = AdaptiveSession("b", "first")};
  create.expects = Step();
  ASSERT_TRUE(harness_.Priced(std::move(create)).ok());
  EXPECT_EQ(harness_.BalanceOf("b").reference()->event, Step());
  CreateSession second{.spec = AdaptiveSession("b", "second")};
  second.expects = Gaussian{30};
  ASSERT_TRUE(harness_.Priced(std::move(second)).ok());
  EXPECT_EQ(harness_.BalanceOf("b").reference()->event, Step());
  harness_.ExpectReplays();
}

TEST_F(UnitCharges, AMemberThatCannotPayIsDeadForGood) {
  harness_.Budget("b", ApproximateDpFilter::kPortfolio, Step());
  const SessionName session = harness_.Session("b");
  // Only the Renyi orders know a repeated selection; units and mu cannot pay for it.
  const MechanismEvent unknown = accounting::Zcdp{1e-4, 0};
  EXPECT_TRUE(harness_.Charges(session, unknown));
  EXPECT_TRUE(harness_.BalanceOf("b").spent()[2].is_infinite()) << "mu of Gaussian DP";
  const Cost mu_before = harness_.BalanceOf("b").spent()[2];
  EXPECT_TRUE(harness_.Charges(session, Gaussian{200}));
  EXPECT_EQ(harness_.BalanceOf("b").spent()[2], mu_before);
  harness_.ExpectReplays();
}

TEST_F(UnitCharges, NothingIsStoredOfAChargeThatIsRefusedButTheRefusal) {
  harness_.Budget("b", ApproximateDpFilter::kResidue, std::nullopt);
  const SessionName session = harness_.Session("b");
  EXPECT_FALSE(harness_.Charges(session, accounting::NonPrivate{"x"}));
  EXPECT_EQ(harness_.BalanceOf("b").reference(), nullptr);
  for (const Entry& entry : harness_.entries) {
    EXPECT_FALSE(std::holds_alternative<UnitsPriced>(entry.body));
    EXPECT_FALSE(std::holds_alternative<ReferenceFixed>(entry.body));
  }
  harness_.ExpectReplays();
}

TEST_F(UnitCharges, ABudgetBelowAnotherIsChargedInBoth) {
  harness_.Budget("root", ApproximateDpFilter::kResidue, Sampled(.02, 1.5));
  harness_.Budget("leaf", ApproximateDpFilter::kResidue, Step(), "root");
  const SessionName session = harness_.Session("leaf");
  EXPECT_TRUE(harness_.Charges(session, Step()));
  EXPECT_EQ(harness_.UnitsOf("leaf"), 1);
  EXPECT_GE(harness_.UnitsOf("root"), 1);
  int64_t steps = 1;
  while (harness_.Charges(session, Step())) ++steps;
  EXPECT_LE(harness_.UnitsOf("root"), harness_.CapOf("root"));
  EXPECT_LE(EpsilonOf({{Step(), steps}}), kEpsilon);
  harness_.ExpectReplays();
}

// The children of a partition meet different people: each is priced at its own level, and the
// parent holds the largest.
TEST_F(UnitCharges, PartsArePricedAtTheirOwnLevel) {
  harness_.Budget("root", ApproximateDpFilter::kResidue, Step(), "", "hash(id) mod 2");
  harness_.Budget("even", ApproximateDpFilter::kResidue, Step(), "root");
  harness_.Budget("odd", ApproximateDpFilter::kResidue, Step(), "root");
  const SessionName even = harness_.Session("even");
  const SessionName odd = harness_.Session("odd");
  const int64_t cap = harness_.CapOf("root");
  EXPECT_TRUE(harness_.Charges(even, Step(), cap - 10));
  EXPECT_EQ(harness_.UnitsOf("root"), cap - 10);
  const MechanismEvent dear = Sampled(.1, 2);
  EXPECT_TRUE(harness_.Charges(odd, dear));
  const int64_t in_odd = harness_.UnitsOf("odd");
  EXPECT_LT(in_odd, 10) << "at the level of a part that has used nothing";
  EXPECT_EQ(harness_.UnitsOf("root"), cap - 10) << "the largest part";
  EXPECT_TRUE(harness_.Charges(odd, Step(), cap - 10 - in_odd));
  EXPECT_EQ(harness_.UnitsOf("root"), cap - 10);
  EXPECT_TRUE(harness_.Charges(even, Step(), 10));
  EXPECT_FALSE(harness_.Charges(even, Step()));
  EXPECT_TRUE(harness_.Charges(odd, Step(), 10));
  EXPECT_FALSE(harness_.Charges(odd, Step()));
  EXPECT_EQ(harness_.UnitsOf("root"), cap);
  harness_.ExpectReplays();
}

TEST_F(UnitCharges, NothingIsPaidInUnitsWhereARecordMayMoveBetweenParts) {
  constexpr auto kReplaceOne = accounting::NeighboringRelation::kReplaceOne;
  harness_.Budget("root", ApproximateDpFilter::kResidue, Gaussian{40}, "", "region", kReplaceOne);
  harness_.Budget("part", ApproximateDpFilter::kResidue, Gaussian{40}, "root", {}, kReplaceOne);
  EXPECT_FALSE(harness_.Charges(harness_.Session("part"), Gaussian{40}));
  EXPECT_TRUE(harness_.Charges(harness_.Session("root", "own"), Gaussian{40}));
}

TEST_F(UnitCharges, APlanIsOneBlockAndItsTicketsAreDrawn) {
  harness_.Budget("b", ApproximateDpFilter::kResidue, Step());
  SessionSpec spec = DeclaredSession("b", "plan", {{Step(), 100}, {Sampled(.1, 2), 5}});
  const absl::StatusOr<Outcome> outcome = harness_.Priced(CreateSession{.spec = spec});
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  ASSERT_FALSE(std::get<SessionOutcome>(*outcome).refusal.has_value());
  const int64_t units = harness_.UnitsOf("b");
  EXPECT_GE(units, 105);
  EXPECT_LE(units, 140);
  ASSERT_TRUE(harness_.Priced(OpenAttempt{.session = {"b", "plan"}}).ok());
  EXPECT_TRUE(harness_.Charges({"b", "plan"}, Step(), 100));
  EXPECT_FALSE(harness_.Charges({"b", "plan"}, Step()));
  EXPECT_EQ(harness_.UnitsOf("b"), units);
  // One that does not fit makes no session.
  SessionSpec large = DeclaredSession("b", "large", {{Step(), 1000}});
  EXPECT_TRUE(
      std::get<SessionOutcome>(*harness_.Priced(CreateSession{.spec = large})).refusal.has_value());
  harness_.ExpectReplays();
}

TEST_F(UnitCharges, ASuccessorKeepsTheReferenceAndTakesOverTheUnits) {
  harness_.Budget("b", ApproximateDpFilter::kPortfolio, Step());
  const SessionName session = harness_.Session("b");
  EXPECT_TRUE(harness_.Charges(session, Step(), 50));
  const int64_t before = harness_.CapOf("b");
  const absl::StatusOr<Outcome> outcome =
      harness_.Priced(SupersedeBudget{.budget_id = "b",
                                      .successor_id = "c",
                                      .cap = ApproximateDpCap{2 * kEpsilon, kDelta},
                                      .reason = "more",
                                      .any_filter = true});
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_GT(harness_.CapOf("c"), before);
  EXPECT_EQ(harness_.UnitsOf("c"), 50);
  EXPECT_EQ(harness_.BalanceOf("c").reference()->reference.pair.masses,
            harness_.BalanceOf("b").reference()->reference.pair.masses);
  const SessionName next = harness_.Session("c");
  EXPECT_TRUE(harness_.Charges(next, Step(), harness_.CapOf("c") - 50));
  EXPECT_FALSE(harness_.Charges(next, Step()));
  harness_.ExpectReplays();
}

TEST_F(UnitCharges, WhatWasChargedOtherwiseIsNotPricedInUnitsAfterwards) {
  ASSERT_TRUE(harness_
                  .Priced(CreateBudget{.spec = {.id = "b",
                                                .cap = ApproximateDpCap{kEpsilon, kDelta},
                                                .privacy_unit = "person"}})
                  .ok());
  EXPECT_TRUE(harness_.Charges(harness_.Session("b"), Step()));
  EXPECT_EQ(harness_
                .Priced(SupersedeBudget{
                    .budget_id = "b",
                    .successor_id = "c",
                    .cap = ApproximateDpCap{3, kDelta, ApproximateDpFilter::kResidue, 0},
                    .reason = "more"})
                .status()
                .code(),
            absl::StatusCode::kFailedPrecondition);
}

TEST_F(UnitCharges, ABudgetIsTheSameOnlyWithTheSameReference) {
  harness_.Budget("b", ApproximateDpFilter::kResidue, Step());
  CreateBudget again{.spec = harness_.ledger.FindBudget("b")->spec};
  EXPECT_FALSE(std::get<BudgetOutcome>(*harness_.Priced(again)).created);
  again.reference = Step();
  EXPECT_FALSE(std::get<BudgetOutcome>(*harness_.Priced(again)).created);
  again.reference = Gaussian{30};
  EXPECT_EQ(harness_.Priced(again).status().code(), absl::StatusCode::kAlreadyExists);
  CreateBudget any{.spec = harness_.ledger.FindBudget("b")->spec};
  std::get<ApproximateDpCap>(any.spec.cap).filter = ApproximateDpFilter::kPortfolio;
  EXPECT_EQ(harness_.Priced(any).status().code(), absl::StatusCode::kAlreadyExists);
  any.any_filter = true;
  EXPECT_FALSE(std::get<BudgetOutcome>(*harness_.Priced(any)).created);
}

TEST_F(UnitCharges, AReferenceThatIsNoneIsAnErrorThatSaysWhatWouldDo) {
  const auto status = [&](const MechanismEvent& reference, ApproximateDpFilter filter) {
    CreateBudget create{.spec = {.id = "x",
                                 .cap = ApproximateDpCap{kEpsilon, kDelta, filter, 0},
                                 .privacy_unit = "person"}};
    create.reference = reference;
    return harness_.Priced(std::move(create)).status();
  };
  for (const MechanismEvent& reference :
       {MechanismEvent(accounting::NonPrivate{"x"}), MechanismEvent(Gaussian{.1}),
        MechanismEvent(accounting::RandomizedResponse{.5, 4})}) {
    const absl::Status refused = status(reference, ApproximateDpFilter::kResidue);
    EXPECT_FALSE(refused.ok());
    EXPECT_NE(std::string(refused.message()).find("budget.cap.approximateDp.reference: got "),
              std::string::npos)
        << refused;
  }
  EXPECT_EQ(status(Step(), ApproximateDpFilter::kRenyiOrders).code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(harness_.entries.empty());
}

TEST_F(UnitCharges, AVerifierThatProvesPricesFindsOneThatIsTooLow) {
  harness_.Budget("b", ApproximateDpFilter::kResidue, Step());
  const SessionName session = harness_.Session("b");
  ASSERT_TRUE(harness_.Charges(session, Sampled(.1, 2), 3));
  ASSERT_EQ(ProblemOf(harness_.entries, PriceCheck::kProved), "");

  const std::vector<Entry> cheaper = Forged(harness_.entries, [](EntryBody& body) {
    if (auto* price = std::get_if<UnitsPriced>(&body)) --price->units;
  });
  EXPECT_EQ(ProblemOf(cheaper, PriceCheck::kStored), "");
  EXPECT_THAT(ProblemOf(cheaper, PriceCheck::kProved), testing::HasSubstr("is not proved"));

  const std::vector<Entry> roomier = Forged(harness_.entries, [](EntryBody& body) {
    if (auto* reference = std::get_if<ReferenceFixed>(&body)) reference->units += 2;
  });
  EXPECT_EQ(ProblemOf(roomier, PriceCheck::kStored), "");
  EXPECT_THAT(ProblemOf(roomier, PriceCheck::kProved),
              testing::HasSubstr("are not proved to fit the cap"));

  // A pair that is below its event: what the units are of costs more than a unit.
  const std::vector<Entry> flatter = Forged(harness_.entries, [](EntryBody& body) {
    if (auto* reference = std::get_if<ReferenceFixed>(&body)) {
      reference->event = accounting::NestedEvent(Sampled(.06, 2));
    }
  });
  EXPECT_THAT(ProblemOf(flatter, PriceCheck::kProved), testing::HasSubstr("is not proved"));
}

TEST_F(UnitCharges, APlanThatIsChargedTooLittleIsFoundToo) {
  harness_.Budget("b", ApproximateDpFilter::kResidue, Step());
  SessionSpec spec =
      DeclaredSession("b", "plan", {{Sampled(.1, 2), 10}, {MechanismEvent(Gaussian{30}), 2}});
  ASSERT_TRUE(harness_.Priced(CreateSession{.spec = std::move(spec)}).ok());
  ASSERT_EQ(ProblemOf(harness_.entries, PriceCheck::kProved), "");
  const std::vector<Entry> cheaper = Forged(harness_.entries, [](EntryBody& body) {
    auto* session = std::get_if<SessionCreated>(&body);
    if (session == nullptr || !session->plan_charge.has_value()) return;
    Cost& units = session->plan_charge->costs[0][0];
    units = CostOfUnits(WholeUnits(units) - 1);
  });
  EXPECT_EQ(ProblemOf(cheaper, PriceCheck::kStored), "");
  EXPECT_THAT(ProblemOf(cheaper, PriceCheck::kProved), testing::HasSubstr("is not proved"));
}

// What the ledger itself made is proved again, also where a unit is so small that its rounding is
// not.
TEST_F(UnitCharges, AVerifierProvesEveryReferenceThatWasMade) {
  struct Row {
    double epsilon, delta, q, z;
  };
  int number = 0;
  for (const Row& row : {Row{8, 1e-9, .01, 1.1}, Row{8, 1e-6, .0004675, 4.649},
                         Row{3, 1e-6, .0002108, 1.149}, Row{2, 1e-6, .001133, 2.844}}) {
    UnitHarness harness;
    CreateBudget create{
        .spec = {.id = "b",
                 .cap = ApproximateDpCap{row.epsilon, row.delta, ApproximateDpFilter::kResidue, 0},
                 .privacy_unit = "person"}};
    create.reference = Sampled(row.q, row.z);
    ASSERT_TRUE(harness.Priced(std::move(create)).ok()) << number;
    EXPECT_EQ(ProblemOf(harness.entries, PriceCheck::kProved), "") << number;
    ++number;
  }
}

// An entry from a file that holds no laws is no reference.
TEST_F(UnitCharges, AReferenceThatHoldsNoPairOfLawsIsRefused) {
  harness_.Budget("b", ApproximateDpFilter::kResidue, Step());
  for (const int what : {0, 1, 2, 3}) {
    Ledger ledger;
    bool refused = false;
    for (const Entry& entry : harness_.entries) {
      EntryBody body = entry.body;
      if (auto* reference = std::get_if<ReferenceFixed>(&body)) {
        if (what == 0) reference->masses[0] = -0.5;
        if (what == 1) reference->interval = 0;
        if (what == 2) reference->slack = std::nan("");
        if (what == 3) reference->reserve = 2;
      }
      refused = refused || !ledger.Apply(ledger.Seal(std::move(body), 1)).ok();
    }
    EXPECT_TRUE(refused) << what;
  }
}

// Random histories: at any time and in any order, no cell of units is beyond its cap, what is spent
// is what the entries say, and a restart gives the same ledger.
TEST_F(UnitCharges, RandomHistoriesReplay) {
  std::mt19937 random(7);
  const std::vector<MechanismEvent> events = {Step(), Sampled(.025, 2), Sampled(.1, 2),
                                              MechanismEvent(Gaussian{30}),
                                              MechanismEvent(Laplace{40})};
  for (const ApproximateDpFilter filter :
       {ApproximateDpFilter::kResidue, ApproximateDpFilter::kPortfolio}) {
    UnitHarness harness;
    harness.Budget("root", filter, Step(), "", "part");
    harness.Budget("one", filter, Step(), "root");
    harness.Budget("two", filter, Sampled(.1, 3), "root");
    const std::vector<SessionName> sessions = {harness.Session("root"), harness.Session("one"),
                                               harness.Session("two")};
    for (int i = 0; i < 60; ++i) {
      const size_t session = random() % sessions.size();
      const size_t event = random() % events.size();
      harness.Charges(sessions[session], events[event], random() % 2 == 0 ? 1 : 5);
      for (const auto& [id, budget] : harness.ledger.budgets()) {
        const Cost spent = budget.balance.spent()[0];
        if (!spent.is_infinite()) {
          EXPECT_LE(spent, budget.balance.filter().cells[0].cap) << id;
        }
      }
    }
    harness.ExpectReplays();
  }
}

}  // namespace
}  // namespace epsledger::core
