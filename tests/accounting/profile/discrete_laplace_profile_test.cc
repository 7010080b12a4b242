#include "accounting/profile/discrete_laplace_profile.h"

#include <cmath>
#include <cstdlib>

#include "gtest/gtest.h"
#include "tests/accounting/profile/atoms_truth.h"
#include "tests/accounting/profile/profile_checks.h"

namespace epsledger::accounting {
namespace {

// Every outcome to where e^{-a |k|} is below e^-120, and one more for each of the two tails.
std::vector<Outcome> LaplaceOutcomes(double a, int64_t s) {
  const int64_t end = static_cast<int64_t>(120 / a) + s + 2;
  const Real r = Exp(-Real(a));
  const Real scale = (Real(1) - r) / (Real(1) + r);
  std::vector<Real> power = {1};
  for (int64_t k = 1; k <= end + s + 1; ++k) power.push_back(power.back() * r);
  const auto at = [&](int64_t k) { return scale * power[static_cast<size_t>(std::abs(k))]; };
  std::vector<Outcome> outcomes;
  for (int64_t k = -end; k <= end; ++k) outcomes.push_back({at(k - s), at(k)});
  return outcomes;
}

TEST(DiscreteLaplaceProfile, BracketsTheSumOverOutcomes) {
  for (const double a : {0.3, 1.0, 5.0}) {
    for (const int64_t s : {1, 2, 3, 7}) {
      const DiscreteLaplaceProfile profile(a, static_cast<double>(s));
      const std::vector<Outcome> outcomes = LaplaceOutcomes(a, s);
      const double largest = a * static_cast<double>(s);
      std::vector<double> epsilons = {-50, 50};
      for (double part = -1.23; part < 1.3; part += 0.0777) epsilons.push_back(part * largest);
      for (int64_t k = 0; k <= s; ++k) epsilons.push_back(a * static_cast<double>(2 * k - s));
      for (const double epsilon : epsilons) {
        const Bounds log_delta = profile.LogDelta(epsilon);
        const Real truth = DeltaTruth(outcomes, epsilon);
        EXPECT_TRUE(truth <= Exp(Real(log_delta.upper)) * Real(1 + 1e-30) + Real(1e-50)) << epsilon;
        // The truth leaves out less than e^-100.
        EXPECT_TRUE(Exp(Real(log_delta.lower)) <= truth + Real(1e-40)) << epsilon;
        if (epsilon < 0.99 * largest) {
          EXPECT_LT(BracketWidth(log_delta), 1e-13) << epsilon;
        }
        const Bounds tail = profile.TailUnderQ(epsilon);
        EXPECT_TRUE(Real(tail.lower) <= TailTruth(outcomes, epsilon, 1 - 1e-13) + Real(1e-40))
            << epsilon;
        EXPECT_TRUE(TailTruth(outcomes, epsilon, 1 + 1e-13) <= Real(tail.upper)) << epsilon;
      }
      ExpectConsistent(profile, epsilons, "discrete laplace");
      ExpectReverses(profile, profile, epsilons, "discrete laplace");
    }
  }
}

TEST(DiscreteLaplaceProfile, TellsAtomsApartOnItsLattice) {
  const DiscreteLaplaceProfile profile(1, 2);  // losses -2, 0, 2
  EXPECT_EQ(profile.AtomSpacing(), 2);
  const double r = std::exp(-1.0);
  EXPECT_NEAR(profile.TailUnderQ(0).lower, r * r / (1 + r), 1e-14);  // k >= 2
  EXPECT_NEAR(profile.TailUnderQ(0).upper, r / (1 + r), 1e-14);      // k >= 1
  EXPECT_EQ(DiscreteLaplaceProfile(1, 3).AtomSpacing(), 1);
}

}  // namespace
}  // namespace epsledger::accounting
