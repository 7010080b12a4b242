#include "accounting/profile/discrete_gaussian_profile.h"

#include <cmath>

#include "accounting/gaussian/profile.h"
#include "gtest/gtest.h"
#include "tests/accounting/profile/atoms_truth.h"
#include "tests/accounting/profile/profile_checks.h"

namespace epsledger::accounting {
namespace {

std::vector<Outcome> Outcomes(double sigma, int64_t s) {
  const int64_t end = static_cast<int64_t>(40 * sigma) + s + 2;
  std::vector<Real> mass;
  Real norm = 0;
  for (int64_t k = -end - s; k <= end; ++k) {
    const double x = static_cast<double>(k);
    mass.push_back(Exp(-Real(x * x) / (Real(2) * Real(sigma) * Real(sigma))));
    norm = norm + mass.back();
  }
  std::vector<Outcome> outcomes;
  for (int64_t k = -end; k <= end; ++k) {
    const size_t at = static_cast<size_t>(k + end + s);
    outcomes.push_back({mass[at - static_cast<size_t>(s)] / norm, mass[at] / norm});
  }
  return outcomes;
}

TEST(DiscreteGaussianProfile, BracketsTheSumOverOutcomes) {
  struct Case {
    double sigma;
    int64_t s;
  };
  for (const Case c :
       {Case{0.01, 1}, {0.1, 1}, {0.1, 10}, {0.5, 1}, {1, 1}, {1, 2}, {2.5, 7}, {20, 3}}) {
    ASSERT_TRUE(DiscreteGaussianProfile::Covers(c.sigma, static_cast<double>(c.s)));
    const DiscreteGaussianProfile profile(c.sigma, static_cast<double>(c.s));
    const std::vector<Outcome> outcomes = Outcomes(c.sigma, c.s);
    const double mu = static_cast<double>(c.s) / c.sigma;
    const double unit = mu / (2 * c.sigma);
    std::vector<double> epsilons;
    for (double part = -12.3; part < 12.3; part += 0.77) {
      epsilons.push_back(part * mu + (part < 0 ? -1 : 1) * 0.5 * mu * mu);
      epsilons.push_back(part * mu * 0.1);
    }
    for (int64_t k = -5; k < 5; ++k) epsilons.push_back(static_cast<double>(2 * k - c.s) * unit);
    for (const double epsilon : epsilons) {
      const Bounds log_delta = profile.LogDelta(epsilon);
      const Real truth = DeltaTruth(outcomes, epsilon);
      // The truth is known to some e^-400 of Q and, times e^epsilon, of P.
      const Real known = Real(1e-150) * (Real(1) + Exp(epsilon));
      EXPECT_TRUE(Exp(Real(log_delta.lower)) <= truth + known) << c.sigma << " " << epsilon;
      EXPECT_TRUE(truth <= Exp(Real(log_delta.upper)) + known) << c.sigma << " " << epsilon;
      // On the lattice itself the rounding of the lattice counts.
      if (log_delta.lower > -250 && std::fmod(epsilon / unit, 1) != 0) {
        EXPECT_LT(BracketWidth(log_delta), 1e-13 + 1e-15 * std::abs(log_delta.upper)) << epsilon;
      }
      const Bounds tail = profile.TailUnderQ(epsilon);
      EXPECT_TRUE(Real(tail.lower) <= TailTruth(outcomes, epsilon, 1 - 1e-12) + known) << epsilon;
      EXPECT_TRUE(TailTruth(outcomes, epsilon, 1 + 1e-12) <= Real(tail.upper) + known) << epsilon;
    }
    ExpectConsistent(profile, epsilons, "discrete gaussian");
    ExpectReverses(profile, profile, epsilons, "discrete gaussian");
  }
}

TEST(DiscreteGaussianProfile, AnswersFarBeyondItsTable) {
  for (const double sigma : {0.01, 1.0, 400.0, 3000.0}) {
    const DiscreteGaussianProfile profile(sigma, 1);
    for (const double epsilon : {-1e308, -1e5, 1e4, 1e5, 1e9, 1e308}) {
      const Bounds log_delta = profile.LogDelta(epsilon);
      EXPECT_LE(log_delta.lower, log_delta.upper) << sigma << " " << epsilon;
      if (epsilon > 0) {
        EXPECT_LT(log_delta.upper, -1000) << sigma << " " << epsilon;
      }
      if (epsilon < 0) {
        EXPECT_EQ(log_delta.upper, 0);
      }
      EXPECT_LE(profile.TailUnderQ(epsilon).lower, profile.TailUnderQ(epsilon).upper);
    }
  }
}

TEST(DiscreteGaussianProfile, TendsToTheGaussianOne) {
  const DiscreteGaussianProfile profile(2000, 2000);
  for (const double epsilon : {0.1, 1.0, 3.0, 6.0}) {
    EXPECT_NEAR(profile.LogDelta(epsilon).upper, GaussianLogDelta(1, epsilon).upper, 1e-6)
        << epsilon;
    EXPECT_LT(BracketWidth(profile.LogDelta(epsilon)), 1e-12) << epsilon;
  }
}

}  // namespace
}  // namespace epsledger::accounting
