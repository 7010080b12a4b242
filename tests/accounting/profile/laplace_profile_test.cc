#include "accounting/profile/laplace_profile.h"

#include <cmath>

#include "gtest/gtest.h"
#include "tests/accounting/mpfr_real.h"
#include "tests/accounting/profile/profile_checks.h"

namespace epsledger::accounting {
namespace {

// From the definition: delta = max over thresholds t of P[T > t] - e^epsilon Q[T > t], attained
// where the loss |t| - |t - theta| passes epsilon.
Real UpperTail(const Real& t) {
  return t <= Real(0) ? Real(1) - Exp(t) / Real(2) : Exp(-t) / Real(2);
}
Real DeltaTruth(double theta, double epsilon) {
  if (epsilon >= theta) return 0;
  if (epsilon <= -theta) return Real(1) - Exp(epsilon);
  const Real t = (Real(epsilon) + Real(theta)) / Real(2);
  return UpperTail(t - Real(theta)) - Exp(epsilon) * UpperTail(t);
}

TEST(LaplaceProfile, BracketsTheDefinition) {
  for (const double theta : {1e-9, 0.01, 1.0, 2.0, 30.0, 700.0}) {
    const LaplaceProfile profile(Bounds{theta, theta});
    std::vector<double> epsilons;
    for (const double part :
         {-3.0, -1.0, -0.999, -0.5, -1e-9, 0.0, 1e-12, 0.3, 0.999999, 1.0, 2.0}) {
      epsilons.push_back(part * theta);
    }
    for (const double epsilon : epsilons) {
      const Bounds log_delta = profile.LogDelta(epsilon);
      ExpectBrackets(log_delta, DeltaTruth(theta, epsilon), "laplace", epsilon);
      if (epsilon < theta) {
        EXPECT_LT(BracketWidth(log_delta), 3e-14 + 1e-15 * std::abs(log_delta.upper));
      }
      if (std::abs(epsilon) < theta) {
        const Real tail = UpperTail((Real(epsilon) + Real(theta)) / Real(2));
        const Bounds bounds = profile.TailUnderQ(epsilon);
        EXPECT_TRUE(Real(bounds.lower) <= tail && tail <= Real(bounds.upper)) << epsilon;
      }
    }
    ExpectConsistent(profile, epsilons, "laplace");
    ExpectReverses(profile, profile, epsilons, "laplace");
    // The atoms: half of Q has the smallest loss, e^-theta / 2 the largest.
    EXPECT_EQ(profile.TailUnderQ(-theta).upper, 1);
    EXPECT_NEAR(profile.TailUnderQ(-theta).lower, 0.5, 1e-12);
    EXPECT_EQ(profile.TailUnderQ(theta).lower, 0);
    EXPECT_GT(profile.TailUnderQ(theta).upper, 0);
    EXPECT_EQ(profile.LogDelta(theta).upper, -HUGE_VAL);
  }
}

TEST(LaplaceProfile, DominatesAVectorOfTheSameL1Distance) {
  // Two coordinates moved by a and b: the numeric supremum over all sets is the integral of (p - x
  // q)_+ on a grid; it stays below the scalar of a + b.
  const double a = 0.7, b = 0.5, step = 0.02;
  for (const double epsilon : {0.0, 0.3, 0.8, 1.1}) {
    double integral = 0;
    for (double s = -14; s < 14; s += step) {
      for (double t = -14; t < 14; t += step) {
        const double p = 0.25 * std::exp(-std::abs(s - a) - std::abs(t - b));
        const double q = 0.25 * std::exp(-std::abs(s) - std::abs(t));
        integral += std::max(0.0, p - std::exp(epsilon) * q) * step * step;
      }
    }
    const LaplaceProfile scalar(Bounds{a + b, a + b});
    EXPECT_LE(integral, std::exp(scalar.LogDelta(epsilon).upper) + 1e-3) << epsilon;
    EXPECT_GT(integral, 0.2 * std::exp(scalar.LogDelta(epsilon).lower)) << epsilon;
  }
}

TEST(LaplaceProfile, WithoutNoiseRevealsAll) {
  const LaplaceProfile profile(Bounds{1e308, HUGE_VAL});
  EXPECT_EQ(profile.InfinityMass(), 1);
  EXPECT_EQ(profile.LogDelta(3).upper, 0);
}

}  // namespace
}  // namespace epsledger::accounting
