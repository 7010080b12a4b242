#include "accounting/profile/finite_pair_profile.h"
#include "accounting/profile/mixed_profile.h"

#include <cmath>
#include <cstdint>
#include <memory>
#include <random>
#include <vector>

#include "accounting/event/validation.h"
#include "gtest/gtest.h"
#include "tests/accounting/profile/atoms_truth.h"
#include "tests/accounting/profile/profile_checks.h"

namespace epsledger::accounting {
namespace {

// What the event means, at 512 bits: divided by a sum near 1, else with the missing mass as an
// outcome of its own.
std::vector<Outcome> MeaningOf(const DominatingPair& event) {
  Real p_sum = 0;
  Real q_sum = 0;
  for (size_t i = 0; i < event.first_probabilities.size(); ++i) {
    p_sum = p_sum + Real(event.first_probabilities[i]);
    q_sum = q_sum + Real(event.second_probabilities[i]);
  }
  const bool p_whole = Real(1 - 0x1p-48) <= p_sum;
  const bool q_whole = Real(1 - 0x1p-48) <= q_sum;
  std::vector<Outcome> outcomes;
  for (size_t i = 0; i < event.first_probabilities.size(); ++i) {
    outcomes.push_back({Real(event.first_probabilities[i]) / (p_whole ? p_sum : Real(1)),
                        Real(event.second_probabilities[i]) / (q_whole ? q_sum : Real(1))});
  }
  if (!p_whole) outcomes.push_back({Real(1) - p_sum, 0});
  if (!q_whole) outcomes.push_back({0, Real(1) - q_sum});
  return outcomes;
}

// A pair of `size` outcomes: some equal under both, some of one law alone, some far apart.
DominatingPair RandomPair(uint64_t seed, int size, double missing) {
  std::mt19937_64 bits(seed);
  const auto unit = [&] { return static_cast<double>(bits() >> 11) * 0x1p-53; };
  DominatingPair pair;
  double p_sum = 0;
  double q_sum = 0;
  for (int i = 0; i < size; ++i) {
    const double p = unit();
    double q = p;
    if (bits() % 3 != 0) q = p * std::exp((unit() - 0.5) * (bits() % 2 == 0 ? 1e-3 : 20));
    pair.first_probabilities.push_back(bits() % 11 == 0 ? 0 : p);
    pair.second_probabilities.push_back(bits() % 11 == 0 ? 0 : q);
    p_sum += pair.first_probabilities.back();
    q_sum += pair.second_probabilities.back();
  }
  for (double& p : pair.first_probabilities) p = (1 - missing) * (p / p_sum);
  for (double& q : pair.second_probabilities) q = (1 - missing) * (q / q_sum);
  EXPECT_TRUE(Validate(MechanismEvent(pair), "event").ok());
  return pair;
}

// The laws have sums that are rounded at 512 bits.
Real AtMostOne(const Real& delta) { return Real(1) < delta ? Real(1) : delta; }

void ExpectIsThePair(const DominatingPair& event, const char* what) {
  const FinitePairProfile forward(FinitePairOf(event));
  const FinitePairProfile backward(FinitePairOf(Reverse(event)));
  const std::vector<Outcome> outcomes = MeaningOf(event);
  std::vector<double> epsilons = {-700, -600, -30, -1, -1e-3, -1e-9, 0,
                                  1e-9, 1e-3, 1,   30, 650,   700};
  for (size_t i = 0; i < event.first_probabilities.size(); ++i) {
    const double loss = std::log(event.first_probabilities[i] / event.second_probabilities[i]);
    if (!std::isfinite(loss)) continue;
    for (const double near : {-1e-13, 0.0, 1e-13}) epsilons.push_back(loss + near);
    if (epsilons.size() > 60) break;
  }
  for (const double epsilon : epsilons) {
    const Bounds log_delta = forward.LogDelta(epsilon);
    const Real truth = AtMostOne(DeltaTruth(outcomes, epsilon));
    ExpectBrackets(log_delta, truth, what, epsilon);
    const ProfilePoint point = forward.Around(epsilon, 1e-3);
    EXPECT_TRUE(Real(point.delta.lower) <= DeltaTruth(outcomes, epsilon + 1e-3)) << epsilon;
    EXPECT_TRUE(AtMostOne(DeltaTruth(outcomes, epsilon - 1e-3)) <= Real(point.delta.upper))
        << epsilon;
    // Only the upper end knows of a tiny outcome.
    if (epsilon > -600 && !FinitePairOf(event).has_tiny) {
      EXPECT_LE(std::exp(log_delta.upper) - std::exp(log_delta.lower), 3e-14) << epsilon;
    }
    const Bounds tail = forward.TailUnderQ(epsilon);
    EXPECT_TRUE(Real(tail.lower) <= TailTruth(outcomes, epsilon, 1 - 1e-15) + Real(1e-120))
        << what << epsilon;
    EXPECT_TRUE(TailTruth(outcomes, epsilon, 1 + 1e-15) <= Real(tail.upper)) << what << epsilon;
  }
  ExpectConsistent(forward, epsilons, what);
  ExpectReverses(forward, backward, epsilons, what);
}

TEST(FinitePairProfile, BracketsTheSumOverTheOutcomes) {
  ExpectIsThePair({{0.5, 0.25, 0.25}, {0.25, 0.25, 0.5}}, "exact numbers");
  ExpectIsThePair({{0.1, 0.2, 0.7}, {0.7, 0.2, 0.1}}, "rounded numbers");
  ExpectIsThePair({{0.1, 0, 0.9}, {0, 0.2, 0.8}}, "outcomes of one law alone");
  ExpectIsThePair({{1, 0}, {0, 1}}, "nothing in common");
  ExpectIsThePair({{1}, {1}}, "nothing revealed");
  ExpectIsThePair({{1 - 1e-9, 0}, {0.25, 0.75 - 1e-10}}, "mass missing");
  ExpectIsThePair({{1e-300, 1e-300, 1}, {1e-300, 0.5, 0.5}}, "tiny");
  ExpectIsThePair({{5e-324, 0.5, 0.5}, {0.5, 5e-324, 0.5}}, "subnormal");
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    ExpectIsThePair(RandomPair(seed, static_cast<int>(1 + seed * seed), seed % 2 == 0 ? 0 : 7e-10),
                    "random");
  }
}

TEST(FinitePairProfile, KeepsItsDigitsOverTenThousandOutcomes) {
  ExpectIsThePair(RandomPair(1, 10000, 0), "ten thousand");
}

TEST(FinitePairProfile, CoversEveryPairThatWasRoundedDown) {
  // A law known to 9 digits, rounded down: whatever the digits beyond, it is at most the profile.
  const std::vector<Outcome> truth = {{Real(1) / Real(3), Real(1) / Real(7)},
                                      {Real(1) / Real(3), Real(5) / Real(7)},
                                      {Real(1) / Real(3), Real(1) / Real(7)}};
  const DominatingPair event{{0.3333333333, 0.3333333333, 0.3333333333},
                             {0.1428571428, 0.7142857142, 0.1428571428}};
  const FinitePairProfile forward(FinitePairOf(event));
  for (const double epsilon : {-2.0, -0.5, 0.0, 0.5, 0.8472978603, 0.8472978604, 1.0, 5.0}) {
    EXPECT_TRUE(DeltaTruth(truth, epsilon) <= Exp(Real(forward.LogDelta(epsilon).upper)))
        << epsilon;
  }
}

TEST(FinitePairProfile, SaysWhereItsLossesLie) {
  const FinitePairProfile response(FinitePairOf({{0.75, 0.25}, {0.25, 0.75}}));
  EXPECT_NEAR(response.AtomSpacing(), std::log(3), 1e-14);
  EXPECT_GE(response.LargestLoss(), std::log(3));
  EXPECT_LE(response.SmallestLoss(), -std::log(3));
  EXPECT_EQ(response.InfinityMass(), 0);
  EXPECT_EQ(FinitePairProfile(FinitePairOf({{0.5, 0.5}, {0.3, 0.7}})).AtomSpacing(), 0);
  EXPECT_EQ(FinitePairProfile(FinitePairOf({{1}, {1}})).LogDelta(1).upper, -HUGE_VAL);
  EXPECT_NEAR(FinitePairProfile(FinitePairOf({{0.5, 0.5}, {1, 0}})).InfinityMass(), 0.5, 1e-15);
}

TEST(LargerProfile, IsTheLargerOfBothOrders) {
  const DominatingPair event{{0.5, 0.4, 0.1}, {0.2, 0.3, 0.5}};
  const auto forward = std::make_shared<FinitePairProfile>(FinitePairOf(event));
  const auto backward = std::make_shared<FinitePairProfile>(FinitePairOf(Reverse(event)));
  const LargerProfile larger(forward, backward);
  const std::vector<Outcome> outcomes = MeaningOf(event);
  const std::vector<Outcome> turned = MeaningOf(Reverse(event));
  std::vector<double> epsilons;
  for (double epsilon = -2; epsilon < 2; epsilon += 0.0625) epsilons.push_back(epsilon);
  for (const double epsilon : epsilons) {
    const Real one = DeltaTruth(outcomes, epsilon);
    const Real other = DeltaTruth(turned, epsilon);
    ExpectBrackets(larger.LogDelta(epsilon), one < other ? other : one, "larger", epsilon);
  }
  ExpectConsistent(larger, epsilons, "larger");
  ExpectReverses(larger, larger, epsilons, "larger");
  EXPECT_FALSE(larger.exact());
}

}  // namespace
}  // namespace epsledger::accounting
