#include "accounting/renyi/conversion.h"
#include "accounting/numeric/constants.h"

#include <cmath>

#include "accounting/renyi/moments.h"
#include "accounting/renyi/sampled_gaussian.h"
#include "gtest/gtest.h"
#include "tests/accounting/renyi/conversion_rows.h"

namespace epsledger::accounting {
namespace {

auto Steps(double q, double s, double steps) {
  return [=](double order) {
    return steps * (1 + 1e-15) *
           (q == 1 ? order / (2 * s * s) : SampledGaussianRemoveRenyi({q, s}, order));
  };
}

TEST(EpsilonFromRenyi, AgreesWithTheTable) {
  for (const auto& row : kConversionRows) {
    const auto divergence = Steps(row.sampling_probability, row.noise_multiplier, row.steps);
    const double epsilon = EpsilonFromRenyi(divergence, std::log(row.delta)).value;
    EXPECT_GE(epsilon, row.epsilon * (1 - 1e-9)) << row.sampling_probability << " " << row.delta;
    EXPECT_LE(epsilon, row.epsilon * (1 + 1e-7) + 1e-10)
        << row.sampling_probability << " " << row.noise_multiplier << " " << row.steps;
  }
}

TEST(EpsilonFromRenyi, IsNotBeatenByAnyOrderOfAFineGrid) {
  const auto divergence = Steps(0.02, 0.9, 3000);
  const double best = EpsilonFromRenyi(divergence, std::log(1e-8)).value;
  for (double order = 1.001; order < 500; order = 1 + (order - 1) * 1.01) {
    EXPECT_LE(best, EpsilonAtOrder(order, divergence(order), std::log(1e-8)) * (1 + 1e-9));
  }
}

TEST(EpsilonFromRenyi, AnswersTheSpecialValues) {
  const auto divergence = Steps(1, 1, 1);
  EXPECT_EQ(EpsilonFromRenyi(divergence, 0).value, 0);
  EXPECT_EQ(EpsilonFromRenyi(divergence, -kInfinity).value, kInfinity);
  EXPECT_EQ(EpsilonFromRenyi(divergence, std::nan("")).value, kInfinity);
  EXPECT_EQ(EpsilonFromRenyi([](double) { return kInfinity; }, -10).value, kInfinity);
  EXPECT_EQ(EpsilonFromRenyi([](double) { return std::nan(""); }, -10).value, kInfinity);
  EXPECT_EQ(EpsilonFromRenyi([](double) { return 0.0; }, -kInfinity).value, 0);
}

TEST(EpsilonFromRenyi, IsZeroWhereTotalVariationAllows) {
  // KL = 1/2: sqrt(1 - e^{-1/2}) = 0.627.
  const auto divergence = Steps(1, 1, 1);
  EXPECT_EQ(EpsilonFromRenyi(divergence, std::log(0.63)).value, 0);
}

TEST(LogDeltaFromRenyi, UndoesEpsilonFromRenyi) {
  for (const double delta : {1e-3, 1e-9, 1e-40}) {
    const auto divergence = Steps(0.01, 1.2, 500);
    const double epsilon = EpsilonFromRenyi(divergence, std::log(delta)).value;
    EXPECT_NEAR(LogDeltaFromRenyi(divergence, epsilon).value, std::log(delta), 1e-7);
  }
  EXPECT_EQ(LogDeltaFromRenyi([](double) { return kInfinity; }, 1).value, 0);
  EXPECT_EQ(LogDeltaFromRenyi([](double) { return 0.0; }, 0).value, -kInfinity);
}

TEST(LargestDivergence, IsTheInverseAtOneOrderRoundedDown) {
  for (const double order : {1.5, 2.0, 8.0, 500.0}) {
    for (const double epsilon : {0.01, 1.0, 30.0}) {
      const double d = LargestDivergence(order, epsilon, -12);
      if (d == -kInfinity) continue;
      EXPECT_LE(EpsilonAtOrder(order, d, -12), epsilon);
      EXPECT_GT(
          EpsilonAtOrder(order, d + 1e-12 * (1 + std::abs(d) + epsilon + 24 / (order - 1)), -12),
          epsilon);
    }
  }
}

TEST(EpsilonFromMoments, ReproducesThePublishedFigure) {
  // Abadi et al. 2016, section 5: q = 0.01, sigma = 4, T = 10,000, delta = 1e-5 gives 1.26.
  const double epsilon = EpsilonFromMoments(Steps(0.01, 4, 10000), std::log(1e-5)).value;
  EXPECT_NEAR(epsilon, 1.26, 0.005);
}

TEST(EpsilonFromMoments, IsNeverBelowTheRealOrderConversion) {
  for (const double s : {0.6, 1.0, 4.0}) {
    const auto divergence = Steps(0.01, s, 1000);
    for (const double log_delta : {-3.0, -11.5, -40.0}) {
      EXPECT_GE(EpsilonFromMoments(divergence, log_delta).value,
                EpsilonFromRenyi(divergence, log_delta).value);
    }
  }
}

}  // namespace
}  // namespace epsledger::accounting
