// Exactly the cap fits: decimals that add up to a cap on paper are accepted, and what is accepted
// never adds up to more than the cap that is said to be kept.

#include <cmath>
#include <string>
#include <vector>

#include <rapidcheck/gtest.h>
#include "gtest/gtest.h"

#include "accounting/filter/filter.h"
#include "server/core/cap.h"
#include "tests/server/core/ledger_harness.h"

namespace epsledger::core {
namespace {

using accounting::ApproximateDp;
using accounting::ApproximateDpFilter;
using accounting::FilterRule;
using accounting::Gaussian;
using accounting::GaussianDp;
using accounting::Laplace;
using accounting::MechanismEvent;
using accounting::PureDp;
using accounting::RenyiCurve;
using accounting::Zcdp;

// One budget with one session.
class OneBudget {
 public:
  explicit OneBudget(Cap cap) {
    EXPECT_TRUE(
        harness_
            .Run(CreateBudget{.spec = {.id = "b", .cap = std::move(cap), .privacy_unit = "person"}})
            .ok());
    EXPECT_TRUE(harness_.Run(CreateSession{.spec = AdaptiveSession("b", "s")}).ok());
    EXPECT_TRUE(harness_.Run(OpenAttempt{.session = {"b", "s"}}).ok());
  }

  bool Charges(const MechanismEvent& event, int64_t count = 1) {
    return harness_.Decide({"b", "s"}, 1, "c" + std::to_string(++charges_), event, count)
               .row.decision == ChargeDecision::kAccepted;
  }
  const Balance& balance() const { return harness_.ledger.FindBudget("b")->balance; }

 private:
  LedgerHarness harness_;
  int charges_ = 0;
};

TEST(CapTolerance, OneEventThatCostsTheCapFits) {
  const std::vector<std::pair<Cap, MechanismEvent>> cases = {
      {PureEpsilonCap{1}, Laplace{1}},
      {PureEpsilonCap{0.1}, PureDp{0.1}},
      {PureEpsilonCap{1.0 / 3}, Laplace{3}},
      {ApproximateDpCap{0.7, 1e-5, ApproximateDpFilter::kBasic}, ApproximateDp{0.7, 1e-5}},
      {ApproximateDpCap{0.7, 1e-12, ApproximateDpFilter::kBasic}, ApproximateDp{0.7, 1e-12}},
      {ZcdpCap{0.3}, Zcdp{0.3}},
      {ZcdpCap{0.02}, Gaussian{5}},
      {GaussianDpCap{0.1}, Gaussian{10}},
      {RenyiCap{2, 0.1}, RenyiCurve{.orders = {2}, .divergences = {0.1}}},
  };
  for (const auto& [cap, event] : cases) {
    OneBudget budget(cap);
    EXPECT_TRUE(budget.Charges(event)) << Describe(cap);
    EXPECT_EQ(budget.balance().SpentFraction(), 1) << Describe(cap);
    EXPECT_FALSE(budget.Charges(event)) << Describe(cap);
  }
}

TEST(CapTolerance, DecimalsThatAddUpToTheCapFit) {
  OneBudget tenths(PureEpsilonCap{1});
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(tenths.Charges(PureDp{0.1})) << i;
  EXPECT_FALSE(tenths.Charges(PureDp{1e-6}));

  OneBudget thousandths(PureEpsilonCap{1});
  EXPECT_TRUE(thousandths.Charges(PureDp{0.001}, 1000));
  EXPECT_FALSE(thousandths.Charges(PureDp{0.001}));

  OneBudget both(ApproximateDpCap{1, 1e-5, ApproximateDpFilter::kBasic});
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(both.Charges(ApproximateDp{0.1, 1e-6})) << i;
  EXPECT_FALSE(both.Charges(ApproximateDp{0, 1e-9}));

  OneBudget gaussians(GaussianDpCap{1});
  EXPECT_TRUE(gaussians.Charges(Gaussian{10}, 100));
  EXPECT_FALSE(gaussians.Charges(Gaussian{1000}));

  OneBudget rhos(ZcdpCap{0.3});
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(rhos.Charges(Zcdp{0.1})) << i;
  EXPECT_FALSE(rhos.Charges(Zcdp{1e-6}));
}

// A cap whose numbers nobody wrote down needs no tolerance and has none.
TEST(CapTolerance, DerivedCapsAndOldOnesAreKeptToTheUnit) {
  for (const ApproximateDpFilter filter :
       {ApproximateDpFilter::kRenyiOrders, ApproximateDpFilter::kAdvanced,
        ApproximateDpFilter::kZcdp, ApproximateDpFilter::kResidue,
        ApproximateDpFilter::kPortfolio}) {
    const auto made = FilterFor(ApproximateDpCap{1, 1e-5, filter}, "cap");
    ASSERT_TRUE(made.ok());
    EXPECT_NE(made->rule, FilterRule::kAllCellsWithTolerance);
  }
  // As ledgers of 0.1 hold it.
  CellFilter filter = CellFilter::From(*FilterFor(PureEpsilonCap{1}, "cap"));
  filter.rule = FilterRule::kAllCells;
  EXPECT_TRUE(Balance(filter).Fits({filter.cells[0].cap, Cost()}));
  EXPECT_FALSE(Balance(filter).Fits({filter.cells[0].cap + Cost::FromUnits(1), Cost()}));
}

TEST(CapTolerance, ACapOfZeroAndTheLargestCapHaveNone) {
  const CellFilter pure = CellFilter::From(*FilterFor(PureEpsilonCap{1}, "cap"));
  EXPECT_FALSE(Balance(pure).Fits({Cost(), Cost::FromUnits(1)}));
  CellFilter largest = pure;
  largest.cells[0].cap = Cost::RoundDown(std::numeric_limits<double>::infinity());
  EXPECT_FALSE(Balance(largest).Fits({Cost::Infinite(), Cost()}));
  EXPECT_TRUE(Balance(largest).Fits({largest.cells[0].cap, Cost()}));
}

TEST(KeptCap, IsTheCapWithTheTolerance) {
  const auto kept = [](const Cap& cap) { return KeptCap(cap, FilterRule::kAllCellsWithTolerance); };
  EXPECT_EQ(Describe(KeptCap(PureEpsilonCap{1}, FilterRule::kAllCells)), "1-DP");
  const double epsilon = std::get<PureEpsilonCap>(kept(PureEpsilonCap{1})).epsilon;
  EXPECT_GE(epsilon, 1 + 0x1p-32);
  EXPECT_LE(epsilon, 1 + 0x1.0001p-32);
  // mu^2 has the tolerance: mu has half of it.
  const double mu = std::get<GaussianDpCap>(kept(GaussianDpCap{1})).mu;
  EXPECT_GE(mu, 1 + 0x0.ffffffp-33);
  EXPECT_LE(mu, 1 + 0x1.0001p-33);
}

// I1 against the number that is said to be kept: whatever is accepted, in the exact sum of the
// doubles that were charged.
RC_GTEST_PROP(CapTolerance, NoSumIsBeyondWhatIsKept, ()) {
  const double cap = *rc::gen::element(1.0, 0.3, 1e-3, 7.7);
  OneBudget budget(PureEpsilonCap{cap});
  const double kept =
      std::get<PureEpsilonCap>(KeptCap(PureEpsilonCap{cap}, budget.balance().filter().rule))
          .epsilon;
  long double sum = 0;
  for (int i = 0; i < 40; ++i) {
    const int parts = *rc::gen::inRange(1, 50);
    const double epsilon = cap / parts;
    if (budget.Charges(PureDp{epsilon})) sum += epsilon;
  }
  // To the brim.
  for (double epsilon = cap; epsilon > 0x1p-60; epsilon /= 2) {
    if (budget.Charges(PureDp{epsilon})) sum += epsilon;
  }
  RC_ASSERT(sum <= static_cast<long double>(kept));
  RC_ASSERT(sum >= static_cast<long double>(cap) * (1 - 1e-15L));
}

// A cap cut into equal decimals is the cap.
RC_GTEST_PROP(CapTolerance, AnyNumberOfEqualPartsFits, ()) {
  const int parts = *rc::gen::inRange(1, 2000);
  OneBudget budget(PureEpsilonCap{1});
  RC_ASSERT(budget.Charges(PureDp{1.0 / parts}, parts));
  RC_ASSERT(!budget.Charges(PureDp{1.0 / parts}));
}

}  // namespace
}  // namespace epsledger::core
