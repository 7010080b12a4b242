#include "accounting/numeric/rounding.h"

#include <cmath>
#include <limits>

#include "gtest/gtest.h"

namespace epsledger::accounting {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

TEST(RoundUp, NeverReturnsLessAndTurnsNaNIntoNoBound) {
  for (const double x : {0.0, -0.0, 5e-324, -5e-324, 1e-308, 1.0, -1.0, 1e308}) {
    EXPECT_GT(RoundUp(x), x) << x;
    EXPECT_LT(RoundDown(x), x) << x;
    EXPECT_LE(RoundUp(x), x + std::abs(x) * 1e-15 + 1e-320) << x;
  }
  EXPECT_EQ(RoundUp(kInf), kInf);
  EXPECT_EQ(RoundUp(kNaN), kInf);
  EXPECT_EQ(RoundDown(kNaN), -kInf);
  EXPECT_EQ(RoundDown(-kInf), -kInf);
}

TEST(RoundUpNonNegative, KeepsAnExactZero) {
  EXPECT_EQ(RoundUpNonNegative(0), 0);
  EXPECT_GT(RoundUpNonNegative(5e-324), 5e-324);
  EXPECT_EQ(RoundDownNonNegative(5e-324), 0);
  EXPECT_EQ(RoundDownNonNegative(0), 0);
}

}  // namespace
}  // namespace epsledger::accounting
