#include "accounting/profile/mixture_of_gaussians_profile.h"

#include <cmath>
#include <memory>

#include "accounting/profile/gaussian_profile.h"
#include "accounting/profile/poisson_sampled_profile.h"
#include "gtest/gtest.h"
#include "tests/accounting/mpfr_real.h"
#include "tests/accounting/profile/profile_checks.h"

namespace epsledger::accounting {
namespace {

using Direction = MixtureOfGaussiansProfile::Direction;

// The best threshold by bisection of the loss at 512 bits. REQUIRES: the weights add up to 1.
struct Truth {
  std::vector<MixturePart> parts;

  Real Ratio(const Real& t) const {
    Real sum = 0;
    for (const MixturePart& part : parts) {
      sum = sum +
            Real(part.weight) * Exp(Real(part.shift) * t - Real(part.shift) * Real(part.shift) / 2);
    }
    return sum;
  }
  Real Solve(double loss) const {
    const Real target = Exp(loss);
    Real low = -60, high = 60;
    for (int i = 0; i < 300; ++i) {
      const Real middle = (low + high) / 2;
      (Ratio(middle) < target ? low : high) = middle;
    }
    return low;
  }
  Real Mixture(const Real& t, double sign) const {  // P[sign T > sign t]
    Real sum = 0;
    for (const MixturePart& part : parts) {
      sum = sum + Real(part.weight) * NormalCdfTruth(Real(sign) * (Real(part.shift) - t));
    }
    return sum;
  }
  Real Remove(double epsilon) const {
    const Real t = Solve(epsilon);
    return Mixture(t, 1) - Exp(epsilon) * NormalCdfTruth(-t);
  }
  Real Add(double epsilon) const {
    const Real t = Solve(-epsilon);
    return NormalCdfTruth(t) - Exp(epsilon) * Mixture(t, -1);
  }
};

TEST(MixtureOfGaussiansProfile, BracketsTheBestThreshold) {
  const std::vector<std::vector<MixturePart>> mixtures = {
      {{1, 1}},
      {{0, 0.75}, {1, 0.25}},
      {{0, 0.5}, {0.5, 0.25}, {2, 0.25}},
      {{0.25, 0.5}, {3, 0.5}},
      {{0, 1 - 0x1p-20}, {1, 0x1p-20}},
  };
  for (const auto& parts : mixtures) {
    const Truth truth{parts};
    const MixtureOfGaussiansProfile remove(parts, 0, Direction::kRemove, true);
    const MixtureOfGaussiansProfile add(parts, 0, Direction::kAdd, true);
    std::vector<double> epsilons = {-8,   -2,   -0.6, -0.1, -1e-3, -1e-7, 0,
                                    1e-7, 1e-3, 0.1,  0.6,  2,     8};
    for (const double epsilon : epsilons) {
      ExpectBrackets(remove.LogDelta(epsilon), truth.Remove(epsilon), "remove", epsilon);
      const Bounds log_delta = remove.LogDelta(epsilon);
      if (log_delta.lower > -40) {
        EXPECT_LT(BracketWidth(log_delta), 2e-11) << epsilon;
      }
      const Bounds tail = remove.TailUnderQ(epsilon);
      const Real tail_truth = NormalCdfTruth(-truth.Solve(epsilon));
      EXPECT_TRUE(Real(tail.lower) <= tail_truth && tail_truth <= Real(tail.upper)) << epsilon;
      if (epsilon < add.LargestLoss()) {
        ExpectBrackets(add.LogDelta(epsilon), truth.Add(epsilon), "add", epsilon);
        const Bounds add_tail = add.TailUnderQ(epsilon);
        const Real add_truth = truth.Mixture(truth.Solve(-epsilon), -1);
        EXPECT_TRUE(Real(add_tail.lower) <= add_truth && add_truth <= Real(add_tail.upper))
            << epsilon;
      } else {
        EXPECT_EQ(add.LogDelta(epsilon).upper, -HUGE_VAL);
      }
    }
    epsilons.insert(epsilons.end(), {-600, -50, 50, 600});
    ExpectConsistent(remove, epsilons, "remove");
    ExpectConsistent(add, epsilons, "add");
    ExpectReverses(remove, add, epsilons, "mixture");
  }
}

// Where e^epsilon multiplies a tail that no double holds.
TEST(MixtureOfGaussiansProfile, HoldsWhereTailsUnderflow) {
  const std::vector<std::vector<MixturePart>> mixtures = {
      {{0, 0.875}, {8, 0.125}}, {{0, 1 - 0x1p-10}, {1, 0x1p-10}}, {{0, 0.5}, {2, 0.25}, {4, 0.25}}};
  for (const auto& parts : mixtures) {
    const Truth truth{parts};
    const MixtureOfGaussiansProfile remove(parts, 0, Direction::kRemove, true);
    for (double t = 35; t < 45; t += 0.7) {
      const double epsilon = Log(truth.Ratio(Real(t))).ToDouble();
      const Bounds log_delta = remove.LogDelta(epsilon);
      ExpectBrackets(log_delta, truth.Remove(epsilon), "remove", epsilon);
      if (log_delta.upper > -700) {
        EXPECT_LT(BracketWidth(log_delta), 1e-8) << t;
      }
    }
  }
}

TEST(MixtureOfGaussiansProfile, OfTwoPartsIsASampledGaussian) {
  const double q = 0.01;
  const auto gaussian = std::make_shared<GaussianProfile>(Bounds{1, 1});
  const DirectedProfiles sampled = PoissonSampledProfiles({gaussian, gaussian}, q);
  const std::vector<MixturePart> parts = {{0, 1 - q}, {1, q}};
  const MixtureOfGaussiansProfile remove(parts, 1e-16, Direction::kRemove, true);
  const MixtureOfGaussiansProfile add(parts, 1e-16, Direction::kAdd, true);
  for (const double epsilon : {-0.02, -0.009, -0.001, 0.0, 0.001, 0.009, 0.5, 3.0}) {
    EXPECT_NEAR(remove.LogDelta(epsilon).upper, sampled.remove->LogDelta(epsilon).upper, 1e-10);
    if (epsilon < 0.01) {
      EXPECT_NEAR(add.LogDelta(epsilon).upper, sampled.add->LogDelta(epsilon).upper, 1e-10);
    }
  }
}

}  // namespace
}  // namespace epsledger::accounting
