#include "accounting/renyi/divergences.h"

#include <cmath>

#include "accounting/renyi/closed_form.h"
#include "accounting/renyi/sampled_gaussian.h"
#include "gtest/gtest.h"

namespace epsledger::accounting {
namespace {

constexpr double kDivergenceOrders[] = {1.2, 2.0, 3.7, 8.0, 33.0};

RenyiDivergences Profile(const MechanismEvent& event, double count = 1, Setting setting = Setting{},
                         int64_t group_size = 1) {
  return *RenyiDivergences::Create({{&event, count}}, setting, Accountant::kRenyi, group_size);
}

absl::StatusCode Code(const MechanismEvent& event, Setting setting = Setting{},
                      int64_t group_size = 1) {
  return RenyiDivergences::Create({{&event, 1}}, setting, Accountant::kRenyi, group_size)
      .status()
      .code();
}

Setting Relation(NeighboringRelation relation) {
  Setting setting;
  setting.relation = relation;
  return setting;
}

MechanismEvent SampledEvent(double q, MechanismEvent event) {
  return PoissonSampled{q, NestedEvent(std::move(event))};
}

TEST(RenyiDivergences, EveryEventItKnowsComposesByCounting) {
  const NestedEvent gaussian{MechanismEvent(Gaussian{2})};
  const NestedEvent laplace{MechanismEvent(Laplace{2})};
  const MechanismEvent events[] = {
      SampledEvent(.1, Laplace{1}),
      SampledEvent(.1, PureDp{.4}),
      SampledEvent(.1, ApproximateDp{.4, 1e-9}),
      SampledEvent(.1, Composed{{CountedEvent{laplace}, CountedEvent{gaussian}}}),
      SampledEvent(.1, DiscreteGaussian{3, 1}),
      RandomAllocation{20, 3, gaussian},
      RepeatAndSelect{laplace, 5, 1},
      BandedMatrixFactorization{2, 4, 100, .05},
  };
  for (const MechanismEvent& event : events) {
    for (const double order : kDivergenceOrders) {
      const double one = Profile(event).Divergence(order);
      EXPECT_GT(one, 0) << Describe(event);
      EXPECT_NEAR(Profile(event, 100).Divergence(order) / (100 * one), 1, 1e-12) << Describe(event);
    }
    EXPECT_NEAR(Profile(event, 100).delta_sum(), 100 * Profile(event).delta_sum(), 1e-15);
  }
}

TEST(RenyiDivergences, SamplingNeverCosts) {
  const MechanismEvent inner[] = {Laplace{1}, PureDp{2}, Zcdp{.1, .01}, ExponentialMechanism{1},
                                  RenyiCurve{{2, 8, 40}, {.1, .5, 3}}};
  for (const MechanismEvent& event : inner) {
    for (const auto relation :
         {NeighboringRelation::kAddOrRemoveOne, NeighboringRelation::kReplaceOne,
          NeighboringRelation::kReplaceSpecial}) {
      for (const double order : kDivergenceOrders) {
        const double whole = Profile(event, 1, Relation(relation)).Divergence(order);
        const double rare =
            Profile(SampledEvent(.001, event), 1, Relation(relation)).Divergence(order);
        const double often =
            Profile(SampledEvent(.9, event), 1, Relation(relation)).Divergence(order);
        EXPECT_LE(often, whole * (1 + 1e-12)) << Describe(event) << order;
        EXPECT_LE(rare, often * (1 + 1e-12)) << Describe(event) << order;
        if (relation == NeighboringRelation::kAddOrRemoveOne && order == 2) {
          EXPECT_LT(rare, 1e-4 * whole) << Describe(event);
        }
      }
    }
  }
}

TEST(RenyiDivergences, BothDirectionsAreTheLargerOne) {
  const MechanismEvent events[] = {
      SampledEvent(.2, Laplace{1}), SampledEvent(.2, PureDp{1}), SampledEvent(.2, Zcdp{.1, 0}),
      RandomAllocation{5, 1, NestedEvent(MechanismEvent(Gaussian{1}))}};
  Setting remove;
  remove.adjacency = Adjacency::kRemove;
  Setting add;
  add.adjacency = Adjacency::kAdd;
  for (const MechanismEvent& event : events) {
    for (const double order : kDivergenceOrders) {
      const double both = Profile(event).Divergence(order);
      EXPECT_GE(both, Profile(event, 1, remove).Divergence(order));
      EXPECT_GE(both, Profile(event, 1, add).Divergence(order));
    }
  }
}

// A sampled (epsilon, delta)-DP event is (log(1 + q (e^epsilon - 1)), q delta)-DP.
TEST(RenyiDivergences, SamplingAmplifiesADelta) {
  EXPECT_NEAR(Profile(SampledEvent(.01, ApproximateDp{1, 1e-6}), 10).delta_sum(), 1e-7, 1e-20);
}

TEST(RenyiDivergences, GroupsOfAdditiveNoiseMoveFurther) {
  const double k = 3;
  for (const double order : kDivergenceOrders) {
    EXPECT_NEAR(Profile(Gaussian{2}, 1, {}, 3).Divergence(order), GaussianRenyi(order, k / 2),
                1e-12);
    EXPECT_NEAR(Profile(Laplace{2}, 1, {}, 3).Divergence(order), LaplaceRenyi(order, 2, k), 1e-12);
    EXPECT_NEAR(Profile(PureDp{.2}, 1, {}, 3).Divergence(order), PureDpRenyi(order, k * .2), 1e-12);
    EXPECT_NEAR(Profile(Zcdp{.1, 0}, 1, {}, 3).Divergence(order), k * k * .1 * order, 1e-12);
    EXPECT_NEAR(Profile(ExponentialMechanism{.2}, 1, {}, 3).Divergence(order),
                BoundedRangeRenyi(order, k * .2), 1e-12);
  }
}

// With every record in the sample the group's bound must be that of the Gaussian, and sampling a
// few lies below.
TEST(RenyiDivergences, GroupsOfSampledGaussiansLieBetweenOneAndTheWhole) {
  for (const double order : kDivergenceOrders) {
    const double one = Profile(SampledEvent(.01, Gaussian{4})).Divergence(order);
    const double three = Profile(SampledEvent(.01, Gaussian{4}), 1, {}, 3).Divergence(order);
    EXPECT_GT(three, 3 * one);
    EXPECT_LE(three, GaussianRenyi(order, 3. / 4) * (1 + 1e-9));
  }
}

TEST(RenyiDivergences, BandedFactorizationIsFewerLikelierSteps) {
  const MechanismEvent banded = BandedMatrixFactorization{2, 4, 101, .05};
  for (const double order : kDivergenceOrders) {
    EXPECT_NEAR(
        Profile(banded).Divergence(order) / (26 * SampledGaussianRemoveRenyi({.2, 2}, order)), 1,
        1e-9);
  }
  EXPECT_EQ(Code(BandedMatrixFactorization{2, 4, 101, .3}), absl::StatusCode::kUnimplemented);
}

TEST(RenyiDivergences, FixedSizeSamplingUnderReplaceOneIsTheTheorem) {
  const MechanismEvent subset =
      SampledWithoutReplacement{1000, 10, NestedEvent(MechanismEvent(Gaussian{2}))};
  Setting replace_one = Relation(NeighboringRelation::kReplaceOne);
  // Stated against one contribution, a replacement moves the mean by 2: noise multiplier 1.
  // The table's row q = 0.01, sigma = 1, order 2 is 4 (e - 1) or 2 e times q^2, the smaller.
  const double expected = std::log1p(1e-4 * 2 * std::exp(1));
  EXPECT_NEAR(Profile(subset, 1, replace_one).Divergence(2) / expected, 1, 1e-9);
  replace_one.sensitivity_relation = SensitivityRelation::kReplaceOne;
  EXPECT_NEAR(
      Profile(subset, 1, replace_one).Divergence(2) / std::log1p(1e-4 * 4 * std::expm1(.25)), 1,
      1e-9);
}

TEST(RenyiDivergences, RefusesWhatIsNotProved) {
  const NestedEvent laplace{MechanismEvent(Laplace{1})};
  const NestedEvent approximate{MechanismEvent(ApproximateDp{1, 1e-9})};
  const NestedEvent gaussian{MechanismEvent(Gaussian{1})};
  EXPECT_EQ(Code(TruncatedPoissonSampled{.1, 10, 100, approximate}),
            absl::StatusCode::kUnimplemented);
  EXPECT_EQ(Code(TruncatedPoissonSampled{.1, 10, 100, gaussian}, Setting{}, 2),
            absl::StatusCode::kUnimplemented);
  EXPECT_EQ(Code(SampledWithoutReplacement{100, 10, gaussian}, Setting{}, 2),
            absl::StatusCode::kUnimplemented);
  EXPECT_EQ(Code(SampledWithReplacement{100, 10, gaussian}), absl::StatusCode::kUnimplemented);
  EXPECT_EQ(Code(RandomAllocation{10, 1, laplace}), absl::StatusCode::kUnimplemented);
  EXPECT_EQ(Code(RandomAllocation{10, 1, gaussian}, Relation(NeighboringRelation::kReplaceOne)),
            absl::StatusCode::kUnimplemented);
  EXPECT_EQ(Code(RepeatAndSelect{approximate, 5, 1}), absl::StatusCode::kUnimplemented);
  EXPECT_EQ(Code(SampledEvent(.1, Composed{{CountedEvent{approximate}, CountedEvent{laplace}}}),
                 Setting{}, 2),
            absl::StatusCode::kUnimplemented);
}

}  // namespace
}  // namespace epsledger::accounting
