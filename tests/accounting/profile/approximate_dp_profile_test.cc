#include "accounting/profile/approximate_dp_profile.h"

#include <cmath>

#include "accounting/classical/basic_and_advanced.h"
#include "gtest/gtest.h"
#include "tests/accounting/profile/atoms_truth.h"
#include "tests/accounting/profile/profile_checks.h"

namespace epsledger::accounting {
namespace {

// [KOV15] Thm 3.1 as printed: outcomes 0, 1, 2, 3.
std::vector<Outcome> FourOutcomes(double epsilon0, double delta0) {
  const Real rest = (Real(1) - Real(delta0)) / (Real(1) + Exp(epsilon0));
  return {{delta0, 0}, {rest * Exp(epsilon0), rest}, {rest, rest * Exp(epsilon0)}, {0, delta0}};
}

TEST(ApproximateDpProfile, BracketsTheFourOutcomes) {
  for (const double epsilon0 : {0.0, 1e-6, 0.1, 1.0, 8.0, 100.0}) {
    for (const double delta0 : {0.0, 1e-300, 1e-20, 1e-6, 0.3, 0.999}) {
      const ApproximateDpProfile profile({epsilon0, epsilon0}, delta0, true);
      const std::vector<Outcome> outcomes = FourOutcomes(epsilon0, delta0);
      std::vector<double> epsilons = {-200, -1.1, -1e-17, 0, 1e-9, 1.1, 200};
      for (const double part : {-2.0, -1.0, -0.9999, -0.4, 0.4, 0.9999, 1.0, 2.0}) {
        epsilons.push_back(part * epsilon0);
      }
      for (const double epsilon : epsilons) {
        const Bounds log_delta = profile.LogDelta(epsilon);
        // At epsilon0 itself the 512-bit difference is rounding noise.
        if (std::abs(epsilon) != epsilon0) {
          ExpectBrackets(log_delta, DeltaTruth(outcomes, epsilon), "four outcomes", epsilon);
          const Bounds tail = profile.TailUnderQ(epsilon);
          const Real truth = TailTruth(outcomes, epsilon, 1);
          EXPECT_TRUE(Real(tail.lower) <= truth + Real(1e-120) && truth <= Real(tail.upper))
              << epsilon0 << " " << delta0 << " " << epsilon << " " << tail.lower;
        }
        if (log_delta.lower > -HUGE_VAL) {
          EXPECT_LT(BracketWidth(log_delta), 1e-12) << epsilon;
        }
        EXPECT_GE(ApproximateDpLogDelta({epsilon0, delta0}, epsilon), log_delta.lower);
      }
      ExpectConsistent(profile, epsilons, "four outcomes");
      ExpectReverses(profile, profile, epsilons, "four outcomes");
    }
  }
}

TEST(ApproximateDpProfile, OfDeltaOneIsARelease) {
  EXPECT_EQ(ApproximateDpProfile({1, 1}, 1, true).LogDelta(50).lower, 0);
  EXPECT_EQ(ApproximateDpProfile({1, 1}, 1, true).InfinityMass(), 1);
  EXPECT_EQ(ApproximateDpProfile({1, HUGE_VAL}, 0, false).LogDelta(50).upper, 0);
}

}  // namespace
}  // namespace epsledger::accounting
