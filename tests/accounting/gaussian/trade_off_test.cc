#include "accounting/gaussian/trade_off.h"

#include <cmath>

#include "accounting/numeric/constants.h"
#include "gtest/gtest.h"
#include "tests/accounting/gaussian/trade_off_rows.h"
#include "tests/accounting/mpfr_real.h"

namespace epsledger::accounting {
namespace {

TEST(GaussianTradeOff, AgreesWithTheTableFromBothSides) {
  for (const auto& row : kTradeOffRows) {
    const Bounds f = GaussianTradeOff({row.mu, row.mu}, row.alpha);
    const double slack = 1e-9 * row.value + 1e-12;
    // The rows are doubles of 50-digit values, and alpha = 1e-12 is not that double exactly.
    EXPECT_LE(f.lower, row.value * (1 + 1e-11)) << row.mu << " " << row.alpha;
    EXPECT_GE(f.upper, row.value * (1 - 1e-11)) << row.mu << " " << row.alpha;
    EXPECT_LT(f.upper - f.lower, slack) << row.mu << " " << row.alpha;
  }
}

TEST(GaussianTradeOff, BracketsTheTruthAtPointsWithAClosedForm) {
  // alpha = 1 - Phi(t) for t a double: beta = Phi(t - mu). alpha is rounded, so the bracket is
  // asked for at both neighbors.
  for (const double t : {-6.0, -1.5, 0.0, 0.7, 2.0, 5.0, 8.0, 20.0}) {
    for (const double mu : {1e-9, 0.1, 1.0, 4.0, 9.0}) {
      const double alpha = NormalCdfTruth(-Real(t)).ToDouble();
      const Real truth = NormalCdfTruth(Real(t) - mu);
      const Bounds at_less = GaussianTradeOff({mu, mu}, std::nextafter(alpha, 0));
      const Bounds at_more = GaussianTradeOff({mu, mu}, std::nextafter(alpha, 1));
      EXPECT_TRUE(Real(at_more.lower) <= truth) << t << " " << mu;
      EXPECT_TRUE(truth <= Real(at_less.upper)) << t << " " << mu;
    }
  }
}

TEST(GaussianTradeOff, AnswersTheSpecialValues) {
  for (const double mu : {0.1, 5.66, 11.3}) {
    EXPECT_LE(GaussianTradeOff(Bounds{mu, mu}, 5e-324).upper, 1) << mu;
  }
  EXPECT_EQ(GaussianTradeOff({1, 1}, 0).lower, 1);
  EXPECT_EQ(GaussianTradeOff({1, 1}, 0).upper, 1);
  EXPECT_EQ(GaussianTradeOff({1, 1}, 1).upper, 0);
  EXPECT_EQ(GaussianTradeOff({0, 0}, 0.3).lower, 0.7);
  EXPECT_EQ(GaussianTradeOff({kInfinity, kInfinity}, 0.3).upper, 0);
  EXPECT_EQ(GaussianTradeOff({1, 1}, std::nan("")).lower, 0);
  EXPECT_EQ(GaussianTradeOff({1, 1}, std::nan("")).upper, 1);
  EXPECT_GT(GaussianTradeOff({1, 1}, 5e-324).lower, 0.999);
}

// 1 - alpha is not a double for small alpha: the nearest one may be above it.
TEST(GaussianTradeOff, OfNothingBracketsTheDiagonal) {
  for (const double alpha : {0x1p-1074, 1e-300, 1e-17, 0.002365653514321619, 0.03656052404252501,
                             0.1, 0.3, 0.5, 0.7, 0x1.fffffffffffffp-1}) {
    const Bounds f = GaussianTradeOff({0, 0}, alpha);
    EXPECT_TRUE(Real(f.lower) <= Real(1) - alpha) << alpha;
    EXPECT_TRUE(Real(1) - alpha <= Real(f.upper)) << alpha;
    EXPECT_GE(1 - f.lower, alpha) << alpha;
  }
}

TEST(GaussianTradeOff, IsItsOwnInverseDecreasingAndBelowTheDiagonal) {
  for (const double mu : {0.01, 0.5, 2.0, 6.0}) {
    double before = 1;
    for (double alpha = 0.003; alpha < 1; alpha += 0.013) {
      const Bounds f = GaussianTradeOff({mu, mu}, alpha);
      EXPECT_LE(f.lower, f.upper);
      EXPECT_LE(f.upper, before);
      EXPECT_LE(f.lower, 1 - alpha);
      before = f.upper * (1 + 1e-12);
      const Bounds back = GaussianTradeOff({mu, mu}, 0.5 * (f.lower + f.upper));
      EXPECT_NEAR(back.lower, alpha, 1e-9 * (1 + std::exp(mu * mu)));
    }
  }
}

}  // namespace
}  // namespace epsledger::accounting
