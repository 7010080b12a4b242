#include "accounting/matrix/toeplitz.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "gtest/gtest.h"
#include "tests/accounting/matrix/participation_sets.h"

namespace epsledger::accounting {
namespace {

std::vector<double> Doubles(const std::vector<int64_t>& integers) {
  return {integers.begin(), integers.end()};
}

// [KL24] Thm 2: every b-th step is the worst.
TEST(ToeplitzSquaredSensitivity, IsExactForCoefficientsThatNeverIncrease) {
  std::mt19937_64 bits(1);
  for (int round = 0; round < 200; ++round) {
    const int64_t steps = 1 + static_cast<int64_t>(bits() % 9);
    std::vector<int64_t> column;
    for (int64_t t = 0; t < steps; ++t) column.push_back(static_cast<int64_t>(bits() % 20));
    std::sort(column.rbegin(), column.rend());
    if (round % 3 == 0) column.resize(static_cast<size_t>((steps + 1) / 2));
    for (int64_t most = 1; most <= steps; ++most) {
      for (int64_t separation = 1; separation <= steps; ++separation) {
        const Participation participation{steps, most, separation};
        const Bounds bounds =
            ToeplitzSquaredSensitivity(GivenCoefficients(Doubles(column), steps), participation);
        const auto exact =
            static_cast<double>(LargestAbsoluteSum(ToeplitzOf(column, steps), participation));
        EXPECT_LE(bounds.lower, exact);
        EXPECT_GE(bounds.upper, exact);
        EXPECT_LE(bounds.upper - bounds.lower, 1e-13 * exact);
      }
    }
  }
}

TEST(ToeplitzSquaredSensitivity, HoldsTheTruthForAnyCoefficients) {
  std::mt19937_64 bits(2);
  for (int round = 0; round < 200; ++round) {
    const int64_t steps = 1 + static_cast<int64_t>(bits() % 7);
    std::vector<int64_t> column;
    for (int64_t t = 0; t < steps; ++t) {
      column.push_back(static_cast<int64_t>(bits() % 9) - (round % 2 == 0 ? 4 : 0));
    }
    for (int64_t most = 1; most <= steps; ++most) {
      for (int64_t separation = 1; separation <= steps; ++separation) {
        const Participation participation{steps, most, separation};
        const Bounds bounds =
            ToeplitzSquaredSensitivity(GivenCoefficients(Doubles(column), steps), participation);
        const IntegerRows rows = ToeplitzOf(column, steps);
        EXPECT_GE(bounds.upper, static_cast<double>(LargestAbsoluteSum(rows, participation)));
        EXPECT_LE(bounds.lower, static_cast<double>(LargestSignedSum(rows, participation)));
      }
    }
  }
  const Bounds nothing = ToeplitzSquaredSensitivity(GivenCoefficients({0, 0}, 3), {3, 2, 1});
  EXPECT_EQ(nothing.lower, 0);
  EXPECT_EQ(nothing.upper, 0);
  EXPECT_GT(ToeplitzSquaredSensitivity(GivenCoefficients({1e-200}, 3), {3, 2, 1}).upper, 0);
}

// Many steps against the sum written down, in long double.
TEST(ToeplitzSquaredSensitivity, RoundsOutward) {
  for (const Participation& participation :
       {Participation{3000, 5, 512}, Participation{3000, 40, 7}, Participation{3000, 3000, 1},
        Participation{3000, 1, 3000}, Participation{2999, 12, 250}}) {
    const int64_t steps = participation.steps;
    std::vector<long double> c(static_cast<size_t>(steps), 1);
    for (int64_t t = 1; t < steps; ++t) c[t] = c[t - 1] * (2 * t - 1) / (2 * t);
    long double exact = 0;
    for (int64_t t = 0; t < steps; ++t) {
      long double sum = 0;
      for (int64_t i = 0; i < participation.Most() && t >= i * participation.min_separation; ++i) {
        sum += c[t - i * participation.min_separation];
      }
      exact += sum * sum;
    }
    const Bounds bounds =
        ToeplitzSquaredSensitivity(SquareRootCoefficients(steps, steps), participation);
    EXPECT_LT(bounds.lower, exact);
    EXPECT_GT(bounds.upper, exact);
    EXPECT_LT(bounds.upper / bounds.lower - 1, 2e-11);
  }
}

TEST(SquareRootCoefficients, AreCentralBinomialsOverPowersOfFour) {
  const ToeplitzCoefficients c = SquareRootCoefficients(27, 30);
  int64_t binomial = 1;  // (2t choose t), below 2^53
  for (int64_t t = 0; t < 27; ++t) {
    const double exact = std::ldexp(static_cast<double>(binomial), static_cast<int>(-2 * t));
    EXPECT_LE(c.lower[t], exact);
    EXPECT_GE(c.upper[t], exact);
    EXPECT_LT(c.upper[t] / c.lower[t] - 1, 1e-13);
    binomial = binomial * 2 * (2 * t + 1) / (t + 1);
  }
  for (size_t t = 27; t < 30; ++t) EXPECT_EQ(c.upper[t], 0);
}

TEST(BufferedCoefficients, AreSumsOfGeometricSeries) {
  const ToeplitzCoefficients c = BufferedCoefficients({0.25, 0.5}, {0.5, 0.25}, 20);
  EXPECT_EQ(c.lower[0], 1);
  EXPECT_EQ(c.upper[0], 1);
  for (int t = 1; t < 20; ++t) {
    const double exact = std::ldexp(0.25, 1 - t) + std::ldexp(0.5, 2 - 2 * t);  // exact
    EXPECT_LE(c.lower[t], exact);
    EXPECT_GE(c.upper[t], exact);
    EXPECT_LT(c.upper[t] / c.lower[t] - 1, 1e-12);
  }
  // Steps without decay are the running sums; products that underflow are not nothing.
  const ToeplitzCoefficients sums = BufferedCoefficients({1}, {1}, 3);
  EXPECT_NEAR(sums.upper[2], 1, 1e-12);
  EXPECT_GT(BufferedCoefficients({1}, {1e-200}, 4).upper[3], 0);
}

}  // namespace
}  // namespace epsledger::accounting
