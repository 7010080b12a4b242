// A cap that is so many units of a reference: its promise is a curve.

#include <cmath>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/server/core/unit_harness.h"

namespace epsledger::core {
namespace {

class UnitsCapTest : public testing::Test {
 protected:
  UnitHarness harness_;
};

UnitsCap CapOfSteps(int64_t count, double delta = kDelta) {
  return UnitsCap{.reference = accounting::NestedEvent(Step()), .count = count, .delta = delta};
}

CreateBudget BudgetWith(const std::string& id, Cap cap, const std::string& parent = "") {
  return CreateBudget{
      .spec = {.id = id, .parent_id = parent, .cap = std::move(cap), .privacy_unit = "person"}};
}

const std::vector<TradeOffCurveCap::Point>& CurveOf(const UnitHarness& harness,
                                                    const std::string& id) {
  return std::get<UnitsCap>(harness.ledger.FindBudget(id)->spec.cap).guarantee;
}

// What PLD certifies of the events is within the curve, everywhere; `tightness` of it at least.
void ExpectWithinCurve(const std::vector<TradeOffCurveCap::Point>& curve,
                       const std::vector<accounting::CountedEvent>& events, double tightness) {
  ASSERT_FALSE(curve.empty());
  for (const TradeOffCurveCap::Point& point : curve) {
    const double epsilon = EpsilonOf(events, point.delta);
    EXPECT_LE(epsilon, point.epsilon) << "at delta " << point.delta;
    EXPECT_GE(epsilon, tightness * point.epsilon) << "at delta " << point.delta;
  }
}

TEST_F(UnitsCapTest, ACapInUnitsPromisesTheCurveOfItsReference) {
  ASSERT_TRUE(harness_.Priced(BudgetWith("b", CapOfSteps(300))).ok());
  EXPECT_EQ(harness_.CapOf("b"), 300);
  const std::vector<TradeOffCurveCap::Point> curve = CurveOf(harness_, "b");
  ASSERT_EQ(curve.size(), 5U);
  const std::vector<double> deltas = {.1, .01, .001, 1e-4, 1e-5};
  for (size_t i = 0; i < curve.size(); ++i) {
    EXPECT_EQ(curve[i].delta, deltas[i]);
    if (i > 0) {
      EXPECT_GT(curve[i].epsilon, curve[i - 1].epsilon);
    }
  }
  // A 40th of 1e-5 and the lattice are all that it says too much.
  ExpectWithinCurve(curve, {{Step(), 300}}, .99);
  const SessionName session = harness_.Session("b");
  EXPECT_TRUE(harness_.Charges(session, Step(), 299));
  EXPECT_TRUE(harness_.Charges(session, Step()));
  EXPECT_FALSE(harness_.Charges(session, Step()));
  harness_.ExpectReplays();
}

TEST_F(UnitsCapTest, WhatIsChargedStaysWithinTheCurveWhateverItIs) {
  ASSERT_TRUE(harness_.Priced(BudgetWith("b", CapOfSteps(200))).ok());
  const SessionName session = harness_.Session("b");
  const std::vector<MechanismEvent> events = {Step(), Sampled(.025, 2), Sampled(.1, 2),
                                              MechanismEvent(Gaussian{30}),
                                              MechanismEvent(Laplace{40})};
  std::mt19937 random(5);
  std::vector<accounting::CountedEvent> charged;
  int refused = 0;
  while (refused < 12) {
    const accounting::CountedEvent next{events[random() % events.size()],
                                        random() % 2 == 0 ? 1 : 6};
    if (harness_.Charges(session, *next.event, next.count)) {
      charged.push_back(next);
    } else {
      ++refused;
    }
  }
  EXPECT_GT(charged.size(), 10U);
  ExpectWithinCurve(CurveOf(harness_, "b"), charged, .5);
  harness_.ExpectReplays();
}

TEST_F(UnitsCapTest, ACapInUnitsHoldsBudgetsPlansAndSessionsAsOthersDo) {
  ASSERT_TRUE(harness_.Priced(BudgetWith("root", CapOfSteps(300))).ok());
  harness_.Budget("leaf", ApproximateDpFilter::kPortfolio, Step(), "root");
  ASSERT_TRUE(harness_.Priced(BudgetWith("other", CapOfSteps(50), "root")).ok());
  const SessionName leaf = harness_.Session("leaf");
  const SessionName other = harness_.Session("other");
  EXPECT_TRUE(harness_.Charges(leaf, Step(), 100));
  EXPECT_TRUE(harness_.Charges(other, Step(), 50));
  EXPECT_FALSE(harness_.Charges(other, Step()));
  EXPECT_EQ(harness_.UnitsOf("root"), 150);
  SessionSpec spec = DeclaredSession("root", "plan", {{Step(), 140}});
  ASSERT_FALSE(
      std::get<SessionOutcome>(*harness_.Priced(CreateSession{.spec = spec})).refusal.has_value());
  EXPECT_EQ(harness_.UnitsOf("root"), 290);
  EXPECT_TRUE(harness_.Charges(leaf, Step(), 10));
  EXPECT_FALSE(harness_.Charges(leaf, Step()));
  harness_.ExpectReplays();
}

TEST_F(UnitsCapTest, ASuccessorInUnitsKeepsThePairAndHasACurveOfItsOwn) {
  ASSERT_TRUE(harness_.Priced(BudgetWith("b", CapOfSteps(100))).ok());
  const auto masses = harness_.BalanceOf("b").reference()->reference.pair.masses;
  EXPECT_TRUE(harness_.Charges(harness_.Session("b"), Step(), 60));
  const auto supersede = [&](const std::string& of, const std::string& by, Cap cap) {
    return harness_.Priced(SupersedeBudget{
        .budget_id = of, .successor_id = by, .cap = std::move(cap), .reason = "more"});
  };
  UnitsCap more = CapOfSteps(200);
  more.reference = accounting::NestedEvent();  // as before
  ASSERT_TRUE(supersede("b", "c", more).ok());
  EXPECT_EQ(harness_.CapOf("c"), 200);
  EXPECT_EQ(harness_.UnitsOf("c"), 60);
  EXPECT_EQ(harness_.BalanceOf("c").reference()->reference.pair.masses, masses);
  ExpectWithinCurve(CurveOf(harness_, "c"), {{Step(), 200}}, .98);
  EXPECT_FALSE(std::get<BudgetOutcome>(*supersede("b", "c", more)).created) << "the same again";

  UnitsCap another = CapOfSteps(300);
  another.reference = accounting::NestedEvent(Gaussian{30});
  EXPECT_EQ(supersede("c", "x", another).status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(supersede("c", "x", CapOfSteps(59)).status().code(),
            absl::StatusCode::kFailedPrecondition)
      << "60 are spent";
  // To a cap in (epsilon, delta) and back, along the same chain.
  ASSERT_TRUE(
      supersede("c", "d", ApproximateDpCap{4, kDelta, ApproximateDpFilter::kResidue, 0}).ok());
  EXPECT_EQ(harness_.UnitsOf("d"), 60);
  ASSERT_TRUE(supersede("d", "e", CapOfSteps(1200)).ok());
  EXPECT_EQ(harness_.UnitsOf("e"), 60);
  EXPECT_EQ(harness_.BalanceOf("e").reference()->reference.pair.masses, masses);
  ExpectWithinCurve(CurveOf(harness_, "e"), {{Step(), 1200}}, .95);
  EXPECT_TRUE(harness_.Charges(harness_.Session("e"), Step(), 1140));
  EXPECT_FALSE(harness_.Charges({"e", "s"}, Step()));
  harness_.ExpectReplays();
}

// With fewer units a charge stands at a lower level than the one at which its price was proved, and
// may be worth more than it cost there (accounting/filter/README.md, "Successors").
TEST_F(UnitsCapTest, PricesAreNotCarriedToACapOfFewerUnits) {
  const auto supersede = [](UnitHarness& harness, const std::string& of, const std::string& by,
                            Cap cap) {
    return harness
        .Priced(SupersedeBudget{
            .budget_id = of, .successor_id = by, .cap = std::move(cap), .reason = "less"})
        .status();
  };
  const MechanismEvent dear = Sampled(.1, 2);
  {
    UnitHarness harness;
    ASSERT_TRUE(harness.Priced(BudgetWith("big", CapOfSteps(300))).ok());
    EXPECT_TRUE(harness.Charges(harness.Session("big"), dear));
    const int64_t paid = harness.UnitsOf("big");
    for (const Cap& cap : {Cap(CapOfSteps(paid)), Cap(CapOfSteps(299)),
                           Cap(ApproximateDpCap{.5, kDelta, ApproximateDpFilter::kResidue, 0})}) {
      const absl::Status refused = supersede(harness, "big", "small", cap);
      EXPECT_EQ(refused.code(), absl::StatusCode::kFailedPrecondition) << Describe(cap);
      EXPECT_THAT(std::string(refused.message()), testing::HasSubstr("want at least the 300 of"));
    }
    EXPECT_TRUE(supersede(harness, "big", "same", CapOfSteps(300)).ok());
    EXPECT_TRUE(supersede(harness, "same", "larger", CapOfSteps(400)).ok());
    EXPECT_EQ(supersede(harness, "larger", "smaller", CapOfSteps(350)).code(),
              absl::StatusCode::kFailedPrecondition)
        << "also what was paid two budgets ago";
    harness.ExpectReplays();
  }
  // In a portfolio the units are dead, and the other filters go on.
  {
    UnitHarness harness;
    harness.Budget("big", ApproximateDpFilter::kPortfolio, Step());
    EXPECT_TRUE(harness.Charges(harness.Session("big"), Sampled(.1, 2)));
    ASSERT_FALSE(harness.BalanceOf("big").spent()[0].is_infinite());
    const absl::Status less = supersede(
        harness, "big", "less", ApproximateDpCap{1.8, kDelta, ApproximateDpFilter::kPortfolio, 0});
    ASSERT_TRUE(less.ok()) << less;
    EXPECT_TRUE(harness.BalanceOf("less").spent()[0].is_infinite());
    harness.ExpectReplays();
  }
  // Below another, in a child, a plan, and a block that is cheaper than its steps.
  {
    UnitHarness harness;
    ASSERT_TRUE(harness.Priced(BudgetWith("root", CapOfSteps(300))).ok());
    ASSERT_TRUE(harness.Priced(BudgetWith("leaf", CapOfSteps(200), "root")).ok());
    EXPECT_TRUE(harness.Charges(harness.Session("leaf"), dear));
    EXPECT_EQ(supersede(harness, "leaf", "leaf-2", CapOfSteps(10)).code(),
              absl::StatusCode::kFailedPrecondition);
    EXPECT_EQ(supersede(harness, "root", "root-2", CapOfSteps(100)).code(),
              absl::StatusCode::kFailedPrecondition);
    UnitHarness planned;
    ASSERT_TRUE(planned.Priced(BudgetWith("b", CapOfSteps(300))).ok());
    ASSERT_TRUE(
        planned.Priced(CreateSession{.spec = DeclaredSession("b", "plan", {{dear, 1}})}).ok());
    EXPECT_EQ(supersede(planned, "b", "c", CapOfSteps(100)).code(),
              absl::StatusCode::kFailedPrecondition);
    UnitHarness block;
    ASSERT_TRUE(block.Priced(BudgetWith("b", CapOfSteps(300))).ok());
    EXPECT_TRUE(block.Charges(block.Session("b"), Sampled(.025, 2), 100));
    ASSERT_LT(block.UnitsOf("b"), 60);
    EXPECT_EQ(supersede(block, "b", "c", CapOfSteps(60)).code(),
              absl::StatusCode::kFailedPrecondition);
  }
  // The reference itself costs one unit wherever it stands.
  UnitHarness harness;
  ASSERT_TRUE(harness.Priced(BudgetWith("b", CapOfSteps(300))).ok());
  const SessionName session = harness.Session("b");
  EXPECT_TRUE(harness.Charges(session, Step(), 40));
  EXPECT_TRUE(harness.Charges(session, Sampled(.04, 2)));
  ASSERT_TRUE(supersede(harness, "b", "c", CapOfSteps(50)).ok());
  EXPECT_EQ(harness.UnitsOf("c"), 41);
  EXPECT_TRUE(harness.Charges(harness.Session("c"), Step(), 9));
  EXPECT_FALSE(harness.Charges({"c", "s"}, Step()));
  harness.ExpectReplays();
}

// Whoever only asks sees the whole promise, too.
TEST_F(UnitsCapTest, AnOutcomeHasTheGuaranteeOfWhatIsMade) {
  const auto outcome = harness_.Priced(BudgetWith("b", CapOfSteps(300)));
  ASSERT_TRUE(outcome.ok());
  const auto& created = std::get<BudgetOutcome>(*outcome);
  ASSERT_TRUE(created.spec.has_value());
  EXPECT_EQ(FirstDifference(*created.spec, harness_.ledger.FindBudget("b")->spec), "");
  EXPECT_EQ(std::get<UnitsCap>(created.spec->cap).guarantee.size(), 5U);
  const auto next = harness_.Priced(SupersedeBudget{
      .budget_id = "b", .successor_id = "c", .cap = CapOfSteps(400), .reason = "more"});
  ASSERT_TRUE(next.ok());
  EXPECT_EQ(
      FirstDifference(*std::get<BudgetOutcome>(*next).spec, harness_.ledger.FindBudget("c")->spec),
      "");
}

// What no cap counted has no price in units, and none is made up for it afterwards.
TEST_F(UnitsCapTest, NothingThatWasChargedWithoutAGuaranteeIsForgottenByASuccessor) {
  const auto supersede = [](UnitHarness& harness, const std::string& of, Cap cap) {
    return harness
        .Priced(SupersedeBudget{
            .budget_id = of, .successor_id = "next", .cap = std::move(cap), .reason = "r"})
        .status()
        .code();
  };
  UnitsCap steps = CapOfSteps(300);
  const Cap caps[] = {Cap(steps),
                      Cap(ApproximateDpCap{1, kDelta, ApproximateDpFilter::kResidue, 0})};
  for (const Cap& cap : caps) {
    SCOPED_TRACE(Describe(cap));
    UnitHarness charged;
    ASSERT_TRUE(charged.Priced(BudgetWith("b", NoGuaranteeCap{})).ok());
    EXPECT_TRUE(charged.Charges(charged.Session("b"), Gaussian{.1}, 10));
    EXPECT_EQ(supersede(charged, "b", cap), absl::StatusCode::kFailedPrecondition);
    UnitHarness below;
    ASSERT_TRUE(below.Priced(BudgetWith("b", NoGuaranteeCap{})).ok());
    ASSERT_TRUE(below.Priced(BudgetWith("child", NoGuaranteeCap{}, "b")).ok());
    EXPECT_TRUE(below.Charges(below.Session("child"), Gaussian{.1}, 10));
    EXPECT_EQ(supersede(below, "b", cap), absl::StatusCode::kFailedPrecondition);
    UnitHarness planned;
    ASSERT_TRUE(planned.Priced(BudgetWith("b", NoGuaranteeCap{})).ok());
    ASSERT_TRUE(planned
                    .Priced(CreateSession{
                        .spec = DeclaredSession("b", "plan", {{MechanismEvent(Gaussian{.5}), 5}})})
                    .ok());
    EXPECT_EQ(supersede(planned, "b", cap), absl::StatusCode::kFailedPrecondition);
    UnitHarness empty;
    ASSERT_TRUE(empty.Priced(BudgetWith("b", NoGuaranteeCap{})).ok());
    EXPECT_EQ(supersede(empty, "b", cap), absl::StatusCode::kOk);
    empty.ExpectReplays();
  }
  // The units of a portfolio are as dead as its other members.
  UnitHarness portfolio;
  ASSERT_TRUE(portfolio.Priced(BudgetWith("b", NoGuaranteeCap{})).ok());
  EXPECT_TRUE(portfolio.Charges(portfolio.Session("b"), accounting::NonPrivate{"x"}));
  EXPECT_EQ(
      supersede(portfolio, "b", ApproximateDpCap{1, kDelta, ApproximateDpFilter::kPortfolio, 0}),
      absl::StatusCode::kFailedPrecondition);
  // A ledger in which it was done is found.
  UnitHarness forged;
  ASSERT_TRUE(forged.Priced(BudgetWith("b", NoGuaranteeCap{})).ok());
  forged.Session("b");
  EXPECT_EQ(supersede(forged, "b", steps), absl::StatusCode::kOk);
  UnitHarness charged;
  ASSERT_TRUE(charged.Priced(BudgetWith("b", NoGuaranteeCap{})).ok());
  EXPECT_TRUE(charged.Charges(charged.Session("b"), Gaussian{.1}, 10));
  std::vector<Entry> entries = charged.entries;
  for (const Entry& entry : forged.entries) {
    if (std::holds_alternative<BudgetSuperseded>(entry.body) ||
        std::holds_alternative<ReferenceFixed>(entry.body)) {
      entries.push_back(entry);
    }
  }
  EXPECT_THAT(ProblemOf(Forged(entries, [](EntryBody&) {}), PriceCheck::kProved),
              testing::HasSubstr("without a price in units"));
}

// Where nothing stands on the units of a budget they bind nobody.
TEST_F(UnitsCapTest, ABudgetThatWasNotChargedHasAnySuccessorInUnits) {
  ASSERT_TRUE(harness_.Priced(BudgetWith("b", CapOfSteps(300, 1e-3))).ok());
  UnitsCap other = CapOfSteps(200);
  other.reference = accounting::NestedEvent(Gaussian{40});
  const std::pair<const char*, Cap> successors[] = {
      {"c", CapOfSteps(300, 1e-6)},
      {"d", CapOfSteps(20'000, 1e-5)},
      {"e", other},
      {"f", ApproximateDpCap{2, 1e-6, ApproximateDpFilter::kResidue, 0}}};
  std::string before = "b";
  for (const auto& [id, cap] : successors) {
    const auto made = harness_.Priced(
        SupersedeBudget{.budget_id = before, .successor_id = id, .cap = cap, .reason = "r"});
    ASSERT_TRUE(made.ok()) << id << ": " << made.status();
    before = id;
  }
  EXPECT_EQ(harness_.BalanceOf("f").reference()->event, MechanismEvent(Gaussian{40}));
  EXPECT_TRUE(harness_.Charges(harness_.Session("f"), Gaussian{40}, 10));
  harness_.ExpectReplays();
}

// While the reference of a successor is computed another client fixes one of the predecessor and
// charges: units of one chain are none of the other.
TEST_F(UnitsCapTest, AReferenceThatWasComputedForAnotherChainIsNotUsed) {
  harness_.Budget("b", ApproximateDpFilter::kResidue, std::nullopt);
  Command command{
      .time_micros = 1,
      .body = SupersedeBudget{
          .budget_id = "b", .successor_id = "c", .cap = CapOfSteps(300), .reason = "r"}};
  absl::StatusOr<Outcome> outcome = harness_.Run(command);
  ASSERT_TRUE(outcome.ok() && std::holds_alternative<PricesWanted>(*outcome));
  command.pricing = ComputePricing(std::get<PricesWanted>(*outcome), nullptr);
  CreateSession create{.spec = AdaptiveSession("b", "s")};
  create.expects = Step();
  ASSERT_TRUE(harness_.Priced(create).ok());
  ASSERT_TRUE(harness_.Priced(OpenAttempt{.session = {"b", "s"}}).ok());
  EXPECT_TRUE(harness_.Charges({"b", "s"}, Step(), 3));
  const accounting::Reference old = harness_.BalanceOf("b").reference()->reference;
  for (int round = 0; round < 4; ++round) {
    outcome = harness_.Run(command);
    if (!outcome.ok() || !std::holds_alternative<PricesWanted>(*outcome)) break;
    command.pricing = ComputePricing(std::get<PricesWanted>(*outcome), command.pricing.get());
  }
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  const accounting::Reference& next = harness_.BalanceOf("c").reference()->reference;
  EXPECT_EQ(next.pair.masses, old.pair.masses);
  EXPECT_EQ(next.pair.interval, old.pair.interval);
  EXPECT_GE(next.slack * static_cast<double>(old.units),
            old.slack * static_cast<double>(next.units));
  harness_.ExpectReplays();
  // A ledger in which it was used is found.
  UnitHarness other;
  ASSERT_TRUE(other.Priced(BudgetWith("c", CapOfSteps(300))).ok());
  const std::vector<Entry> forged = Forged(harness_.entries, [&](EntryBody& body) {
    if (auto* fixed = std::get_if<ReferenceFixed>(&body); fixed && fixed->budget_id == "c") {
      *fixed = EntryOf(*other.BalanceOf("c").reference(), "c", 0);
    }
    if (auto* superseded = std::get_if<BudgetSuperseded>(&body)) {
      std::get<UnitsCap>(superseded->successor.cap).guarantee = CurveOf(other, "c");
    }
  });
  EXPECT_NE(ProblemOf(forged, PriceCheck::kProved), "");
}

// A ledger in which somebody lowered a cap all the same is found.
TEST_F(UnitsCapTest, AVerifierThatProvesPricesFindsACapThatWasLowered) {
  ASSERT_TRUE(harness_.Priced(BudgetWith("b", CapOfSteps(300))).ok());
  EXPECT_TRUE(harness_.Charges(harness_.Session("b"), Sampled(.1, 2)));
  ASSERT_TRUE(
      harness_
          .Priced(SupersedeBudget{
              .budget_id = "b", .successor_id = "c", .cap = CapOfSteps(300), .reason = "the same"})
          .ok());
  ASSERT_EQ(ProblemOf(harness_.entries, PriceCheck::kProved), "");
  // As if it had been one of 100, with their curve.
  UnitHarness hundred;
  ASSERT_TRUE(hundred.Priced(BudgetWith("b", CapOfSteps(100))).ok());
  const std::vector<TradeOffCurveCap::Point> curve = CurveOf(hundred, "b");
  const std::vector<Entry> lowered = Forged(harness_.entries, [&](EntryBody& body) {
    if (auto* superseded = std::get_if<BudgetSuperseded>(&body)) {
      auto& cap = std::get<UnitsCap>(superseded->successor.cap);
      cap.count = 100;
      cap.guarantee = curve;
      superseded->filter.cells[0].cap = CostOfUnits(100);
    }
    if (auto* fixed = std::get_if<ReferenceFixed>(&body); fixed && fixed->budget_id == "c") {
      fixed->units = 100;
      fixed->slack /= 3;
    }
  });
  EXPECT_THAT(ProblemOf(lowered, PriceCheck::kProved),
              testing::HasSubstr("was priced where there were more"));
}

// Ledgers that somebody wrote whole, hashes and sums included, whose caps are not kept.
TEST_F(UnitsCapTest, AVerifierThatProvesPricesFindsWhatWasChargedWithoutThem) {
  ASSERT_TRUE(harness_.Priced(BudgetWith("b", CapOfSteps(300))).ok());
  EXPECT_TRUE(harness_.Charges(harness_.Session("b"), Sampled(.1, 2)));
  ASSERT_EQ(ProblemOf(harness_.entries, PriceCheck::kProved), "");
  // Uses that cost nothing.
  std::vector<Entry> priced;
  for (const Entry& entry : harness_.entries) {
    if (!std::holds_alternative<UnitsPriced>(entry.body)) priced.push_back(entry);
  }
  const std::vector<Entry> free = Forged(priced, [](EntryBody& body) {
    if (auto* event = std::get_if<EventPriced>(&body)) {
      event->unit_costs[0] = {Cost(), Cost()};
    }
  });
  EXPECT_THAT(ProblemOf(free, PriceCheck::kProved), testing::HasSubstr("without a price"));
  // A filter that counts nothing.
  std::vector<Entry> uncounted;
  for (const Entry& entry : harness_.entries) {
    if (std::holds_alternative<BudgetCreated>(entry.body)) uncounted.push_back(entry);
  }
  UnitHarness without;
  ASSERT_TRUE(without.Priced(BudgetWith("b", NoGuaranteeCap{})).ok());
  const CellFilter nothing = without.BalanceOf("b").filter();
  uncounted =
      Forged(uncounted, [&](EntryBody& body) { std::get<BudgetCreated>(body).filter = nothing; });
  EXPECT_THAT(ProblemOf(uncounted, PriceCheck::kProved), testing::HasSubstr("another filter"));
  // Other neighbors after a supersession.
  UnitHarness next;
  ASSERT_TRUE(next.Priced(BudgetWith("b", CapOfSteps(300))).ok());
  ASSERT_TRUE(
      next.Priced(SupersedeBudget{
                      .budget_id = "b", .successor_id = "c", .cap = CapOfSteps(400), .reason = "r"})
          .ok());
  const std::vector<Entry> turned = Forged(next.entries, [](EntryBody& body) {
    if (auto* superseded = std::get_if<BudgetSuperseded>(&body)) {
      superseded->successor.relation = accounting::NeighboringRelation::kReplaceOne;
    }
  });
  EXPECT_THAT(ProblemOf(turned, PriceCheck::kProved), testing::HasSubstr("other neighbors"));
}

// Units cannot be given afterwards for what was paid in another currency.
TEST_F(UnitsCapTest, WhatWasPaidOtherwiseHasNoSuccessorInUnits) {
  ASSERT_TRUE(harness_
                  .Priced(BudgetWith(
                      "b", ApproximateDpCap{2, kDelta, ApproximateDpFilter::kRenyiOrders, 0}))
                  .ok());
  const auto supersede = [&](const std::string& of, const std::string& by, Cap cap) {
    return harness_
        .Priced(SupersedeBudget{
            .budget_id = of, .successor_id = by, .cap = std::move(cap), .reason = "more"})
        .status();
  };
  UnitsCap unnamed = CapOfSteps(300);
  unnamed.reference = accounting::NestedEvent();
  EXPECT_EQ(supersede("b", "c", unnamed).code(), absl::StatusCode::kInvalidArgument);
  ASSERT_TRUE(supersede("b", "c", CapOfSteps(300)).ok()) << "while nothing is charged";
  EXPECT_TRUE(harness_.Charges(harness_.Session("c"), Step()));

  UnitHarness charged;
  ASSERT_TRUE(charged
                  .Priced(BudgetWith(
                      "b", ApproximateDpCap{2, kDelta, ApproximateDpFilter::kRenyiOrders, 0}))
                  .ok());
  EXPECT_TRUE(charged.Charges(charged.Session("b"), Step()));
  const absl::Status late =
      charged
          .Priced(SupersedeBudget{
              .budget_id = "b", .successor_id = "c", .cap = CapOfSteps(300), .reason = "more"})
          .status();
  EXPECT_EQ(late.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(late.message()), testing::HasSubstr("cannot be given one afterwards"));
}

TEST_F(UnitsCapTest, ACapInUnitsIsTheSameOnlyWithTheSameNumbers) {
  ASSERT_TRUE(harness_.Priced(BudgetWith("b", CapOfSteps(300))).ok());
  const size_t entries = harness_.entries.size();
  EXPECT_FALSE(std::get<BudgetOutcome>(*harness_.Priced(BudgetWith("b", CapOfSteps(300)))).created);
  for (const UnitsCap& other : {CapOfSteps(301), CapOfSteps(300, 1e-6),
                                UnitsCap{.reference = accounting::NestedEvent(Sampled(.05, 2.5)),
                                .count = 300,
                                .delta = kDelta}}) {
    EXPECT_EQ(harness_.Priced(BudgetWith("b", other)).status().code(),
              absl::StatusCode::kAlreadyExists);
  }
  EXPECT_EQ(harness_.entries.size(), entries);
}

TEST_F(UnitsCapTest, ACapInUnitsThatIsNoneIsAnErrorThatNamesTheField) {
  const auto status = [&](UnitsCap cap) {
    return harness_.Priced(BudgetWith("x", std::move(cap))).status();
  };
  const auto of = [](MechanismEvent event, int64_t count) {
    return UnitsCap{
        .reference = accounting::NestedEvent(std::move(event)), .count = count, .delta = kDelta};
  };
  struct Row {
    UnitsCap cap;
    const char* message;
  };
  for (const Row& row :
       {Row{CapOfSteps(0), "budget.cap.units.count: got 0, want in [1, 1099511627776]"},
        Row{CapOfSteps(-5), "budget.cap.units.count: got -5"},
        Row{CapOfSteps(int64_t{1} << 41), "budget.cap.units.count: got 2199023255552"},
        Row{CapOfSteps(5, 0), "budget.cap.units.delta: got 0, want in (0, 1)"},
        Row{CapOfSteps(5, 1), "budget.cap.units.delta: got 1, want in (0, 1)"},
        Row{CapOfSteps(5, std::nan("")), "budget.cap.units.delta: got NaN"},
        Row{of(accounting::NonPrivate{"x"}, 5), "budget.cap.units.reference: got "},
        Row{of(accounting::RandomizedResponse{.5, 4}, 5), "budget.cap.units.reference: got "},
        Row{of(Gaussian{.01}, 5), "budget.cap.units.reference: got "},
        Row{of(Gaussian{1}, 100'000),
            "100000 uses of it have no proved epsilon up to 100 at delta 1e-05"}}) {
    const absl::Status refused = status(row.cap);
    EXPECT_FALSE(refused.ok()) << row.message;
    EXPECT_THAT(std::string(refused.message()), testing::HasSubstr(row.message));
  }
  EXPECT_TRUE(harness_.entries.empty());
}

// Events of every kind of law: infinite losses, atoms, one unit, and deltas at both ends.
TEST_F(UnitsCapTest, EveryCurveIsProvedAgain) {
  const auto of = [](MechanismEvent event, int64_t count, double delta) {
    return UnitsCap{
        .reference = accounting::NestedEvent(std::move(event)), .count = count, .delta = delta};
  };
  int number = 0;
  for (const UnitsCap& cap :
       {of(Gaussian{30}, 100, 1e-9), of(Laplace{10}, 20, 1e-5), of(accounting::PureDp{1}, 1, 1e-5),
        of(accounting::PureDp{.1}, 10, 1e-7), of(accounting::ApproximateDp{.1, 1e-8}, 5, 1e-6),
        of(Sampled(.001, .7), 10'000, 1e-6), of(Sampled(.01, 1.1), 1, 1e-5),
        of(Gaussian{5}, 1, .25), of(Gaussian{30}, 100, 1e-13)}) {
    UnitHarness harness;
    const absl::StatusOr<Outcome> made = harness.Priced(BudgetWith("b", cap));
    ASSERT_TRUE(made.ok()) << number << made.status();
    EXPECT_EQ(ProblemOf(harness.entries, PriceCheck::kProved), "") << number;
    EXPECT_LE(CurveOf(harness, "b").size(), 12U);
    EXPECT_EQ(CurveOf(harness, "b").back().delta, cap.delta);
    ExpectWithinCurve(CurveOf(harness, "b"), {{*cap.reference, cap.count}}, 0);
    ++number;
  }
}

TEST_F(UnitsCapTest, AVerifierThatProvesPricesFindsACurveThatPromisesTooMuch) {
  ASSERT_TRUE(harness_.Priced(BudgetWith("b", CapOfSteps(300))).ok());
  ASSERT_EQ(ProblemOf(harness_.entries, PriceCheck::kProved), "");
  const auto forged = [&](auto change) {
    const std::vector<Entry> entries = Forged(harness_.entries, [&](EntryBody& body) {
      if (auto* budget = std::get_if<BudgetCreated>(&body)) {
        change(std::get<UnitsCap>(budget->spec.cap));
      }
    });
    EXPECT_EQ(ProblemOf(entries, PriceCheck::kStored), "");
    return ProblemOf(entries, PriceCheck::kProved);
  };
  const auto not_proved = testing::HasSubstr("are not proved to fit the cap");
  EXPECT_THAT(forged([](UnitsCap& cap) { cap.guarantee[4].epsilon *= .98; }), not_proved);
  EXPECT_THAT(forged([](UnitsCap& cap) { cap.guarantee[0].delta = 1e-3; }), not_proved);
  EXPECT_THAT(forged([](UnitsCap& cap) { cap.guarantee.clear(); }), not_proved);
  EXPECT_THAT(forged([](UnitsCap& cap) { cap.count = 299; }), not_proved);
  EXPECT_THAT(
      forged([](UnitsCap& cap) { cap.reference = accounting::NestedEvent(Sampled(.05, 1.9)); }),
      not_proved);
}

}  // namespace
}  // namespace epsledger::core
