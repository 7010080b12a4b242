#include <cmath>

#include "accounting/renyi/divergences.h"
#include "accounting/renyi/group.h"
#include "accounting/zcdp/zcdp.h"
#include "gtest/gtest.h"

namespace epsledger::accounting {
namespace {

ZcdpParameters Compose(const MechanismEvent& event, int64_t group_size,
                       Setting setting = Setting{}) {
  return *ComposeZcdp({{&event, 10}}, setting, group_size);
}

TEST(ComposeZcdp, GroupsCostTheSquareOfTheirSize) {
  for (const MechanismEvent& event :
       {MechanismEvent(Gaussian{3}), MechanismEvent(Zcdp{.02, 0}), MechanismEvent(PureDp{.3}),
        MechanismEvent(ExponentialMechanism{.3}), MechanismEvent(DiscreteGaussian{5, 2})}) {
    const double one = Compose(event, 1).rho;
    EXPECT_NEAR(Compose(event, 4).rho / (16 * one), 1, 1e-12) << Describe(event);
  }
}

// xi grows by k H_k: the curve of the group lies on or below the line.
TEST(ComposeZcdp, GroupsCostTheirHarmonicNumberInXi) {
  const MechanismEvent event = Zcdp{.02, .3};
  const ZcdpParameters five = Compose(event, 5);
  EXPECT_NEAR(five.xi, 10 * .3 * 5 * (137. / 60), 1e-9);
  for (const double order : {1.0001, 2.0, 30.0}) {
    const double curve = 10 * GroupRenyi([](double a) { return .3 + .02 * a; }, order, 5);
    EXPECT_LE(curve, (five.xi + five.rho * order) * (1 + 1e-12)) << order;
  }
}

// (epsilon, delta) for two: (2 epsilon, delta (1 + e^epsilon)).
TEST(ComposeZcdp, GroupsOfApproximateEventsHaveTheGroupsPair) {
  const ZcdpParameters two = Compose(ApproximateDp{.5, 1e-8}, 2);
  EXPECT_NEAR(two.rho, 10 * .5, 1e-12);
  EXPECT_NEAR(two.delta / (10 * 1e-8 * (1 + std::exp(.5))), 1, 1e-12);
  const MechanismEvent sampled =
      PoissonSampled{.1, NestedEvent(MechanismEvent(ApproximateDp{.5, 1e-8}))};
  EXPECT_EQ(ComposeZcdp({{&sampled, 1}}, Setting{}, 2).status().code(),
            absl::StatusCode::kUnimplemented);
}

// Sampling cannot hurt, and that is all that zCDP knows of it.
TEST(ComposeZcdp, SampledEventsCostWhatIsInside) {
  const NestedEvent gaussian{MechanismEvent(Gaussian{2})};
  const double one = 10 * .125;
  EXPECT_NEAR(Compose(RandomAllocation{100, 3, gaussian}, 1).rho, 3 * one, 1e-12);
  EXPECT_NEAR(Compose(BandedMatrixFactorization{2, 4, 9, .1}, 1).rho, 3 * one, 1e-12);
  Setting replace_one;
  replace_one.relation = NeighboringRelation::kReplaceOne;
  EXPECT_NEAR(Compose(SampledWithoutReplacement{100, 3, gaussian}, 1, replace_one).rho, 4 * one,
              1e-12);
  const MechanismEvent subset = SampledWithoutReplacement{100, 3, gaussian};
  EXPECT_EQ(ComposeZcdp({{&subset, 1}}, Setting{}).status().code(),
            absl::StatusCode::kUnimplemented);
  const MechanismEvent crowded = BandedMatrixFactorization{2, 4, 9, .3};
  EXPECT_EQ(ComposeZcdp({{&crowded, 1}}, Setting{}).status().code(),
            absl::StatusCode::kUnimplemented);
}

}  // namespace
}  // namespace epsledger::accounting
