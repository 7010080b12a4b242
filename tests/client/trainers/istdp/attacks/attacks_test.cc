// Demonstrations that the published algorithm does not have the privacy that it claims, with the
// paper's own noise.

#include "client/trainers/istdp/attacks.h"

#include <gtest/gtest.h>

#include "tests/client/trainers/istdp/attacks/lower_bounds.h"
#include "tests/client/trainers/run/fake_releases.h"

namespace epsledger::trainers::istdp {
namespace {

constexpr int kTrials = 20'000;
// The lower bounds hold with probability 1 - this; the noise is seeded, so they never flake.
constexpr double kFailure = 1e-6;

AttackOptions Claimed(double epsilon) {
  return {.claim = {.epsilon = epsilon, .delta = 1e-5, .iterations = 10}, .trials = kTrials};
}

SeededGaussianRelease PublishedNoise(const AttackOptions& options) {
  return SeededGaussianRelease(1, CalibrateAsPublished(options.claim)->noise_multiplier);
}

TEST(StepSizeAttack, TellsNeighborsApartWithoutError) {
  for (const double epsilon : {0.1, 1.0, 4.0}) {
    const AttackOptions options = Claimed(epsilon);
    SeededGaussianRelease release = PublishedNoise(options);
    const absl::StatusOr<TrialScores> scores = StepSizeAttack(options, release);
    ASSERT_TRUE(scores.ok()) << scores.status();
    EXPECT_EQ(CountAbove(scores->with_record, 0), kTrials) << epsilon;  // TPR 1
    EXPECT_EQ(CountAbove(scores->without_record, 0), 0) << epsilon;     // FPR 0
    const double shown = EpsilonLowerBound(BoundRates(*scores, 0, kFailure), 1e-5);
    RecordProperty("epsilon_at_claim_" + std::to_string(epsilon), std::to_string(shown));
    EXPECT_GT(shown, 7) << epsilon;
    EXPECT_GT(shown, epsilon);
  }
}

TEST(LineSearchAttack, SeesTheRecordInHalfOfTheRunsAndNeverWhereItIsNot) {
  const AttackOptions options = Claimed(0.1);
  SeededGaussianRelease release = PublishedNoise(options);
  const absl::StatusOr<TrialScores> scores = LineSearchAttack(options, release);
  ASSERT_TRUE(scores.ok()) << scores.status();
  EXPECT_EQ(CountAbove(scores->without_record, 0.5), 0);
  EXPECT_NEAR(CountAbove(scores->with_record, 0.5), kTrials / 2, 400);  // 5.6 standard deviations
  const double shown = EpsilonLowerBound(BoundRates(*scores, 0.5, kFailure), 1e-5);
  RecordProperty("epsilon", std::to_string(shown));
  EXPECT_GT(shown, 6.3);
}

TEST(Attacks, RefuseNoTrials) {
  AttackOptions options = Claimed(1);
  options.trials = 0;
  SeededGaussianRelease release = PublishedNoise(options);
  EXPECT_EQ(StepSizeAttack(options, release).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(LineSearchAttack(options, release).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(ClopperPearson, CoversKnownCases) {
  // 0 of n: the upper bound is 1 - failure^(1/n).
  EXPECT_NEAR(ClopperPearsonUpper(0, 100, 0.05), 1 - std::pow(0.05, 0.01), 1e-12);
  EXPECT_NEAR(ClopperPearsonLower(100, 100, 0.05), std::pow(0.05, 0.01), 1e-12);
  EXPECT_EQ(ClopperPearsonLower(0, 10, 0.05), 0);
  EXPECT_EQ(ClopperPearsonUpper(10, 10, 0.05), 1);
}

}  // namespace
}  // namespace epsledger::trainers::istdp
