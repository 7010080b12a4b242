#include "accounting/profile/replace_mixture_profile.h"

#include <cmath>
#include <vector>

#include "accounting/profile/profiles_of.h"
#include "accounting/profile/replace_sampled_gaussian_profile.h"
#include "gtest/gtest.h"
#include "tests/accounting/mpfr_real.h"
#include "tests/accounting/profile/profile_checks.h"

namespace epsledger::accounting {
namespace {

// The best threshold by bisection of the loss at 512 bits.
struct MixturePairTruth {
  std::vector<MixturePart> parts;

  Real Density(const Real& t, double sign) const {  // over that of N(0, 1)
    Real sum = 0;
    for (const MixturePart& part : parts) {
      const Real shift = Real(sign) * Real(part.shift);
      sum = sum + Real(part.weight) * Exp(shift * t - shift * shift / 2);
    }
    return sum;
  }
  Real Solve(double epsilon) const {
    const Real target = Exp(Real(epsilon));
    Real low = -4000, high = 4000;
    for (int i = 0; i < 300; ++i) {
      const Real middle = (low + high) / 2;
      (Density(middle, 1) < target * Density(middle, -1) ? low : high) = middle;
    }
    return low;
  }
  Real Tail(const Real& t, double sign) const {  // P[T > t] or Q[T > t]
    Real sum = 0;
    for (const MixturePart& part : parts) {
      sum = sum + Real(part.weight) * NormalCdfTruth(Real(sign) * Real(part.shift) - t);
    }
    return sum;
  }
  Real Delta(double epsilon) const {
    const Real t = Solve(epsilon);
    return Tail(t, 1) - Exp(Real(epsilon)) * Tail(t, -1);
  }
};

const std::vector<std::vector<MixturePart>>& Mixtures() {
  static const std::vector<std::vector<MixturePart>> mixtures = {
      {{0, 0.75}, {1, 0.125}, {2, 0.125}},
      {{0, 1 - 0x1p-10}, {0.5, 0x1p-11}, {3, 0x1p-11}},
      {{0.25, 0.5}, {4, 0.5}},
      {{1, 1}},
      {{0, 0.5}, {0.0625, 0.25}, {20, 0.25}},
      {{0.5, 1 - 0x1p-20}, {10, 0x1p-20}}};
  return mixtures;
}

TEST(ReplaceMixtureProfile, BracketsTheBestThreshold) {
  for (const std::vector<MixturePart>& parts : Mixtures()) {
    const MixturePairTruth truth{parts};
    const ReplaceMixtureProfile profile(parts, 0);
    ASSERT_TRUE(profile.exact());
    std::vector<double> epsilons = {-8,   -2,   -0.6, -0.1, -1e-3, -1e-7, 0,
                                    1e-7, 1e-3, 0.1,  0.6,  2,     8};
    for (const double epsilon : epsilons) {
      const Bounds log_delta = profile.LogDelta(epsilon);
      ExpectBrackets(log_delta, truth.Delta(epsilon), "delta", epsilon);
      if (log_delta.lower > -40) {
        EXPECT_LT(BracketWidth(log_delta), 1e-8) << parts.size() << " " << epsilon;
      }
      const Bounds tail = profile.TailUnderQ(epsilon);
      const Real tail_truth = truth.Tail(truth.Solve(epsilon), -1);
      EXPECT_TRUE(Real(tail.lower) <= tail_truth && tail_truth <= Real(tail.upper))
          << parts.size() << " " << epsilon;
    }
    epsilons.insert(epsilons.end(), {-600, -50, 50, 600, 800});
    ExpectConsistent(profile, epsilons, "replace");
    ExpectReverses(profile, profile, epsilons, "replace");
  }
}

TEST(ReplaceMixtureProfile, IsTheSampledGaussianOfTwoParts) {
  for (const double q : {0x1p-10, 0.25, 0.875}) {
    const ReplaceMixtureProfile mixture({{0, 1 - q}, {1.5, q}}, 0);
    const ReplaceSampledGaussianProfile sampled({1.5, 1.5}, q);
    for (const double epsilon : {-3.0, -0.2, 0.0, 0.2, 3.0}) {
      EXPECT_NEAR(mixture.LogDelta(epsilon).upper, sampled.LogDelta(epsilon).upper, 1e-9);
      EXPECT_NEAR(mixture.TailUnderQ(epsilon).upper, sampled.TailUnderQ(epsilon).upper, 1e-9);
    }
  }
}

TEST(ReplaceMixtureProfile, CoversTheErrorOfItsNumbers) {
  const double r = 1e-7;
  const ReplaceMixtureProfile profile({{0, 0.5}, {1, 0.25}, {2, 0.25}}, r);
  const MixturePairTruth larger{{{0, 0.5 - 0.25 * r}, {1 + r, 0.25}, {2 + 2 * r, 0.25 * (1 + r)}}};
  const MixturePairTruth smaller{{{0, 0.5 + 0.25 * r}, {1 - r, 0.25}, {2 - r, 0.25 * (1 - r)}}};
  for (const double epsilon : {-1.0, 0.0, 0.4, 3.0}) {
    ExpectBrackets(profile.LogDelta(epsilon), larger.Delta(epsilon), "larger", epsilon);
    ExpectBrackets(profile.LogDelta(epsilon), smaller.Delta(epsilon), "smaller", epsilon);
  }
}

// The theorem, for contributions in the plane: with i contributions the two records move the sum by
// vectors of at most shift_i. Delta of some such vectors by a sum over a grid.
TEST(ReplaceMixtureProfile, NoTwoRecordsHaveMore) {
  constexpr double kStep = 0.1;
  const std::vector<MixturePart> parts = {{0, 0.5}, {0.7, 0.3}, {2, 0.2}};
  const ReplaceMixtureProfile profile(parts, 1e-15);
  const struct {
    double length, angle, other_length, other_angle;
  } rows[] = {{1, 0, 1, M_PI}, {1, 0, 1, 0.8}, {1, 0, 0.5, M_PI}, {0.5, 0, 1, 2},
              {1, 0, 0, 0},    {0, 0, 1, 0},   {0.3, 1, 1, 4},    {1, 0, 1, 0}};
  for (const auto& row : rows) {
    for (const double twist : {0.0, 0.5}) {  // the direction may depend on the number too
      for (const double epsilon : {-0.4, 0.0, 0.3, 1.2}) {
        const double x = std::exp(epsilon);
        double sum = 0;
        for (double s = -8; s <= 8; s += kStep) {
          for (double t = -8; t <= 8; t += kStep) {
            double p = 0;
            double q = 0;
            for (size_t i = 0; i < parts.size(); ++i) {
              const double turned = twist * static_cast<double>(i);
              const auto density = [&](double length, double angle) {
                const double u = s - parts[i].shift * length * std::cos(angle + turned);
                const double v = t - parts[i].shift * length * std::sin(angle + turned);
                return parts[i].weight * std::exp(-0.5 * (u * u + v * v)) / (2 * M_PI);
              };
              p += density(row.length, row.angle);
              q += density(row.other_length, row.other_angle);
            }
            sum += std::max(0.0, p - x * q) * kStep * kStep;
          }
        }
        const double worst = std::exp(profile.LogDelta(epsilon).upper);
        EXPECT_LE(sum, worst * (1 + 5e-3) + 1e-6) << epsilon << " " << row.other_angle;
        if (row.length == 1 && row.other_length == 1 && row.other_angle == M_PI && twist == 0) {
          EXPECT_NEAR(sum, worst, 5e-3 * worst + 1e-6) << epsilon;
        }
      }
    }
  }
}

TEST(ReplaceMixtureProfile, IsTheProfileOfTheEvents) {
  Setting replace;
  replace.relation = NeighboringRelation::kReplaceOne;
  const MechanismEvent mixture = MixtureOfGaussians{2, {0, 1, 3}, {0.5, 0.25, 0.25}};
  const auto alone = ProfilesOf(mixture, replace, 1, Accountant::kPld);
  const auto sampled =
      ProfilesOf(PoissonSampled{0.5, NestedEvent(mixture)}, replace, 1, Accountant::kPld);
  ASSERT_TRUE(alone.ok() && sampled.ok());
  const MixturePairTruth alone_truth{{{0, 0.5}, {0.5, 0.25}, {1.5, 0.25}}};
  const MixturePairTruth sampled_truth{{{0, 0.75}, {0.5, 0.125}, {1.5, 0.125}}};
  for (const double epsilon : {-1.0, 0.0, 0.5, 2.0}) {
    ExpectBrackets(alone->remove->LogDelta(epsilon), alone_truth.Delta(epsilon), "alone", epsilon);
    ExpectBrackets(sampled->add->LogDelta(epsilon), sampled_truth.Delta(epsilon), "sampled",
                   epsilon);
  }
  // Where only what a replacement moves is stated, each number of contributions counts as told.
  replace.sensitivity_relation = SensitivityRelation::kReplaceOne;
  const auto stated = ProfilesOf(mixture, replace, 1, Accountant::kPld);
  ASSERT_TRUE(stated.ok());
  EXPECT_FALSE(stated->remove->exact());
  for (const double epsilon : {0.0, 0.5, 2.0}) {
    const auto gaussian = [&](double mu) {
      return NormalCdfTruth(Real(-epsilon / mu + mu / 2)) -
             Exp(Real(epsilon)) * NormalCdfTruth(Real(-epsilon / mu - mu / 2));
    };
    const double truth = ((gaussian(0.5) + gaussian(1.5)) / 4).ToDouble();
    EXPECT_NEAR(std::exp(stated->remove->LogDelta(epsilon).upper), truth, 1e-12) << epsilon;
  }
}

}  // namespace
}  // namespace epsledger::accounting
