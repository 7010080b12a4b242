// The sound trainers, audited by what the strongest adversary sees of them: the lower bound on
// epsilon must stay below the claim, and close to it, or the noise is not what it should be.

#include "client/trainers/istdp/loop_audit.h"

#include "gtest/gtest.h"

#include <cmath>
#include <optional>

#include "tests/client/trainers/run/audited_charge.h"
#include "tests/client/trainers/run/fake_releases.h"

namespace epsledger::trainers::istdp {
namespace {

using accounting::CanaryScores;
using accounting::NeighboringRelation;

constexpr int kSteps = 30;
// mu(epsilon, 1e-5) of the Gaussian mechanism.
constexpr double kMuAtOne = 0.2680511232;
constexpr double kMuAtFour = 0.9249308977;

// What each of the steps needs for a run that is mu-GDP.
double NoiseOfStep(double mu) { return std::sqrt(kSteps) / mu; }

CanaryScores ScoresOf(absl::StatusOr<TrialScores> scores) {
  EXPECT_TRUE(scores.ok()) << scores.status();
  if (!scores.ok()) return {};
  return {.members = std::move(scores->with_record),
          .non_members = std::move(scores->without_record)};
}

// A run with the noise that it is meant to have, or another one.
CanaryScores SeededScores(const LoopAuditOptions& options, std::optional<double> noise = {}) {
  SeededGaussianRelease release(11, noise.value_or(options.noise_multiplier));
  return ScoresOf(SoundLoopScores(options, release));
}

TEST(LoopAudit, OfTheSoundTrainerStaysBelowTheClaimAndClose) {
  for (const double mu : {kMuAtOne, kMuAtFour}) {
    const double noise = NoiseOfStep(mu);
    const AuditedCharge audited =
        AuditGaussian(SeededScores({.steps = kSteps, .trials = 100'000, .noise_multiplier = noise}),
                      {GaussianSteps(noise, kSteps)});
    EXPECT_LE(audited.lower_bound, audited.claimed);
    EXPECT_GE(audited.lower_bound, 0.7 * audited.claimed);
    EXPECT_FALSE(audited.contradicted);
  }
}

TEST(LoopAudit, OfFewRunsStaysBelowTheClaim) {
  for (const double mu : {0.1422105587, 0.5015516892, 1.6660305978}) {
    const double noise = NoiseOfStep(mu);
    const AuditedCharge audited =
        AuditGaussian(SeededScores({.steps = kSteps, .trials = 1000, .noise_multiplier = noise}),
                      {GaussianSteps(noise, kSteps)});
    EXPECT_LE(audited.lower_bound, audited.claimed);
    EXPECT_FALSE(audited.contradicted);
  }
}

TEST(LoopAudit, OfNoiseThatDrownsEverythingIsZero) {
  const AuditedCharge audited =
      AuditGaussian(SeededScores({.steps = kSteps, .trials = 1000, .noise_multiplier = 1e6}),
                    {GaussianSteps(1e6, kSteps)});
  EXPECT_EQ(audited.lower_bound, 0);
}

TEST(LoopAudit, OfPoissonBatchesStaysBelowTheClaim) {
  for (const double q : {0.1, 0.5}) {
    for (const double noise : {0.5, 1.0, 2.0}) {
      for (const int steps : {1, 4, 16}) {
        const AuditedCharge audited = AuditByCounting(
            SeededScores({.steps = steps,
                          .trials = 1000,
                          .noise_multiplier = noise,
                          .batches = {.sampling_probability = q, .draw = SeededDraws(12, q)}}),
            {SampledGaussianSteps(q, noise, steps)});
        EXPECT_LE(audited.lower_bound, audited.claimed) << q << " " << noise << " " << steps;
      }
    }
  }
}

// The canary is in half of the batches and a quarter is charged. At delta 1e-5 no number of runs
// that a test can afford shows it without a hypothesis; at .05 a claim of 1.32 meets some 2.1.
TEST(LoopAudit, CatchesASamplingProbabilityThatIsTwiceWhatIsCharged) {
  constexpr int kFew = 8;
  constexpr double kNoise = 1;
  const CanaryScores scores =
      SeededScores({.steps = kFew,
                    .trials = 10'000,
                    .noise_multiplier = kNoise,
                    .batches = {.sampling_probability = 0.5, .draw = SeededDraws(13, 0.5)}});
  const accounting::AuditTarget target{.delta = 0.05, .confidence = kSureTarget.confidence};
  const AuditedCharge right =
      AuditByCounting(scores, {SampledGaussianSteps(0.5, kNoise, kFew)}, target);
  EXPECT_LE(right.lower_bound, right.claimed);
  const AuditedCharge wrong =
      AuditByCounting(scores, {SampledGaussianSteps(0.25, kNoise, kFew)}, target);
  EXPECT_GT(wrong.lower_bound, wrong.claimed);
}

TEST(LoopAudit, CatchesAContributionTwiceAsLargeAsWhatTheNoiseIsFor) {
  const double noise = NoiseOfStep(kMuAtFour);
  const AuditedCharge audited = AuditGaussian(
      SeededScores(
          {.steps = kSteps, .trials = 20'000, .noise_multiplier = noise, .contribution = 2}),
      {GaussianSteps(noise, kSteps)});
  EXPECT_GT(audited.lower_bound, audited.claimed);
  EXPECT_TRUE(audited.contradicted);
}

// One record replaced by its opposite, charged for as if it were added or removed.
TEST(LoopAudit, CatchesTheWrongAdjacency) {
  const double noise = NoiseOfStep(kMuAtFour);
  const CanaryScores scores = SeededScores(
      {.steps = kSteps, .trials = 20'000, .noise_multiplier = noise, .replaced = true});
  const AuditedCharge wrong = AuditGaussian(scores, {GaussianSteps(noise, kSteps)});
  EXPECT_GT(wrong.lower_bound, wrong.claimed);
  EXPECT_TRUE(wrong.contradicted);
  const AuditedCharge right =
      AuditGaussian(scores, {GaussianSteps(noise, kSteps)}, NeighboringRelation::kReplaceOne);
  EXPECT_LE(right.lower_bound, right.claimed);
  EXPECT_FALSE(right.contradicted);
}

// One record replaced by its opposite in Poisson batches. At delta .05 add-or-remove-one claims .99
// for what costs 2.56 under replace-one.
TEST(LoopAudit, CatchesTheWrongAdjacencyOfPoissonBatches) {
  constexpr int kFew = 8;
  constexpr double kProbability = 0.5;
  constexpr double kNoise = 2;
  const CanaryScores scores = SeededScores(
      {.steps = kFew,
       .trials = 10'000,
       .noise_multiplier = kNoise,
       .batches = {.sampling_probability = kProbability, .draw = SeededDraws(18, kProbability)},
       .replaced = true});
  const Charges charges = {SampledGaussianSteps(kProbability, kNoise, kFew)};
  const accounting::AuditTarget target{.delta = 0.05, .confidence = kSureTarget.confidence};
  const AuditedCharge right =
      AuditByCounting(scores, charges, target, NeighboringRelation::kReplaceOne);
  EXPECT_LE(right.lower_bound, right.claimed);
  EXPECT_GE(right.lower_bound, 0.6 * right.claimed);
  const AuditedCharge wrong = AuditByCounting(scores, charges, target);
  EXPECT_LT(wrong.claimed, 1);
  EXPECT_GT(wrong.lower_bound, wrong.claimed);
}

TEST(LoopAudit, CatchesNoiseOnOneGroupOfCoordinatesOnly) {
  const double noise = NoiseOfStep(kMuAtFour);
  // Three features, of which the first one's gradient gets noise.
  for (const bool canary_is_noised : {true, false}) {
    SeededGaussianRelease gaussian(14, noise);
    ExactRelease exact;
    TwoPartRelease release(1, {gaussian, 1}, {exact, 1});
    const AuditedCharge audited = AuditGaussian(
        ScoresOf(SoundLoopScores(
            {.steps = kSteps,
             .trials = 1000,
             .noise_multiplier = noise,
             .direction = canary_is_noised ? Eigen::Vector3d(1, 0, 0) : Eigen::Vector3d(0, 1, -1)},
            release)),
        {GaussianSteps(noise, kSteps)});
    EXPECT_EQ(audited.lower_bound > audited.claimed, !canary_is_noised);
    EXPECT_EQ(audited.contradicted, !canary_is_noised);
  }
}

TEST(LoopAudit, CatchesAForgottenCharge) {
  // Twice as many releases as were paid for.
  const double noise = NoiseOfStep(kMuAtFour);
  const CanaryScores scores =
      SeededScores({.steps = 2 * kSteps, .trials = 20'000, .noise_multiplier = noise});
  const AuditedCharge audited = AuditGaussian(scores, {GaussianSteps(noise, kSteps)});
  EXPECT_GT(audited.lower_bound, audited.claimed);
  EXPECT_TRUE(audited.contradicted);
}

TEST(LoopAudit, OfARunWithTooMuchNoiseIsNoticedAsFarBelowTheClaim) {
  const double noise = NoiseOfStep(kMuAtFour);
  const AuditedCharge audited = AuditGaussian(
      SeededScores({.steps = kSteps, .trials = 20'000, .noise_multiplier = noise}, 2 * noise),
      {GaussianSteps(noise, kSteps)});
  EXPECT_LT(audited.lower_bound, 0.7 * audited.claimed);
}

// Two releases a step, of which the comparison costs the given share.
CanaryScores LineSearchScores(LoopAuditOptions options, const LineSearchNoise& noise) {
  SeededGaussianRelease gradients(15, noise.gradient);
  SeededGaussianRelease comparisons(16, noise.comparison);
  return ScoresOf(SoundLineSearchLoopScores(options, {}, noise, gradients, comparisons));
}

TEST(LineSearchLoopAudit, StaysBelowTheClaim) {
  for (const double share : {0.2, 0.8}) {
    for (const double mu : {kMuAtOne, kMuAtFour}) {
      const LineSearchNoise noise = LineSearchNoiseFor(NoiseOfStep(mu), share);
      const AuditedCharge audited = AuditGaussian(
          LineSearchScores({.steps = kSteps, .trials = 1000}, noise),
          {GaussianSteps(noise.gradient, kSteps), GaussianSteps(noise.comparison, kSteps)});
      EXPECT_LE(audited.lower_bound, audited.claimed);
      EXPECT_FALSE(audited.contradicted);
    }
  }
}

TEST(LineSearchLoopAudit, OfPoissonBatchesStaysBelowTheClaim) {
  constexpr double kProbability = 0.5;
  const LineSearchNoise noise = LineSearchNoiseFor(1, 0.5);
  const AuditedCharge audited =
      AuditByCounting(LineSearchScores({.steps = 4,
                                        .trials = 1000,
                                        .batches = {.sampling_probability = kProbability,
                                                    .draw = SeededDraws(17, kProbability)}},
                                       noise),
                      {SampledGaussianSteps(kProbability, noise.gradient, 4),
                       SampledGaussianSteps(kProbability, noise.comparison, 4)});
  EXPECT_LE(audited.lower_bound, audited.claimed);
}

// The audit sees comparisons, not gradients alone.
TEST(LineSearchLoopAudit, CatchesAForgottenChargeForTheComparisons) {
  const LineSearchNoise noise = LineSearchNoiseFor(NoiseOfStep(2 * kMuAtFour), 0.75);
  const AuditedCharge audited =
      AuditGaussian(LineSearchScores({.steps = kSteps, .trials = 5000}, noise),
                    {GaussianSteps(noise.gradient, kSteps)});
  EXPECT_NEAR(audited.claimed, 4, 1e-6);
  EXPECT_GT(audited.lower_bound, audited.claimed);
  EXPECT_TRUE(audited.contradicted);
}

TEST(LoopAudit, RefusesOptionsOutsideTheirDomain) {
  ExactRelease release;
  for (const LoopAuditOptions& bad :
       {LoopAuditOptions{.trials = 0}, LoopAuditOptions{.noise_multiplier = 0},
        LoopAuditOptions{.batches = {.sampling_probability = 0.5, .draw = {}}},
        LoopAuditOptions{.direction = Eigen::Vector2d(0, 0)}}) {
    EXPECT_EQ(SoundLoopScores(bad, release).status().code(), absl::StatusCode::kInvalidArgument);
  }
  EXPECT_EQ(
      SoundLineSearchLoopScores({.direction = Eigen::Vector2d(1, 0)}, {}, {1, 1}, release, release)
          .status()
          .code(),
      absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace epsledger::trainers::istdp
