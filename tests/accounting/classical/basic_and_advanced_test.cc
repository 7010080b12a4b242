#include "accounting/classical/basic_and_advanced.h"

#include <algorithm>
#include <cmath>

#include "accounting/classical/approximate_dp.h"
#include "accounting/numeric/constants.h"
#include "gtest/gtest.h"
#include "tests/accounting/classical/advanced_rows.h"

namespace epsledger::accounting {
namespace {

TEST(BasicComposition, AddsUpFromAbove) {
  const ApproximateDpParameters sum = BasicComposition({{{0.1, 1e-7}, 10}, {{1, 0}, 1}});
  EXPECT_GE(sum.epsilon, 2);
  EXPECT_NEAR(sum.epsilon, 2, 1e-14);
  EXPECT_GE(sum.delta, 1e-6);
  EXPECT_NEAR(sum.delta, 1e-6, 1e-20);
  EXPECT_EQ(BasicComposition({}).epsilon, 0);
  EXPECT_EQ(BasicComposition({{{0, 0}, 1e9}}).delta, 0);
  EXPECT_EQ(BasicComposition({{{0.7, 0}, 1}}).epsilon, 0.7);  // alone, exactly itself
}

TEST(AmplifiedEpsilon, FollowsItsDefinition) {
  EXPECT_EQ(AmplifiedEpsilon(0, .5), 0);
  EXPECT_NEAR(AmplifiedEpsilon(1, .01), std::log(1 + .01 * (std::exp(1) - 1)), 1e-15);
  EXPECT_EQ(AmplifiedEpsilon(1000, .5), 1000);
  EXPECT_LE(AmplifiedEpsilon(1e-300, 1e-10), 1e-300);
}

absl::StatusOr<ApproximateDpParameters> Of(const MechanismEvent& event,
                                           NeighboringRelation relation) {
  Setting setting;
  setting.relation = relation;
  return ApproximateDpOf(event, setting, Accountant::kBasic);
}

TEST(ApproximateDpOf, KnowsSamplesWhereTheirTheoremHolds) {
  const MechanismEvent event = ApproximateDp{1, 1e-6};
  const double amplified = std::log1p(0.1 * std::expm1(1));
  const auto poisson = Of(PoissonSampled{0.1, event}, NeighboringRelation::kAddOrRemoveOne);
  ASSERT_TRUE(poisson.ok()) << poisson.status();
  EXPECT_NEAR(poisson->epsilon, amplified, 1e-14);
  EXPECT_GE(poisson->epsilon, amplified);
  EXPECT_NEAR(poisson->delta, 1e-7, 1e-21);
  const auto fixed =
      Of(SampledWithoutReplacement{1000, 100, event}, NeighboringRelation::kReplaceOne);
  ASSERT_TRUE(fixed.ok()) << fixed.status();
  EXPECT_NEAR(fixed->epsilon, amplified, 1e-14);
  // All releases of one sample are one mechanism.
  const auto twice = Of(PoissonSampled{0.1, MechanismEvent(SelfComposed{event, 2})},
                        NeighboringRelation::kAddOrRemoveOne);
  ASSERT_TRUE(twice.ok()) << twice.status();
  EXPECT_NEAR(twice->epsilon, std::log1p(0.1 * std::expm1(2)), 1e-14);
  EXPECT_FALSE(
      Of(SampledWithoutReplacement{1000, 100, event}, NeighboringRelation::kAddOrRemoveOne).ok());
  EXPECT_FALSE(
      Of(PoissonSampled{0.1, MechanismEvent(Gaussian{1})}, NeighboringRelation::kAddOrRemoveOne)
          .ok());
}

// The output may tell that neither record was drawn: outcomes 0 and 1 with a record, 2 without.
TEST(ApproximateDpOf, OfASampleWhoseRecordIsReplacedIsThatOfAnOutputThatTells) {
  const double epsilon = 1, delta = 1e-3, q = 0.1;
  const double likely = (1 - delta) / (1 + std::exp(-epsilon));
  // Randomized response, and the record itself with probability delta.
  const double p[] = {q * (delta + likely), q * (1 - delta - likely), 1 - q};
  const double r[] = {q * (1 - delta - likely), q * likely, 1 - q};
  double truth = 0;
  for (int i = 0; i < 3; ++i) truth += std::max(0.0, p[i] - std::exp(epsilon) * r[i]);
  EXPECT_NEAR(truth, q * delta, 1e-15);
  for (const NeighboringRelation relation :
       {NeighboringRelation::kReplaceOne, NeighboringRelation::kReplaceSpecial}) {
    const auto sample = Of(PoissonSampled{q, MechanismEvent(ApproximateDp{1, delta})}, relation);
    ASSERT_TRUE(sample.ok()) << sample.status();
    EXPECT_EQ(sample->epsilon, epsilon);
    EXPECT_GE(sample->delta, q * delta);
    EXPECT_NEAR(sample->delta, truth, 1e-15);
  }
}

// The largest logarithm of the ratio of both densities, on a grid of outputs.
TEST(ApproximateDpOf, OfLaplaceNoiseOnASampleIsItsLargestLoss) {
  for (const double q : {1e-6, 0.01, 0.5, 0.999}) {
    for (const double theta : {1e-3, 0.5, 1.0, 3.0, 40.0}) {
      double largest = 0;
      for (double t = -2 * theta; t <= 2 * theta; t += theta / 16) {
        const auto density = [&](double at) { return std::exp(-std::abs(t - at)); };
        largest = std::max(largest, std::log(((1 - q) * density(0) + q * density(theta)) /
                                             ((1 - q) * density(0) + q * density(-theta))));
      }
      const MechanismEvent laplace = Laplace{1 / theta};
      const auto replaced = Of(PoissonSampled{q, laplace}, NeighboringRelation::kReplaceOne);
      ASSERT_TRUE(replaced.ok()) << replaced.status();
      EXPECT_GE(replaced->epsilon, largest * (1 - 1e-12) - 1e-14) << q << " " << theta;
      EXPECT_NEAR(replaced->epsilon, largest, 1e-12 + 1e-12 * largest) << q << " " << theta;
      EXPECT_EQ(replaced->delta, 0);
      // Replaced by nothing, the record is removed.
      const auto nothing = Of(PoissonSampled{q, laplace}, NeighboringRelation::kReplaceSpecial);
      ASSERT_TRUE(nothing.ok()) << nothing.status();
      EXPECT_NEAR(nothing->epsilon, AmplifiedEpsilon(theta, q), 1e-12 * theta);
    }
  }
}

TEST(ApproximateDpOf, KnowsTheBestOfPureRuns) {
  const auto of = [](double mean, double shape, const MechanismEvent& run) {
    return Of(RepeatAndSelect{NestedEvent(run), mean, shape}, NeighboringRelation::kAddOrRemoveOne);
  };
  const auto selected = of(20, 1, PureDp{0.5});
  ASSERT_TRUE(selected.ok()) << selected.status();
  EXPECT_NEAR(selected->epsilon, 1.5, 1e-14);
  EXPECT_GE(selected->epsilon, 1.5);
  EXPECT_EQ(selected->delta, 0);
  EXPECT_EQ(of(1, 1, PureDp{0.5})->epsilon, 0.5);
  EXPECT_FALSE(of(20, 1, ApproximateDp{0.5, 1e-9}).ok());
}

TEST(AdvancedEpsilon, AgreesWithTheTable) {
  for (const auto& row : kAdvancedRows) {
    const AdvancedSums sums =
        SumForAdvanced({{{row.epsilon, row.delta}, static_cast<double>(row.count)}});
    const double epsilon = AdvancedEpsilon(sums, std::log(row.slack));
    EXPECT_GE(epsilon, row.total * (1 - 1e-14)) << row.epsilon << " " << row.count;
    EXPECT_LE(epsilon, row.total * (1 + 1e-12)) << row.epsilon << " " << row.count;
  }
}

// sqrt(2 log(1/delta') sum epsilon^2) + sum epsilon (e^epsilon - 1), of different epsilons.
TEST(AdvancedEpsilon, AddsUpDifferentEvents) {
  const double squares = 50 * 0.01 + 100 * 0.0004;
  const double drift = 50 * 0.1 * std::expm1(0.1) + 100 * 0.02 * std::expm1(0.02);
  const double exact = std::sqrt(2 * std::log(1e6) * squares) + drift;
  const double epsilon =
      AdvancedEpsilon(SumForAdvanced({{{0.1, 1e-9}, 50}, {{0.02, 0}, 100}}), std::log(1e-6));
  EXPECT_GE(epsilon, exact * (1 - 1e-15));
  EXPECT_LE(epsilon, exact * (1 + 1e-12));
}

TEST(AdvancedEpsilon, AnswersTheSpecialValues) {
  EXPECT_EQ(AdvancedEpsilon(SumForAdvanced({{{0, 0}, 5}}), -3), 0);
  EXPECT_EQ(AdvancedEpsilon(SumForAdvanced({{{800, 0}, 1}}), -3),
            kInfinity);  // e^800 overflows: no bound
  EXPECT_EQ(AdvancedEpsilon(SumForAdvanced({{{1, 0}, 1}}), -kInfinity), kInfinity);
}

TEST(AdvancedLogDelta, UndoesAdvancedEpsilon) {
  const AdvancedSums sums = SumForAdvanced({{{0.1, 1e-9}, 50}, {{0.02, 0}, 100}});
  for (const double log_slack : {-2.0, -20.0, -300.0}) {
    const double epsilon = AdvancedEpsilon(sums, log_slack);
    const double log_delta = AdvancedLogDelta(sums, epsilon);
    EXPECT_NEAR(log_delta, std::log(std::exp(log_slack) + 50e-9), 1e-9);
  }
  EXPECT_EQ(AdvancedLogDelta(sums, 0), 0);
}

TEST(ApproximateDpLogDelta, IsTheProfileOfTheFourOutcomeMechanism) {
  const ApproximateDpParameters one{1, 0.01};
  EXPECT_NEAR(std::exp(ApproximateDpLogDelta(one, 1)), 0.01, 1e-15);
  EXPECT_NEAR(std::exp(ApproximateDpLogDelta(one, 5)), 0.01, 1e-15);
  const double e = std::exp(1.0);
  EXPECT_NEAR(std::exp(ApproximateDpLogDelta(one, 0)), 0.01 + 0.99 * (e - 1) / (e + 1), 1e-14);
  EXPECT_NEAR(std::exp(ApproximateDpLogDelta(one, -3)), 1 - 0.99 * std::exp(-3.0), 1e-14);
  EXPECT_EQ(ApproximateDpLogDelta({1, 0}, 1), -kInfinity);
  EXPECT_EQ(ApproximateDpLogDelta({1, 1}, 1), 0);
}

TEST(GroupPrivacy, GrowsAsTheTheoremSays) {
  const ApproximateDpParameters group = GroupPrivacy({0.5, 1e-6}, 3);
  EXPECT_NEAR(group.epsilon, 1.5, 1e-14);
  EXPECT_NEAR(group.delta, 1e-6 * std::expm1(1.5) / std::expm1(0.5), 1e-19);
  EXPECT_NEAR(GroupPrivacy({0, 1e-6}, 3).delta, 3e-6, 1e-20);
  EXPECT_EQ(GroupPrivacy({500, 1e-6}, 3).delta, 1);
  EXPECT_EQ(GroupPrivacy({0.5, 0}, 1).epsilon, 0.5);
}

TEST(LogDeltaLeft, NeverLeavesMoreThanThereIs) {
  EXPECT_EQ(LogDeltaLeft(-3, 0), -3);
  EXPECT_TRUE(std::isnan(LogDeltaLeft(-3, 0.5)));
  EXPECT_LE(LogDeltaLeft(std::log(1e-5), 9e-6), std::log(1e-6));
  EXPECT_NEAR(LogDeltaLeft(std::log(1e-5), 9e-6), std::log(1e-6), 1e-13);
  EXPECT_GE(LogDeltaPlus(std::log(1e-6), 9e-6), std::log(1e-5));
  EXPECT_EQ(LogDeltaPlus(-1e-20, 0.5), 0);
}

}  // namespace
}  // namespace epsledger::accounting
