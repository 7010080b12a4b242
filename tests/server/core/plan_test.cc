// What a plan charges to its ancestors is never below its true cost in their currency.

#include "server/core/plan.h"

#include <rapidcheck/gtest.h>
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <cmath>
#include <memory>
#include <random>
#include <vector>

#include "accounting/question.h"
#include "tests/server/core/ledger_harness.h"

namespace epsledger::core {
namespace {

using accounting::CellQuantity;
using accounting::Gaussian;
using accounting::MechanismEvent;
using accounting::NeighboringRelation;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

// How far the mean moves, in noise multipliers of 1: replacing a record moves it by two.
double Shift(NeighboringRelation relation) {
  return relation == NeighboringRelation::kReplaceOne ? 2 : 1;
}

struct GaussianPlan {
  SessionSpec spec;
  long double mu_squared = 0;  // of the whole plan, in long double
};

GaussianPlan AnyPlan(uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> log_noise(-1, 4);
  GaussianPlan plan;
  plan.spec = DeclaredSession("b", "s", {});
  plan.spec.relation =
      seed % 2 == 0 ? NeighboringRelation::kAddOrRemoveOne : NeighboringRelation::kReplaceOne;
  const int events = 1 + static_cast<int>(random() % 4);
  for (int i = 0; i < events; ++i) {
    const double noise = std::exp(log_noise(random));
    const int64_t count = 1 + static_cast<int64_t>(random() % 1000);
    plan.spec.plan.push_back({MechanismEvent(Gaussian{noise}), count});
    const long double mu = static_cast<long double>(Shift(plan.spec.relation)) / noise;
    plan.mu_squared += static_cast<long double>(count) * mu * mu;
  }
  return plan;
}

std::vector<Cost> CostsOf(const SessionSpec& spec, PlanComposition& plan, double epsilon,
                          const Cap& cap, const CellFilter& filter) {
  PricesWanted wanted;
  PlanCosts(spec, plan, epsilon, cap, filter, /*is_crossed=*/false, nullptr, &wanted);
  const auto pricing = ComputePricing(wanted, nullptr);
  PricesWanted more;
  std::vector<Cost> costs =
      PlanCosts(spec, plan, epsilon, cap, filter, /*is_crossed=*/false, pricing.get(), &more);
  EXPECT_TRUE(more.empty());
  return costs;
}

Cost CostUnder(const GaussianPlan& plan, const Cap& cap, size_t cell) {
  const CellFilter filter = CellFilter::From(*FilterFor(cap, "cap"));
  PlanComposition composition(plan.spec);
  const absl::StatusOr<accounting::Guarantee> composed = composition.At(plan.spec.plan_delta);
  RC_ASSERT(composed.ok());
  return CostsOf(plan.spec, composition, *composed->upper, cap, filter).at(cell);
}

// A long double amount in units of 2^-64, rounded down: a floor under what must be charged.
Cost Floor(long double x) {
  return Cost::FromUnits(static_cast<Cost::Units>(std::floor(std::ldexp(x, 64))));
}

RC_GTEST_PROP(PlanCosts, OfGaussiansCoverTheirRho, (uint64_t seed)) {
  const GaussianPlan plan = AnyPlan(seed);
  RC_ASSERT(CostUnder(plan, ZcdpCap{1}, 0) >= Floor(plan.mu_squared / 2 * (1 - 1e-18L)));
}

RC_GTEST_PROP(PlanCosts, OfGaussiansCoverTheirSquaredMu, (uint64_t seed)) {
  const GaussianPlan plan = AnyPlan(seed);
  RC_ASSERT(CostUnder(plan, GaussianDpCap{1}, 0) >= Floor(plan.mu_squared * (1 - 1e-18L)));
}

RC_GTEST_PROP(PlanCosts, OfGaussiansCoverTheirRenyiDivergence, (uint64_t seed)) {
  const GaussianPlan plan = AnyPlan(seed);
  for (const double order : {1.5, 2.0, 8.0, 320.0}) {
    const long double divergence = order * plan.mu_squared / 2;
    RC_ASSERT(CostUnder(plan, RenyiCap{order, 1}, 0) >= Floor(divergence * (1 - 1e-18L)));
  }
}

RC_GTEST_PROP(PlanCosts, OfGaussiansCoverTheirEpsilonAndDelta, (uint64_t seed)) {
  const GaussianPlan plan = AnyPlan(seed);
  const ApproximateDpCap cap{
      .epsilon = 1, .delta = 1e-4, .filter = accounting::ApproximateDpFilter::kBasic};
  // [BW18] Thm 8 in long double: delta of a mu-GDP mechanism at the epsilon that was charged.
  const long double epsilon = CostUnder(plan, cap, 0).ToDoubleDown();
  const long double mu = std::sqrt(plan.mu_squared);
  const auto phi = [](long double x) { return std::erfc(-x / std::sqrt(2.0L)) / 2; };
  const long double delta =
      phi(mu / 2 - epsilon / mu) - std::exp(epsilon) * phi(-mu / 2 - epsilon / mu);
  if (epsilon < 700) RC_ASSERT(delta <= plan.spec.plan_delta * (1 + 1e-9L));
  RC_ASSERT(CostUnder(plan, cap, 1) >= Floor(plan.spec.plan_delta));
}

TEST(PlanCostsTest, AreInfiniteWhereTheCurrencyDoesNotKnowTheEvent) {
  SessionSpec spec =
      DeclaredSession("b", "s",
                      {{MechanismEvent(accounting::PoissonSampled{
                            .sampling_probability = 0.01, .event = MechanismEvent(Gaussian{1})}),
                        100}});
  for (const Cap& cap : {Cap(GaussianDpCap{1}), Cap(PureEpsilonCap{1})}) {
    PlanComposition composition(spec);
    const CellFilter filter = CellFilter::From(*FilterFor(cap, "cap"));
    EXPECT_TRUE(CostsOf(spec, composition, 1, cap, filter)[0].is_infinite());
  }
}

TEST(PlanCostsTest, ATradeOffCurveHoldsOnePlanThatMeetsEveryPoint) {
  LedgerHarness harness;
  BudgetSpec spec = PureBudget("b", 1);
  spec.cap = TradeOffCurveCap{.points = {{0.5, 0.2}, {3, 1e-5}}};
  ASSERT_TRUE(harness.Run(CreateBudget{spec}).ok());
  const auto create = [&](const std::string& id, double noise) {
    absl::StatusOr<Outcome> outcome = harness.Run(
        CreateSession{DeclaredSession("b", id, {{MechanismEvent(Gaussian{noise}), 1}})});
    return std::get<SessionOutcome>(*outcome).refusal;
  };
  // 1-GDP has delta(0.5) = 0.2384 ([BW18] Thm 8): beyond the first point.
  ASSERT_TRUE(create("loud", 1).has_value());
  EXPECT_EQ(create("loud", 1)->reason, RefusalReason::kEventNotChargeable);
  // mu = 1/1.5: delta(0.5) = 0.1214, and epsilon(1e-5) = 2.76.
  EXPECT_FALSE(create("quiet", 1.5).has_value());
  EXPECT_EQ(create("second", 100)->reason, RefusalReason::kBudgetExhausted);
  EXPECT_EQ(harness.Run(CreateSession{AdaptiveSession("b", "adaptive")}).status().code(),
            absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(harness.Run(CreateBudget{PureBudget("child", 1, "b")}).status().code(),
            absl::StatusCode::kFailedPrecondition);
}

// Under a curve, with a curve of its own: deciding asks for nothing that was not composed
// beforehand, and decides the same, whether the plan fits or not.
TEST(PlanCompositionTest, DoneBeforehandLeavesNothingToTheDecision) {
  LedgerHarness prepared;
  LedgerHarness unprepared;
  BudgetSpec root = PureBudget("b", 1);
  root.cap = TradeOffCurveCap{.points = {{0.5, 0.2}, {3, 1e-5}, {9, 1e-9}}};
  ASSERT_TRUE(prepared.Run(CreateBudget{root}).ok());
  ASSERT_TRUE(unprepared.Run(CreateBudget{root}).ok());
  for (const double noise : {1.0, 1.5}) {
    SessionSpec spec =
        DeclaredSession("b", noise == 1 ? "loud" : "quiet", {{MechanismEvent(Gaussian{noise}), 1}});
    spec.own_cap = TradeOffCurveCap{.points = {{4, 1e-4}, {20, 1e-7}}};
    const std::vector<double> deltas = prepared.ledger.PlanDeltas(spec);
    EXPECT_THAT(deltas, ElementsAre(1e-6, 1e-4, 1e-7, 0.2, 1e-5, 1e-9));
    const auto composition = std::make_shared<PlanComposition>(spec);
    for (const double delta : deltas) ASSERT_TRUE(composition->At(delta).ok());
    ASSERT_TRUE(prepared.Run(CreateSession{spec, composition}).ok());
    EXPECT_EQ(composition->asked_count(), deltas.size());
    ASSERT_TRUE(unprepared.Run(CreateSession{spec}).ok());
  }
  EXPECT_EQ(prepared.ledger.session_count(), 1);  // the loud one is refused
  EXPECT_TRUE(prepared.ledger.head() == unprepared.ledger.head());
  // Nothing is asked about a session that is there.
  EXPECT_THAT(prepared.ledger.PlanDeltas(DeclaredSession("b", "quiet", {})), IsEmpty());
  EXPECT_THAT(prepared.ledger.PlanDeltas(AdaptiveSession("b", "adaptive")), IsEmpty());
  EXPECT_THAT(prepared.ledger.PlanDeltas(DeclaredSession("elsewhere", "s", {})), IsEmpty());
}

}  // namespace
}  // namespace epsledger::core
