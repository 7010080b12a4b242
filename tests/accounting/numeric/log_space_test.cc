#include "accounting/numeric/log_space.h"
#include "accounting/numeric/constants.h"

#include <cmath>
#include <limits>

#include "gtest/gtest.h"
#include "tests/accounting/mpfr_real.h"

namespace epsledger::accounting {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

TEST(LogAddExp, TreatsNegativeInfinityAsZeroMass) {
  EXPECT_EQ(LogAddExp(-kInfinity, 2), 2);  // boost::math::logaddexp(-inf, 2) has answered -inf
  EXPECT_EQ(LogAddExp(2, -kInfinity), 2);
  EXPECT_EQ(LogAddExp(-kInfinity, -kInfinity), -kInfinity);
  EXPECT_EQ(LogAddExp(kInfinity, 2), kInfinity);
  EXPECT_EQ(LogAddExp(-kInfinity, kInfinity), kInfinity);
  EXPECT_TRUE(std::isnan(LogAddExp(kNaN, 2)));
  EXPECT_TRUE(std::isnan(LogAddExp(kInfinity, kNaN)));
}

TEST(LogAddExp, IsExactToFourUlpOfTheSum) {
  for (const double a : {-1000.0, -2.0, -1e-9, 0.0, 3.0, 700.0, 1e6}) {
    for (const double b : {-1e6, -40.0, -1.0, -1e-17, 0.0, 2.5, 710.0}) {
      const double truth = Log(Exp(a) + Exp(b)).ToDouble();
      EXPECT_NEAR(LogAddExp(a, b), truth, 1e-15 * (1 + std::abs(truth))) << a << " " << b;
    }
  }
}

TEST(LogSubExp, IsTheInverseOfAdding) {
  EXPECT_EQ(LogSubExp(2, -kInfinity), 2);
  EXPECT_EQ(LogSubExp(2, 2), -kInfinity);
  EXPECT_EQ(LogSubExp(kInfinity, 2), kInfinity);
  EXPECT_TRUE(std::isnan(LogSubExp(1, 2)));
  EXPECT_NEAR(LogSubExp(-700, -700.1), Log(Exp(-700) - Exp(-700.1)).ToDouble(), 1e-12);
}

TEST(Log1mExp, LosesNothingAtEitherEnd) {
  EXPECT_EQ(Log1mExp(0), -kInfinity);
  EXPECT_EQ(Log1mExp(-kInfinity), 0);
  EXPECT_TRUE(std::isnan(Log1mExp(1)));
  for (const double x : {-1e-300, -1e-17, -1e-3, -0.5, -0.7, -3.0, -40.0, -700.0}) {
    const double truth = (x < -1 ? Log1p(-Exp(x)) : Log(-Expm1(x))).ToDouble();
    EXPECT_NEAR(Log1mExp(x), truth, 4e-16 * std::abs(truth)) << x;
  }
}

TEST(LogExpm1, IsFiniteWhereverItsArgumentIs) {
  EXPECT_EQ(LogExpm1(0), -kInfinity);
  EXPECT_EQ(LogExpm1(1e300), 1e300);
  for (const double x : {1e-300, 1e-9, 0.3, 1.0, 1.5, 30.0, 800.0}) {
    const double truth = Log(Expm1(x)).ToDouble();
    EXPECT_NEAR(LogExpm1(x), truth, 4e-16 * (1 + std::abs(truth))) << x;
  }
}

TEST(Expm1MinusX, HasAllItsDigitsNearZero) {
  EXPECT_EQ(Expm1MinusX(0), 0);
  EXPECT_EQ(Expm1MinusX(kInfinity), kInfinity);
  EXPECT_GT(Expm1MinusX(-kInfinity), 1e300);
  for (const double x :
       {-50.0, -2.0, -0.51, -0.49, -1e-3, -1e-9, 1e-40, 1e-9, 0.1, 0.499, 0.501, 3.0, 600.0}) {
    const double truth = (Expm1(x) - Real(x)).ToDouble();
    EXPECT_NEAR(Expm1MinusX(x), truth, 2e-15 * truth) << x;
  }
}

}  // namespace
}  // namespace epsledger::accounting
