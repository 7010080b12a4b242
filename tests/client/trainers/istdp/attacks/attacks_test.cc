// Demonstrations that the published algorithm does not have the privacy that it claims, with the
// paper's own noise.

#include "client/trainers/istdp/attacks.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "accounting/audit/two_arm.h"
#include "tests/client/trainers/run/fake_releases.h"

namespace epsledger::trainers::istdp {
namespace {

constexpr int kTrials = 20'000;
// The noise is seeded, so the lower bounds never flake.
constexpr accounting::AuditTarget kTarget{.delta = 1e-5, .confidence = 1 - 1e-6};

AttackOptions Claimed(double epsilon) {
  return {.claim = {.epsilon = epsilon, .delta = 1e-5, .iterations = 10}, .trials = kTrials};
}

SeededGaussianRelease PublishedNoise(const AttackOptions& options) {
  return SeededGaussianRelease(1, CalibrateAsPublished(options.claim)->noise_multiplier);
}

int64_t CountAbove(const std::vector<double>& scores, double threshold) {
  return std::count_if(scores.begin(), scores.end(),
                       [threshold](double score) { return score > threshold; });
}

// What the scores show of epsilon at a threshold that they did not choose.
double EpsilonLowerBound(const TrialScores& scores, double threshold) {
  const absl::StatusOr<accounting::TwoArmAudit> audit =
      accounting::AuditTwoArms({.members = kTrials,
                                .true_positives = CountAbove(scores.with_record, threshold),
                                .non_members = kTrials,
                                .false_positives = CountAbove(scores.without_record, threshold)},
                               kTarget);
  EXPECT_TRUE(audit.ok()) << audit.status();
  return audit.ok() ? audit->epsilon_lower : 0;
}

TEST(StepSizeAttack, TellsNeighborsApartWithoutError) {
  for (const double epsilon : {0.1, 1.0, 4.0}) {
    const AttackOptions options = Claimed(epsilon);
    SeededGaussianRelease release = PublishedNoise(options);
    const absl::StatusOr<TrialScores> scores = StepSizeAttack(options, release);
    ASSERT_TRUE(scores.ok()) << scores.status();
    EXPECT_EQ(CountAbove(scores->with_record, 0), kTrials) << epsilon;  // TPR 1
    EXPECT_EQ(CountAbove(scores->without_record, 0), 0) << epsilon;     // FPR 0
    const double shown = EpsilonLowerBound(*scores, 0);
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
  const double shown = EpsilonLowerBound(*scores, 0.5);
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

}  // namespace
}  // namespace epsledger::trainers::istdp
