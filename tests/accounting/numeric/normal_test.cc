#include "accounting/numeric/normal.h"
#include "accounting/numeric/constants.h"

#include <cmath>

#include "gtest/gtest.h"
#include "tests/accounting/mpfr_real.h"

namespace epsledger::accounting {
namespace {

Real MillsTruth(double x) {
  return Sqrt(Real::Pi() / 2) * Exp(Real(x) * x / 2) * Erfc(Real(x) / Sqrt(2));
}

TEST(MillsRatio, IsWithinItsStatedError) {
  double worst = 0;
  for (double x = 0; x < 60; x += 0.137) {
    const Real truth = MillsTruth(x);
    worst = std::max(worst, std::abs(((Real(MillsRatio(x)) - truth) / truth).ToDouble()));
  }
  EXPECT_LT(worst, kNormalRelativeError / 2);  // measured 5e-16
  EXPECT_EQ(MillsRatio(kInfinity), 0);
  EXPECT_EQ(MillsRatio(1e300), 1e-300);
}

TEST(MillsIntegrals, AreTheDerivativesOfTheMillsRatio) {
  for (double x = 0; x < 40; x += 1.273) {
    // I_{n+1} = n I_{n-1} - x I_n, exactly.
    Real before = MillsTruth(x);
    Real now = Real(1) - Real(x) * before;
    const auto computed = MillsIntegrals(x);
    for (int n = 1; n < 12; ++n) {
      const double error = ((Real(computed[n]) - now) / now).ToDouble();
      EXPECT_LT(std::abs(error), n == 1 ? 0x1p-46 : 0x1p-30) << x << " " << n;
      const Real next = Real(n) * before - Real(x) * now;
      before = now;
      now = next;
    }
  }
}

TEST(LogNormalCdf, IsWithinItsStatedErrorInBothTails) {
  for (const double z : {-2e4, -300.0, -38.0, -10.0, -2.01, -1.99, -0.5, -1e-9, 0.0, 1e-9, 0.7, 1.9,
                         2.1, 5.0, 12.0, 20.0, 37.0}) {
    const Real truth = z > 0     ? Log1p(-NormalCdfTruth(-z))
                       : z < -40 ? -Real(z) * z / 2 - Log(2 * Real::Pi()) / 2 + Log(MillsTruth(-z))
                                 : Log(NormalCdfTruth(z));
    const double t = truth.ToDouble();
    EXPECT_NEAR(LogNormalCdf(z), t, 2e-15 * std::abs(t)) << z;
  }
  EXPECT_EQ(LogNormalCdf(-kInfinity), -kInfinity);
  EXPECT_EQ(LogNormalCdf(kInfinity), 0);
  EXPECT_TRUE(std::isnan(LogNormalCdf(std::nan(""))));
}

TEST(NormalCdf, IsWithinItsStatedError) {
  for (double z = -37; z < 9; z += 0.931) {
    const Real truth = NormalCdfTruth(z);
    EXPECT_LT(std::abs(((Real(NormalCdf(z)) - truth) / truth).ToDouble()), kNormalRelativeError)
        << z;
  }
}

TEST(NormalUpperQuantile, InvertsTheTail) {
  EXPECT_EQ(NormalUpperQuantile(0), kInfinity);
  EXPECT_EQ(NormalUpperQuantile(1), -kInfinity);
  EXPECT_EQ(NormalUpperQuantile(0.5), 0);
  EXPECT_TRUE(std::isnan(NormalUpperQuantile(-0.1)));
  EXPECT_TRUE(std::isnan(NormalUpperQuantile(1.1)));
  for (const double p : {1e-320, 1e-300, 1e-100, 1e-9, 0.01, 0.3, 0.49999, 0.7, 0.9999999}) {
    const double z = NormalUpperQuantile(p);
    const double truth = std::log(p);
    EXPECT_NEAR(LogNormalCdf(-z), truth, p < 1e-310 ? 1e-3 : 4e-14 * (1 + std::abs(truth))) << p;
  }
}

}  // namespace
}  // namespace epsledger::accounting
