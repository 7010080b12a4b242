#include "accounting/profile/randomized_response_profile.h"

#include <cmath>

#include "gtest/gtest.h"
#include "tests/accounting/profile/atoms_truth.h"
#include "tests/accounting/profile/profile_checks.h"

namespace epsledger::accounting {
namespace {

TEST(RandomizedResponseProfile, BracketsTheMechanismItself) {
  for (const double p : {1e-12, 0.01, 0.5, 0.999}) {
    for (const int64_t buckets : {2, 3, 17, 1000}) {
      const RandomizedResponseProfile profile(p, buckets);
      // Value 0 replaced by value 1.
      std::vector<Outcome> outcomes;
      const Real low = Real(p) / Real(static_cast<double>(buckets));
      for (int64_t b = 0; b < buckets; ++b) {
        outcomes.push_back(
            {b == 0 ? Real(1) - Real(p) + low : low, b == 1 ? Real(1) - Real(p) + low : low});
      }
      const double epsilon0 = profile.LargestLoss();
      std::vector<double> epsilons = {-60, 60};
      for (const double part : {-1.5, -0.999, -0.5, -1e-9, 1e-9, 0.5, 0.999, 1.5}) {
        epsilons.push_back(part * epsilon0);
      }
      for (const double epsilon : epsilons) {
        const Bounds log_delta = profile.LogDelta(epsilon);
        ExpectBrackets(log_delta, DeltaTruth(outcomes, epsilon), "response", epsilon);
        if (log_delta.lower > -HUGE_VAL) {
          EXPECT_LT(BracketWidth(log_delta), 1e-10) << epsilon;
        }
        const Bounds tail = profile.TailUnderQ(epsilon);
        const Real truth = TailTruth(outcomes, epsilon, 1);
        EXPECT_TRUE(Real(tail.lower) <= truth + Real(1e-120) &&
                    truth <= Real(tail.upper) + Real(1e-120))
            << epsilon;
      }
      epsilons.push_back(0);
      epsilons.push_back(epsilon0);
      epsilons.push_back(-epsilon0);
      ExpectConsistent(profile, epsilons, "response");
      ExpectReverses(profile, profile, epsilons, "response");
    }
  }
}

}  // namespace
}  // namespace epsledger::accounting
