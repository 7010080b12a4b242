#include "accounting/profile/gaussian_profile.h"

#include <cmath>

#include "accounting/numeric/rounding.h"
#include "gtest/gtest.h"
#include "tests/accounting/mpfr_real.h"
#include "tests/accounting/profile/profile_checks.h"

namespace epsledger::accounting {
namespace {

const std::vector<double> kEpsilons = {-20,  -5,  -1,  -0.3, -1e-3, -1e-9, 0,  1e-9,
                                       1e-3, 0.1, 0.5, 1,    2,     5,     12, 30};

TEST(GaussianProfile, BracketsDeltaAndTail) {
  double widest = 0;
  for (const double mu : {0.01, 0.1, 0.5, 1.0, 3.0, 8.0}) {
    const GaussianProfile profile(Bounds{NextDown(mu), NextUp(mu)});
    for (const double epsilon : kEpsilons) {
      const Real m = Real(epsilon) / Real(mu);
      const Real h = Real(mu) / Real(2);
      const Real tail = NormalCdfTruth(-m - h);
      const Bounds log_delta = profile.LogDelta(epsilon);
      if (std::abs(epsilon / mu) < 100) {
        ExpectBrackets(log_delta, NormalCdfTruth(h - m) - Exp(epsilon) * tail, "gaussian", epsilon);
        widest = std::max(widest, BracketWidth(log_delta) / (1 + std::abs(log_delta.upper)));
      }
      const Bounds bounds = profile.TailUnderQ(epsilon);
      EXPECT_TRUE(Real(bounds.lower) <= tail && tail <= Real(bounds.upper)) << mu << " " << epsilon;
      EXPECT_LE(bounds.upper, bounds.lower * (1 + 1e-10) + 1e-300) << mu << " " << epsilon;
    }
    ExpectConsistent(profile, kEpsilons, "gaussian");
    ExpectReverses(profile, profile, kEpsilons, "gaussian");
  }
  EXPECT_LT(widest, 1e-12);  // at mu = 0.01 off by an ulp
}

TEST(GaussianProfile, BracketsAPointTightly) {
  for (const double mu : {1e-3, 0.01, 0.1, 0.5, 1.0, 3.0, 8.0, 50.0}) {
    const GaussianProfile profile(Bounds{mu, mu});
    for (const double epsilon : kEpsilons) {
      if (std::abs(epsilon / mu) > 100) continue;
      const Real m = Real(epsilon) / Real(mu);
      const Real h = Real(mu) / Real(2);
      const Real tail = NormalCdfTruth(-m - h);
      const Real delta = NormalCdfTruth(h - m) - Exp(epsilon) * tail;
      const ProfilePoint point = profile.At(epsilon);
      EXPECT_TRUE(Real(point.delta.lower) <= delta && delta <= Real(point.delta.upper))
          << mu << " " << epsilon;
      EXPECT_TRUE(Real(point.tail.lower) <= tail && tail <= Real(point.tail.upper))
          << mu << " " << epsilon;
      if (std::abs(epsilon / mu) > 8) continue;
      EXPECT_LE(point.delta.upper - point.delta.lower, 1e-14 * point.delta.upper)
          << mu << " " << epsilon;
      EXPECT_LE(point.tail.upper - point.tail.lower, 1e-14) << mu << " " << epsilon;
    }
  }
}

TEST(GaussianProfile, BracketsEveryPointAroundForEveryMu) {
  for (const double width : {0.0, 1e-15, 1e-4, 1e-2}) {
    const GaussianProfile profile(Bounds{1.3 - width, 1.3 + width});
    for (const double error : {0.0, 1e-15, 1e-4, 0.3, HUGE_VAL}) {
      for (const double epsilon : kEpsilons) {
        const ProfilePoint around = profile.Around(epsilon, error);
        for (const double side : {-1.0, 1.0}) {
          const Real at = Real(epsilon) + Real(side * std::min(error, 10.0));
          for (const double mu : {1.3 - width, 1.3 + width}) {
            const Real tail = NormalCdfTruth(-at / mu - Real(mu) / 2);
            const Real delta = NormalCdfTruth(-at / mu + Real(mu) / 2) - Exp(at) * tail;
            EXPECT_TRUE(Real(around.delta.lower) <= delta && delta <= Real(around.delta.upper))
                << width << " " << error << " " << epsilon;
            EXPECT_TRUE(Real(around.tail.lower) <= tail && tail <= Real(around.tail.upper))
                << width << " " << error << " " << epsilon;
          }
        }
        // Not much wider than what moves: |d delta| <= d mu / sqrt(2 pi) + d epsilon.
        if (error < 1e-3) {
          EXPECT_LT(around.delta.upper - around.delta.lower, 2.2 * (0.4 * width + error) + 1e-14);
          EXPECT_LT(around.tail.upper - around.tail.lower, 10 * (width + error) + 1e-14);
        }
      }
    }
  }
}

TEST(GaussianProfile, HoldsForEveryMuOfTheInterval) {
  const GaussianProfile profile(Bounds{0.5, 1.0});
  for (const double epsilon : kEpsilons) {
    for (const double mu : {0.5, 0.7, 1.0}) {
      const GaussianProfile inside(Bounds{mu, mu});
      EXPECT_LE(profile.LogDelta(epsilon).lower, inside.LogDelta(epsilon).lower + 1e-12);
      EXPECT_GE(profile.LogDelta(epsilon).upper, inside.LogDelta(epsilon).upper - 1e-12);
      EXPECT_LE(profile.TailUnderQ(epsilon).lower, inside.TailUnderQ(epsilon).upper);
      EXPECT_GE(profile.TailUnderQ(epsilon).upper, inside.TailUnderQ(epsilon).lower);
    }
  }
}

TEST(GaussianProfile, AnswersNoNoiseAndNoShift) {
  const double inf = HUGE_VAL;
  EXPECT_EQ(GaussianProfile(Bounds{inf, inf}).InfinityMass(), 1);
  EXPECT_EQ(GaussianProfile(Bounds{inf, inf}).LogDelta(5).upper, 0);
  const GaussianProfile none(Bounds{0, 0});
  EXPECT_EQ(none.LogDelta(0).upper, -inf);
  EXPECT_EQ(none.TailUnderQ(-1).lower, 1);
  EXPECT_EQ(none.TailUnderQ(1).upper, 0);
  EXPECT_EQ(none.LargestLoss(), 0);
}

}  // namespace
}  // namespace epsledger::accounting
