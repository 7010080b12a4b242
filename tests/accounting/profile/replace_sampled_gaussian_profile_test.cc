#include "accounting/profile/replace_sampled_gaussian_profile.h"

#include <cmath>
#include <vector>

#include "gtest/gtest.h"
#include "tests/accounting/mpfr_real.h"
#include "tests/accounting/profile/profile_checks.h"

namespace epsledger::accounting {
namespace {

// The best threshold by bisection of the loss at 512 bits.
struct PairTruth {
  double mu;
  double q;

  Real Density(const Real& t, double sign) const {  // over that of N(0, 1)
    const Real shift = Real(sign) * Real(mu);
    return Real(1) - Real(q) + Real(q) * Exp(shift * t - shift * shift / 2);
  }
  Real Solve(double epsilon) const {
    const Real target = Exp(Real(epsilon));
    Real low = -4000, high = 4000;
    for (int i = 0; i < 400; ++i) {
      const Real middle = (low + high) / 2;
      (Density(middle, 1) < target * Density(middle, -1) ? low : high) = middle;
    }
    return low;
  }
  Real Tail(const Real& t, double sign) const {  // P[T > t] or Q[T > t]
    return (Real(1) - Real(q)) * NormalCdfTruth(-t) +
           Real(q) * NormalCdfTruth(Real(sign) * Real(mu) - t);
  }
  Real Delta(double epsilon) const {
    const Real t = Solve(epsilon);
    return Tail(t, 1) - Exp(Real(epsilon)) * Tail(t, -1);
  }
};

TEST(ReplaceSampledGaussianProfile, BracketsTheBestThreshold) {
  for (const double mu : {0.05, 0.5, 1.0, 4.0, 20.0}) {
    for (const double q : {1e-4, 0.01, 0.3, 0.9, 1 - 0x1p-20}) {
      const PairTruth truth{mu, q};
      const ReplaceSampledGaussianProfile profile({mu, mu}, q);
      ASSERT_TRUE(profile.exact());
      std::vector<double> epsilons = {-8,   -2,   -0.6, -0.1, -1e-3, -1e-7, 0,
                                      1e-7, 1e-3, 0.1,  0.6,  2,     8};
      for (const double epsilon : epsilons) {
        const Bounds log_delta = profile.LogDelta(epsilon);
        ExpectBrackets(log_delta, truth.Delta(epsilon), "delta", epsilon);
        if (log_delta.lower > -40) {
          EXPECT_LT(BracketWidth(log_delta), 1e-8) << mu << " " << q << " " << epsilon;
        }
        const Bounds tail = profile.TailUnderQ(epsilon);
        const Real tail_truth = truth.Tail(truth.Solve(epsilon), -1);
        EXPECT_TRUE(Real(tail.lower) <= tail_truth && tail_truth <= Real(tail.upper))
            << mu << " " << q << " " << epsilon;
      }
      epsilons.insert(epsilons.end(), {-600, -50, 50, 600, 800});
      ExpectConsistent(profile, epsilons, "replace");
      ExpectReverses(profile, profile, epsilons, "replace");
    }
  }
}

// Where e^epsilon multiplies a tail that no double holds: Phi(-38) is about 3e-316.
TEST(ReplaceSampledGaussianProfile, HoldsWhereTailsUnderflow) {
  const struct { double mu, q; } rows[] = {{1 / 0.12, 0.158}, {1, 0.001}, {5, 0.01}, {0.3, 0.5}};
  for (const auto& [mu, q] : rows) {
    const ReplaceSampledGaussianProfile profile({mu, mu}, q);
    const PairTruth truth{mu, q};
    for (double t = 35; t < 45; t += 0.7) {
      // The epsilon of the threshold t, near enough.
      const double epsilon = Log(truth.Density(Real(t), 1) / truth.Density(Real(t), -1)).ToDouble();
      if (epsilon > 690) continue;
      const Bounds log_delta = profile.LogDelta(epsilon);
      ExpectBrackets(log_delta, truth.Delta(epsilon), "delta", epsilon);
      if (log_delta.upper > -700) {
        EXPECT_LT(BracketWidth(log_delta), 1e-8) << mu << " " << t;
      }
    }
  }
}

TEST(ReplaceSampledGaussianProfile, HoldsForEveryMuOfItsInterval) {
  const double mu = 0.7;
  const ReplaceSampledGaussianProfile profile({mu * (1 - 4e-10), mu * (1 + 4e-10)}, 0.1);
  for (const double epsilon : {-0.3, 0.0, 0.2, 1.5, 6.0}) {
    for (const double other : {mu * (1 - 4e-10), mu, mu * (1 + 4e-10)}) {
      ExpectBrackets(profile.LogDelta(epsilon), PairTruth{other, 0.1}.Delta(epsilon), "mu",
                     epsilon);
    }
  }
}

TEST(ReplaceSampledGaussianProfile, SaysWhatItCanTake) {
  EXPECT_TRUE(ReplaceSampledGaussianProfile::CanTake({1, 1}, 0.5));
  for (const double q : {0.0, 1.0, -0.5, std::nan("")}) {
    EXPECT_FALSE(ReplaceSampledGaussianProfile::CanTake({1, 1}, q)) << q;
  }
  for (const Bounds mu : {Bounds{0, 0}, {1, 1.1}, {1, HUGE_VAL}, {std::nan(""), 1}}) {
    EXPECT_FALSE(ReplaceSampledGaussianProfile::CanTake(mu, 0.5)) << mu.lower;
  }
}

// The theorem: opposite contributions are the worst of all that fit into the unit disk. Delta of
// any two by a sum over a grid in the plane.
TEST(ReplaceSampledGaussianProfile, NoTwoContributionsHaveMore) {
  constexpr double kStep = 0.06;
  const auto delta = [](double mu, double q, double x, const double a[2], const double b[2]) {
    const auto density = [](double dx, double dy) { return std::exp(-0.5 * (dx * dx + dy * dy)); };
    double sum = 0;
    for (double s = -8 - mu; s <= 8 + mu; s += kStep) {
      for (double t = -8 - mu; t <= 8 + mu; t += kStep) {
        const double rest = (1 - q) * density(s, t);
        const double p = rest + q * density(s - mu * a[0], t - mu * a[1]);
        sum += std::max(0.0, p - x * (rest + q * density(s - mu * b[0], t - mu * b[1])));
      }
    }
    return sum * kStep * kStep / (2 * M_PI);
  };
  for (const double mu : {0.6, 2.0}) {
    for (const double q : {0.05, 0.5}) {
      const ReplaceSampledGaussianProfile profile({mu, mu}, q);
      for (const double epsilon : {-0.4, 0.0, 0.3, 1.2}) {
        const double worst = std::exp(profile.LogDelta(epsilon).upper);
        for (const double length : {0.0, 0.5, 1.0}) {
          for (const double angle : {0.0, 0.8, 1.6, 2.4, M_PI}) {
            const double a[] = {1, 0};
            const double b[] = {length * std::cos(angle), length * std::sin(angle)};
            const double one = delta(mu, q, std::exp(epsilon), a, b);
            EXPECT_LE(one, worst + 5e-3 * worst + 1e-6)
                << mu << " " << q << " " << epsilon << " " << length << " " << angle;
            const double other = delta(mu, q, std::exp(epsilon), b, a);
            EXPECT_LE(other, worst + 5e-3 * worst + 1e-6)
                << mu << " " << q << " " << epsilon << " " << length << " " << angle;
            if (length == 1 && angle == M_PI) {
              EXPECT_NEAR(one, worst, 5e-3 * worst + 1e-6);
            }
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace epsledger::accounting
