#include "accounting/numeric/rounding.h"
#include "accounting/numeric/constants.h"

#include <cmath>
#include <limits>

#include "gtest/gtest.h"

namespace epsledger::accounting {
namespace {

constexpr double kQuietNaN = std::numeric_limits<double>::quiet_NaN();

TEST(RoundUp, NeverReturnsLessAndTurnsNaNIntoNoBound) {
  for (const double x : {0.0, -0.0, 5e-324, -5e-324, 1e-308, 1.0, -1.0, 1e308}) {
    EXPECT_GT(RoundUp(x), x) << x;
    EXPECT_LT(RoundDown(x), x) << x;
    EXPECT_LE(RoundUp(x), x + std::abs(x) * 1e-15 + 1e-320) << x;
  }
  EXPECT_EQ(RoundUp(kInfinity), kInfinity);
  EXPECT_EQ(RoundUp(kQuietNaN), kInfinity);
  EXPECT_EQ(RoundDown(kQuietNaN), -kInfinity);
  EXPECT_EQ(RoundDown(-kInfinity), -kInfinity);
}

TEST(RoundUpNonNegative, KeepsAnExactZero) {
  EXPECT_EQ(RoundUpNonNegative(0), 0);
  EXPECT_GT(RoundUpNonNegative(5e-324), 5e-324);
  EXPECT_EQ(RoundDownNonNegative(5e-324), 0);
  EXPECT_EQ(RoundDownNonNegative(0), 0);
}

TEST(AddProductUp, IsExactWhereTheDoublesHaveTheSumAndTheNextDoubleOtherwise) {
  const auto sum = [](double total, double count, double x) {
    AddProductUp(total, count, x);
    return total;
  };
  EXPECT_EQ(sum(0, 2, 1e-5), 2e-5);
  EXPECT_EQ(sum(1.5, 3, 0.25), 2.25);
  EXPECT_EQ(sum(0.25, 0, 1e-5), 0.25);
  EXPECT_EQ(sum(1, 1, 0x1p-60), 1 + 0x1p-52);
  EXPECT_EQ(sum(1, 1, 5e-324), 1 + 0x1p-52);
  // 3 * (1 + 2^-52) = 3 + 3 * 2^-52, between doubles 2^-51 apart.
  EXPECT_EQ(sum(0, 3, 1 + 0x1p-52), 3 + 2 * 0x1p-51);
  EXPECT_GE(sum(0, 0.5, 5e-324), 5e-324);
  EXPECT_EQ(sum(kInfinity, 1, 1), kInfinity);
  EXPECT_EQ(sum(0, 1, kQuietNaN), kInfinity);
  EXPECT_EQ(sum(0, 2, 1.5e308), kInfinity);
}

}  // namespace
}  // namespace epsledger::accounting
