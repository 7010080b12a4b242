#include "accounting/classical/log_concave_sum.h"
#include "accounting/numeric/constants.h"

#include <algorithm>
#include <cmath>

#include "gtest/gtest.h"

namespace epsledger::accounting {
namespace {

TEST(LogConcaveSum, SumsGeometricSeriesInBlocksOfAnyWidth) {
  for (const double slope : {1e-7, 1e-3, 0.5, 30.0}) {
    for (const double last : {0.0, 1.0, 10.0, 1e6}) {
      for (const double start : {0.0, std::min(last, std::floor(600 / slope))}) {
        const Bounds sum = LogConcaveSum(
            [&](double j) {
              return Approximation{-slope * j - 1000, 1e-15 * (slope * j + 1000)};
            },
            [](double, double) { return 1e-300; }, 0, last, start, 1e-8);
        const double truth = -1000 + std::log(std::expm1(-slope * (last + 1)) / std::expm1(-slope));
        EXPECT_LE(sum.lower, truth + 1e-12) << slope << " " << last << " " << start;
        EXPECT_GE(sum.upper, truth - 1e-12) << slope << " " << last << " " << start;
        EXPECT_LT(sum.upper - sum.lower, 1e-7) << slope << " " << last << " " << start;
      }
    }
  }
}

TEST(LogConcaveSum, BoundsTheSumOfTheNormalDensity) {
  // Poisson summation: the sum over all integers is 1 to 2 exp(-2 pi^2 s^2).
  for (const double s : {5.0, 1e3, 1e6}) {
    double width = kInfinity;
    for (const double tolerance : {1e-2, 1e-4, 1e-6}) {
      const Bounds sum = LogConcaveSum(
          [&](double j) {
            return Approximation{-0.5 * (j / s) * (j / s) - std::log(s * std::sqrt(2 * M_PI)),
                                 1e-14};
          },
          [&](double, double) { return 1 / (s * s); }, -std::ceil(40 * s), std::ceil(40 * s), 0,
          tolerance);
      EXPECT_LE(sum.lower, 1e-13);
      EXPECT_GE(sum.upper, -1e-13);
      EXPECT_LT(sum.upper - sum.lower, tolerance / 8 + 1e-12);
      width = sum.upper - sum.lower;
    }
    EXPECT_LT(width, 2e-7);
  }
}

TEST(LogConcaveSum, GivesUpFromAbove) {
  // Too many blocks.
  const Bounds flat = LogConcaveSum(
      [](double) {
        return Approximation{0, 0};
      },
      [](double, double) { return 1.0; }, 0, 1e15, 0, 1e-8);
  EXPECT_EQ(flat.upper, kInfinity);
  EXPECT_GT(flat.lower, 0);
  EXPECT_LE(flat.lower, std::log(1e15));
  // Terms that are not known.
  const Bounds vague = LogConcaveSum(
      [](double j) {
        return Approximation{-j, j > 3 ? 1.0 : 0.0};
      },
      [](double, double) { return 1.0; }, 0, 100, 0, 1e-8);
  EXPECT_EQ(vague.upper, kInfinity);
  const Bounds nothing = LogConcaveSum(
      [](double) {
        return Approximation{std::nan(""), kInfinity};
      },
      [](double, double) { return 1.0; }, 0, 100, 0, 1e-8);
  EXPECT_EQ(nothing.upper, kInfinity);
  EXPECT_EQ(nothing.lower, -kInfinity);
}

}  // namespace
}  // namespace epsledger::accounting
