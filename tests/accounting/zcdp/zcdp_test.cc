#include "accounting/zcdp/zcdp.h"

#include <cmath>
#include <limits>

#include "gtest/gtest.h"
#include "tests/accounting/zcdp/conversion_rows.h"

namespace epsledger::accounting {
namespace {

double Rho(const MechanismEvent& event, const Setting& setting = {}) {
  return ZcdpOf(event, setting)->rho;
}

TEST(EpsilonFromZcdp, AgreesWithTheTable) {
  for (const auto& row : kZcdpRows) {
    const double epsilon = EpsilonFromZcdp({.rho = row.rho}, std::log(row.delta)).value;
    EXPECT_GE(epsilon, row.epsilon * (1 - 1e-12)) << row.rho << " " << row.delta;
    EXPECT_LE(epsilon, row.epsilon * (1 + 1e-8)) << row.rho << " " << row.delta;
    // [BS16] Prop 1.3, which it improves on.
    EXPECT_LT(epsilon, row.rho + 2 * std::sqrt(-row.rho * std::log(row.delta)));
  }
}

TEST(LogDeltaFromZcdp, AgreesWithTheTable) {
  // The best real order at rho and epsilon, with mpmath at more than 50 digits.
  EXPECT_NEAR(LogDeltaFromZcdp({.rho = 0.1}, 4).value, -42.026804075188148686, 1e-6);
  EXPECT_NEAR(LogDeltaFromZcdp({.rho = 1}, 4).value, -3.9905966547264853705, 1e-6);
}

TEST(ZcdpOf, KnowsTheEventsItNames) {
  EXPECT_NEAR(Rho(Gaussian{2}), 1.0 / 8, 1e-15);
  EXPECT_NEAR(Rho(Gaussian{2}, {.relation = NeighboringRelation::kReplaceOne}), 0.5, 1e-15);
  EXPECT_NEAR(Rho(PureDp{1}), 0.5, 1e-15);
  EXPECT_NEAR(Rho(ExponentialMechanism{1}), 1.0 / 8, 1e-15);
  EXPECT_NEAR(Rho(DiscreteGaussian{4, 2}), 1.0 / 8, 1e-15);
  EXPECT_NEAR(Rho(TreeAggregation{1, 7}), 1.5, 1e-14);
  // No amplification by sampling, and no harm.
  EXPECT_NEAR(Rho(PoissonSampled{0.01, MechanismEvent(Gaussian{2})}), 1.0 / 8, 1e-15);
  EXPECT_TRUE(absl::IsUnimplemented(ZcdpOf(RenyiCurve{{2}, {1}}, {}).status()));
  EXPECT_TRUE(absl::IsUnimplemented(ZcdpOf(RandomizedResponse{0.5, 2}, {}).status()));
}

TEST(LargestRho, IsTheEdgeFromTheSafeSide) {
  for (const double epsilon : {0.01, 0.5, 3.0, 40.0}) {
    for (const double log_delta : {-5.0, -20.0, -300.0}) {
      const double rho = LargestRho(epsilon, log_delta);
      EXPECT_LE(EpsilonFromZcdp({.rho = rho}, log_delta).value, epsilon);
      EXPECT_GT(EpsilonFromZcdp({.rho = rho * (1 + 1e-6)}, log_delta).value, epsilon);
    }
  }
}

}  // namespace
}  // namespace epsledger::accounting
