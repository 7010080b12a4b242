#include "accounting/gaussian/profile.h"

#include <cmath>

#include "accounting/numeric/constants.h"
#include "gtest/gtest.h"
#include "rapidcheck/gtest.h"
#include "tests/accounting/gaussian/epsilon_rows.h"
#include "tests/accounting/gaussian/profile_rows.h"
#include "tests/accounting/mpfr_real.h"

namespace epsledger::accounting {
namespace {

// log delta at 512 bits, by the difference as it is written. The cancellation costs about
// log10(1/mu) + 2 log10(epsilon/mu) of the 154 digits.
Real LogDeltaTruth(double mu, double epsilon) {
  const Real m = Real(epsilon) / mu;
  const Real h = Real(mu) / 2;
  return Log(NormalCdfTruth(h - m) - Exp(epsilon) * NormalCdfTruth(-h - m));
}

TEST(GaussianLogDelta, AgreesWithTheTableFromBothSides) {
  for (const auto& row : kGaussianProfileRows) {
    const Bounds bounds = GaussianLogDelta(row.mu, row.epsilon);
    const double slack = 1e-9 * std::abs(row.log_delta) + 1e-9;
    EXPECT_LE(bounds.lower, row.log_delta + 1e-14 * std::abs(row.log_delta)) << row.mu;
    // 50 digits say 0 where log delta is -1e-138.
    EXPECT_GE(bounds.upper, row.log_delta - 1e-14 * std::abs(row.log_delta) - 1e-50) << row.mu;
    EXPECT_LT(bounds.upper - bounds.lower, slack) << row.mu << " " << row.epsilon;
  }
}

TEST(GaussianLogDelta, BracketsTheTruthEverywhere) {
  double widest = 0;
  for (const double mu : {1e-12, 1e-6, 1e-3, 0.019, 0.021, 0.1, 0.7, 1.0, 3.0, 12.0, 40.0}) {
    for (const double epsilon : {0.0, 1e-12, 1e-6, 1e-3, 0.1, 0.5, 1.0, 3.0, 10.0, 100.0, 700.0}) {
      if (epsilon / mu > 1e4) continue;  // beyond what 512 bits keep of the difference
      for (const double sign : {1.0, -1.0}) {
        const Bounds bounds = GaussianLogDelta(mu, sign * epsilon);
        const Real truth = LogDeltaTruth(mu, sign * epsilon);
        EXPECT_TRUE(Real(bounds.lower) <= truth) << mu << " " << sign * epsilon;
        EXPECT_TRUE(truth <= Real(bounds.upper)) << mu << " " << sign * epsilon;
        widest = std::max(widest, (bounds.upper - bounds.lower) / (1 + std::abs(bounds.upper)));
      }
    }
  }
  EXPECT_LT(widest, 2e-12);
}

RC_GTEST_PROP(GaussianLogDelta, BracketsTheTruthAtRandom, ()) {
  const double mu = std::exp(*rc::gen::inRange(-12000, 4000) / 1000.0);
  const double m = std::exp(*rc::gen::inRange(-12000, 7000) / 1000.0);
  const Bounds bounds = GaussianLogDelta(mu, mu * m);
  const Real truth = LogDeltaTruth(mu, mu * m);
  RC_ASSERT(Real(bounds.lower) <= truth);
  RC_ASSERT(truth <= Real(bounds.upper));
  RC_ASSERT(bounds.upper - bounds.lower <= 1e-9 * (1 + std::abs(bounds.upper)));
}

TEST(GaussianLogDelta, IsTightInTheBulk) {
  for (const double mu : {1e-3, 0.02, 0.1, 0.7, 1.0, 3.0, 8.0}) {
    for (const double m : {-8.0, -2.0, -0.4, -1e-6, 0.0, 1e-6, 0.3, 1.0, 2.5, 8.0, 20.0}) {
      const Bounds bounds = GaussianLogDelta(mu, mu * m);
      EXPECT_LT(bounds.upper - bounds.lower, 1e-14 * (1 + std::abs(bounds.upper)))
          << mu << " " << m;
    }
  }
}

void ExpectWithin(double value, double error, const Real& truth, double mu, double epsilon) {
  EXPECT_TRUE(Real(value) - Real(error) <= truth) << mu << " " << epsilon;
  EXPECT_TRUE(truth <= Real(value) + Real(error)) << mu << " " << epsilon;
}

TEST(GaussianAt, IsWithinItsErrors) {
  for (const double mu : {1e-100, 1e-12, 1e-3, 0.06, 0.0625, 0.063, 0.11, 0.125, 0.24, 0.5, 1.0,
                          1.9, 2.1, 3.0, 12.0, 60.0, 200.0}) {
    for (const double m :
         {0.0, 1e-9, 0.06, 0.3, 0.999, 2.0, 4.1, 7.0, 8.5, 17.0, 33.0, 39.5, 60.0, 99.0}) {
      for (const double sign : {1.0, -1.0}) {
        const double epsilon = sign * m * mu;
        if (std::abs(epsilon) > 300 || (m > 20 && mu < 1e-12)) continue;  // beyond 512 bits
        const auto point = GaussianAt(mu, epsilon);
        ASSERT_TRUE(point.has_value()) << mu << " " << epsilon;
        const Real a = Real(epsilon) / mu - Real(mu) / 2;
        const Real b = Real(epsilon) / mu + Real(mu) / 2;
        const Real tail = NormalCdfTruth(-b);
        ExpectWithin(point->delta, point->delta_error, NormalCdfTruth(-a) - Exp(epsilon) * tail, mu,
                     epsilon);
        ExpectWithin(point->tail, point->tail_error, tail, mu, epsilon);
        const Real root = Sqrt(2 * Real::Pi());
        const double above = (Exp(-a * a / 2) / root).ToDouble();
        const double below = (Exp(-b * b / 2) / root).ToDouble();
        EXPECT_NEAR(point->density_above, above, 0x1p-49 * above + 1e-320);
        EXPECT_NEAR(point->density_below, below, 0x1p-49 * below + 1e-320);
        if (m > 8) continue;
        EXPECT_LT(point->delta_error, (mu >= 0.5 ? 2e-15 : 5e-15) * point->delta + 1e-320)
            << mu << " " << epsilon;
        EXPECT_LT(point->tail_error, 2e-15 * (epsilon >= 0 ? point->tail : 1) + 1e-320)
            << mu << " " << epsilon;
      }
    }
  }
}

TEST(GaussianAt, DeclinesWhatItIsNotMadeFor) {
  for (const double mu : {0.0, 1e-101, 2.1e4, kInfinity, -1.0, std::nan("")}) {
    EXPECT_FALSE(GaussianAt(mu, 1e-100).has_value()) << mu;
  }
  for (const double epsilon : {1.1e4, -1.1e4, kInfinity, -kInfinity, std::nan("")}) {
    EXPECT_FALSE(GaussianAt(1, epsilon).has_value()) << epsilon;
  }
}

TEST(GaussianLogDelta, AnswersTheSpecialValues) {
  EXPECT_EQ(GaussianLogDelta(0, 1).upper, -kInfinity);
  EXPECT_EQ(GaussianLogDelta(0, 0).upper, -kInfinity);
  EXPECT_NEAR(GaussianLogDelta(0, -1).upper, std::log(1 - std::exp(-1)), 1e-14);
  EXPECT_EQ(GaussianLogDelta(kInfinity, 1e300).lower, 0);
  EXPECT_EQ(GaussianLogDelta(kInfinity, 1e300).upper, 0);
  EXPECT_EQ(GaussianLogDelta(1e308, 1).upper, 0);
  // NaN is never a promise.
  EXPECT_EQ(GaussianLogDelta(std::nan(""), 1.0).upper, 0);
  EXPECT_EQ(GaussianLogDelta(1.0, std::nan("")).upper, 0);
  EXPECT_EQ(GaussianLogDelta(-1.0, 1.0).upper, 0);
  // A positive delta is never answered as zero, however small.
  EXPECT_GT(GaussianLogDelta(1e-200, 1).upper, -kInfinity);
  EXPECT_GT(GaussianLogDelta(1e-300, 1e300).upper, -kInfinity);
  for (const double mu : {5e-324, 1e-308, 1e-160, 1e160, 1e308}) {
    for (const double epsilon : {-1e308, -1.0, 0.0, 5e-324, 1.0, 1e308}) {
      const Bounds bounds = GaussianLogDelta(mu, epsilon);
      EXPECT_LE(bounds.lower, bounds.upper) << mu << " " << epsilon;
      EXPECT_LE(bounds.upper, 0);
    }
  }
}

TEST(GaussianEpsilon, AgreesWithTheTableFromBothSides) {
  for (const auto& row : kGaussianEpsilonRows) {
    const Bounds epsilon = GaussianEpsilon({row.mu, row.mu}, row.log_delta);
    EXPECT_LE(epsilon.lower, row.epsilon * (1 + 1e-12) + 1e-13) << row.mu << " " << row.log_delta;
    EXPECT_GE(epsilon.upper, row.epsilon * (1 - 1e-12) - 1e-13) << row.mu << " " << row.log_delta;
    EXPECT_LT(epsilon.upper - epsilon.lower, 1e-9 * row.epsilon + 1e-12)
        << row.mu << " " << row.log_delta;
  }
}

TEST(GaussianEpsilon, AnswersTheSpecialValues) {
  EXPECT_EQ(GaussianEpsilon({1, 1}, 0).upper, 0);
  EXPECT_EQ(GaussianEpsilon({1, 1}, -kInfinity).upper, kInfinity);
  EXPECT_EQ(GaussianEpsilon({0, 0}, -kInfinity).upper, 0);
  EXPECT_EQ(GaussianEpsilon({kInfinity, kInfinity}, -1).upper, kInfinity);
  EXPECT_EQ(GaussianEpsilon({kInfinity, kInfinity}, -1).lower, kInfinity);
  EXPECT_EQ(GaussianEpsilon({1, 1}, std::nan("")).upper, kInfinity);
  // A subnormal mu: the step of the search once underflowed to 0 and it never ended.
  for (const double mu : {5e-324, 1.5e-321, 1e-300}) {
    const Bounds epsilon = GaussianEpsilon({mu, mu}, -5);
    EXPECT_LE(epsilon.lower, epsilon.upper);
    EXPECT_LE(epsilon.upper, 1e-290);
  }
  // mu = 1: delta(0) = 2 Phi(1/2) - 1 = 0.3829; above it epsilon is 0.
  EXPECT_EQ(GaussianEpsilon({1, 1}, std::log(0.39)).upper, 0);
  EXPECT_GT(GaussianEpsilon({1, 1}, std::log(0.38)).lower, 0);
}

RC_GTEST_PROP(GaussianEpsilon, IsTheInverseOfTheProfile, ()) {
  const double mu = std::exp(*rc::gen::inRange(-9000, 4000) / 1000.0);
  const double log_delta = -std::exp(*rc::gen::inRange(-1000, 9000) / 1000.0);
  const Bounds epsilon = GaussianEpsilon({mu, mu}, log_delta);
  RC_ASSERT(epsilon.lower <= epsilon.upper);
  RC_ASSERT(GaussianLogDelta(mu, epsilon.upper).upper <= log_delta);
  if (epsilon.lower > 0) RC_ASSERT(GaussianLogDelta(mu, epsilon.lower).lower >= log_delta);
}

}  // namespace
}  // namespace epsledger::accounting
