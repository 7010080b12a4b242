#include "accounting/profile/replace_sampled_laplace_profile.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "gtest/gtest.h"
#include "tests/accounting/mpfr_real.h"
#include "tests/accounting/profile/profile_checks.h"

namespace epsledger::accounting {
namespace {

Real Larger(const Real& a, const Real& b) { return a < b ? b : a; }

// H of two mixtures of three Laplace laws, piece by piece: between two of the centers -theta, 0 and
// theta the difference of the densities is A e^t + B e^-t, with at most one change of sign.
Real TrueDelta(double theta, double q, double epsilon) {
  const Real x = Exp(Real(epsilon));
  const Real at(theta);
  // Coefficients of e^t and e^-t of (1-q) f(t) + q f(t-theta) - x (...), times 2.
  const auto piece = [&](int region, Real* up, Real* down) {
    *up = 0;
    *down = 0;
    const auto add = [&](const Real& weight, const Real& center, bool is_left) {
      if (is_left) {  // t below the center: e^(t - center)
        *up = *up + weight * Exp(-center);
      } else {
        *down = *down + weight * Exp(center);
      }
    };
    add((Real(1) - Real(q)) * (Real(1) - x), Real(0), region <= 1);
    add(Real(q), at, region <= 2);
    add(-(Real(q) * x), -at, region <= 0);
  };
  const Real far(theta + 800);
  const Real ends[] = {-far, -at, Real(0), at, far};
  Real total = 0;
  for (int region = 0; region < 4; ++region) {
    Real up, down;
    piece(region, &up, &down);
    const auto integral = [&](const Real& from, const Real& to) {
      return (up * (Exp(to) - Exp(from)) + down * (Exp(-from) - Exp(-to))) / 2;
    };
    std::vector<Real> cuts = {ends[region]};
    // A e^t + B e^-t = 0 at t = log(-B/A) / 2.
    if ((up < Real(0) && Real(0) < down) || (down < Real(0) && Real(0) < up)) {
      const Real zero = Log(-down / up) / 2;
      if (ends[region] < zero && zero < ends[region + 1]) cuts.push_back(zero);
    }
    cuts.push_back(ends[region + 1]);
    for (size_t i = 0; i + 1 < cuts.size(); ++i) {
      total = total + Larger(Real(0), integral(cuts[i], cuts[i + 1]));
    }
  }
  return total;
}

TEST(ReplaceSampledLaplaceProfile, IsTheDivergenceOfThePair) {
  for (const double theta : {0.01, 0.5, 2.0, 20.0}) {
    for (const double q : {1e-4, 0.02, 0.5, 0.999}) {
      const ReplaceSampledLaplaceProfile profile({theta, theta}, q);
      const double end = profile.LargestLoss();
      std::vector<double> epsilons;
      for (const double share : {-1.5, -0.9, -0.3, -0.01, 0.0, 0.01, 0.3, 0.7, 0.95}) {
        epsilons.push_back(share * end);
      }
      for (const double epsilon : epsilons) {
        ExpectBrackets(profile.LogDelta(epsilon), TrueDelta(theta, q, epsilon), "delta", epsilon);
        const Bounds log_delta = profile.LogDelta(epsilon);
        EXPECT_LT(BracketWidth(log_delta), 1e-9) << theta << " " << q << " " << epsilon;
      }
      EXPECT_EQ(profile.LogDelta(end * (1 + 1e-12)).upper, -HUGE_VAL);
      epsilons.insert(epsilons.end(), {-700, end * 1.5, 700});
      ExpectConsistent(profile, epsilons, "replace");
      ExpectReverses(profile, profile, epsilons, "replace");
    }
  }
}

// With every record in the sample it is Laplace noise at twice the distance.
TEST(ReplaceSampledLaplaceProfile, OfNearlyEveryRecordIsLaplaceNoise) {
  const ReplaceSampledLaplaceProfile profile({0.7, 0.7}, 1 - 0x1p-40);
  for (const double epsilon : {-1.0, -0.2, 0.0, 0.4, 1.3}) {
    const double delta = 1 - std::exp(0.5 * (epsilon - 1.4));
    EXPECT_NEAR(std::exp(profile.LogDelta(epsilon).upper), delta, 1e-9) << epsilon;
    EXPECT_NEAR(profile.TailUnderQ(epsilon).upper, 0.5 * std::exp(-0.5 * (epsilon + 1.4)), 1e-9);
  }
}

TEST(ReplaceSampledLaplaceProfile, SaysWhatItCanTake) {
  EXPECT_TRUE(ReplaceSampledLaplaceProfile::CanTake({1, 1}, 0.5));
  EXPECT_FALSE(ReplaceSampledLaplaceProfile::CanTake({0, 0}, 0.5));
  EXPECT_FALSE(ReplaceSampledLaplaceProfile::CanTake({1, 601}, 0.5));
  EXPECT_FALSE(ReplaceSampledLaplaceProfile::CanTake({1, 1}, 1));
  EXPECT_FALSE(ReplaceSampledLaplaceProfile::CanTake({1, 1}, 0));
}

}  // namespace
}  // namespace epsledger::accounting
