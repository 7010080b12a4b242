#include "accounting/profile/poisson_sampled_profile.h"

#include <cmath>
#include <memory>

#include "accounting/profile/gaussian_profile.h"
#include "gtest/gtest.h"
#include "tests/accounting/mpfr_real.h"
#include "tests/accounting/profile/profile_checks.h"

namespace epsledger::accounting {
namespace {

// The sampled Gaussian in closed form at 512 bits: R = (1-q) N(0,1) + q N(mu,1) against N(0,1) and
// back. R/Q = 1 - q + q e^{mu t - mu^2/2} increases in t, so both are tails beyond one point.
struct SampledGaussianTruth {
  double mu;
  double q;

  // The t where (R/Q)(t) = ratio > 1 - q.
  Real Point(const Real& ratio) const {
    return Log((ratio - Real(1) + Real(q)) / Real(q)) / Real(mu) + Real(mu) / Real(2);
  }
  Real Mixture(const Real& z) const {  // R[t > z]
    return (Real(1) - Real(q)) * NormalCdfTruth(-z) + Real(q) * NormalCdfTruth(Real(mu) - z);
  }
  Real MixtureBelow(const Real& z) const {  // R[t < z]
    return (Real(1) - Real(q)) * NormalCdfTruth(z) + Real(q) * NormalCdfTruth(z - Real(mu));
  }
  Real RemoveTail(double epsilon) const {
    const Real x = Exp(epsilon);
    if (x <= Real(1) - Real(q)) return 1;
    return NormalCdfTruth(-Point(x));
  }
  Real RemoveDelta(double epsilon) const {
    const Real x = Exp(epsilon);
    if (x <= Real(1) - Real(q)) return Real(1) - x;
    const Real t = Point(x);
    return Mixture(t) - x * NormalCdfTruth(-t);
  }
  Real AddTail(double epsilon) const {
    const Real ratio = Exp(-Real(epsilon));
    if (ratio <= Real(1) - Real(q)) return 0;
    return MixtureBelow(Point(ratio));
  }
  Real AddDelta(double epsilon) const {
    const Real x = Exp(epsilon);
    const Real ratio = Exp(-Real(epsilon));
    if (ratio <= Real(1) - Real(q)) return 0;
    const Real t = Point(ratio);
    return NormalCdfTruth(t) - x * MixtureBelow(t);
  }
};

std::vector<double> Epsilons(double q) {
  std::vector<double> epsilons = {-30, -3, -0.7, 0, 0.7, 3, 10, 30, 100, 300};
  for (const double scale : {1e-9, 1e-3, 0.1, 0.5, 0.9, 0.999, 1.0, 1.5, 4.0, 100.0, 1e4}) {
    if (scale * q > 50) continue;
    epsilons.push_back(scale * q);
    epsilons.push_back(-scale * q);
  }
  epsilons.push_back(std::log1p(-q));
  epsilons.push_back(-std::log1p(-q));
  return epsilons;
}

void ExpectPoint(const ProfilePoint& point, const Real& delta, const Real& tail, const char* what) {
  EXPECT_TRUE(Real(point.delta.lower) <= delta) << what << " " << point.delta.lower;
  EXPECT_TRUE(delta <= Real(point.delta.upper)) << what << " " << point.delta.upper;
  EXPECT_TRUE(Real(point.tail.lower) <= tail) << what << " " << point.tail.lower;
  EXPECT_TRUE(tail <= Real(point.tail.upper)) << what << " " << point.tail.upper;
}

TEST(PoissonSampledProfile, BracketsTheSampledGaussianInBothDirections) {
  for (const double q : {1e-9, 1e-6, 1e-3, 0.01, 0.3, 0.9}) {
    for (const double mu : {0.05, 0.5, 1.0, 2.0, 5.0}) {
      const SampledGaussianTruth truth{mu, q};
      const auto gaussian = std::make_shared<GaussianProfile>(Bounds{mu, mu});
      const DirectedProfiles sampled = PoissonSampledProfiles({gaussian, gaussian}, q);
      for (const double epsilon : Epsilons(q)) {
        const Real remove = truth.RemoveDelta(epsilon);
        const Real add = truth.AddDelta(epsilon);
        ExpectBrackets(sampled.remove->LogDelta(epsilon), remove, "remove", epsilon);
        ExpectBrackets(sampled.add->LogDelta(epsilon), add, "add", epsilon);
        const Bounds remove_tail = sampled.remove->TailUnderQ(epsilon);
        EXPECT_TRUE(Real(remove_tail.lower) <= truth.RemoveTail(epsilon)) << q << " " << epsilon;
        EXPECT_TRUE(truth.RemoveTail(epsilon) <= Real(remove_tail.upper)) << q << " " << epsilon;
        const Bounds add_tail = sampled.add->TailUnderQ(epsilon);
        EXPECT_TRUE(Real(add_tail.lower) <= truth.AddTail(epsilon)) << q << " " << epsilon;
        EXPECT_TRUE(truth.AddTail(epsilon) <= Real(add_tail.upper)) << q << " " << epsilon;
        ExpectPoint(sampled.remove->At(epsilon), remove, truth.RemoveTail(epsilon), "remove");
        ExpectPoint(sampled.add->At(epsilon), add, truth.AddTail(epsilon), "add");
      }
      ExpectConsistent(*sampled.remove, Epsilons(q), "remove");
      ExpectConsistent(*sampled.add, Epsilons(q), "add");
      ExpectReverses(*sampled.remove, *sampled.add, Epsilons(q), "sampled");
    }
  }
}

TEST(PoissonSampledProfile, KeepsItsDigitsAtSmallSamplingProbabilities) {
  for (const double q : {1e-6, 1e-3}) {
    const auto gaussian = std::make_shared<GaussianProfile>(Bounds{1, 1});
    const DirectedProfiles sampled = PoissonSampledProfiles({gaussian, gaussian}, q);
    for (const double scale : {-0.5, -0.01, 0.01, 0.3, 0.9}) {
      EXPECT_LT(BracketWidth(sampled.remove->LogDelta(scale * q)), 1e-13) << q << " " << scale;
      EXPECT_LT(BracketWidth(sampled.add->LogDelta(scale * q)), 1e-12) << q << " " << scale;
    }
  }
}

TEST(PoissonSampledProfile, BracketsAPointWithinUlpsOfTheSamplingProbability) {
  for (const double q : {1e-9, 1e-6, 1e-3, 0.01, 0.3}) {
    for (const double mu : {0.05, 0.5, 1.0, 2.0}) {
      const auto gaussian = std::make_shared<GaussianProfile>(Bounds{mu, mu});
      const DirectedProfiles sampled = PoissonSampledProfiles({gaussian, gaussian}, q);
      // Measured: 5.3e-15 adding, 3.3e-15 removing.
      for (double scale = -3; scale <= 3; scale += 0.0371) {
        for (const auto& profile : {sampled.remove, sampled.add}) {
          const Bounds delta = profile->At(scale * q).delta;
          EXPECT_LE(delta.upper - delta.lower, 7e-15 * std::max(q, delta.upper))
              << q << " " << mu << " " << scale;
        }
      }
    }
  }
}

TEST(PoissonSampledProfile, BracketsAPointWhenSampledTwice) {
  const auto gaussian = std::make_shared<GaussianProfile>(Bounds{1, 1});
  const DirectedProfiles once = PoissonSampledProfiles({gaussian, gaussian}, 0.25);
  const DirectedProfiles twice = PoissonSampledProfiles(once, 0.5);
  const SampledGaussianTruth truth{1, 0.125};
  for (const double epsilon : {-2.0, -0.1, -0.01, 0.0, 0.003, 0.1, 0.132, 1.0, 4.0}) {
    ExpectPoint(twice.remove->At(epsilon), truth.RemoveDelta(epsilon), truth.RemoveTail(epsilon),
                "remove");
    ExpectPoint(twice.add->At(epsilon), truth.AddDelta(epsilon), truth.AddTail(epsilon), "add");
  }
}

TEST(PoissonSampledProfile, EndsWhereTheLossEnds) {
  const auto gaussian = std::make_shared<GaussianProfile>(Bounds{1, 1});
  const DirectedProfiles sampled = PoissonSampledProfiles({gaussian, gaussian}, 0.25);
  EXPECT_NEAR(sampled.remove->SmallestLoss(), std::log(0.75), 1e-12);
  EXPECT_EQ(sampled.remove->LargestLoss(), HUGE_VAL);
  EXPECT_NEAR(sampled.add->LargestLoss(), -std::log(0.75), 1e-12);
  EXPECT_EQ(sampled.add->SmallestLoss(), -HUGE_VAL);
  EXPECT_EQ(sampled.add->LogDelta(0.3).upper, -HUGE_VAL);
  EXPECT_EQ(sampled.add->TailUnderQ(0.3).upper, 0);
  // All of the loss is at infinity.
  const auto revealed = std::make_shared<GaussianProfile>(Bounds{HUGE_VAL, HUGE_VAL});
  const DirectedProfiles all = PoissonSampledProfiles({revealed, revealed}, 0.25);
  EXPECT_NEAR(all.remove->InfinityMass(), 0.25, 1e-15);
  EXPECT_EQ(all.add->InfinityMass(), 0);
  EXPECT_NEAR(all.add->LogDelta(0).upper, std::log(0.25), 1e-14);
}

}  // namespace
}  // namespace epsledger::accounting
