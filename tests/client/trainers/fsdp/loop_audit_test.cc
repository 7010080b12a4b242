#include "client/trainers/fsdp/loop_audit.h"

#include "gtest/gtest.h"

#include <cmath>
#include <optional>
#include <utility>

#include "tests/client/trainers/run/audited_charge.h"
#include "tests/client/trainers/run/fake_releases.h"

namespace epsledger::trainers::fsdp {
namespace {

using accounting::CanaryScores;
using accounting::NeighboringRelation;

// mu(epsilon, 1e-5) of the Gaussian mechanism.
constexpr double kMuAtOne = 0.2680511232;
constexpr double kMuAtFour = 0.9249308977;

CanaryScores ScoresOf(absl::StatusOr<ArmScores> scores) {
  EXPECT_TRUE(scores.ok()) << scores.status();
  if (!scores.ok()) return {};
  return {.members = std::move(scores->with_canary),
          .non_members = std::move(scores->without_canary)};
}

CanaryScores SeededScores(const LoopAuditOptions& options) {
  SeededGaussianRelease release(5, options.noise_multiplier);
  return ScoresOf(StepScores(options, release));
}

TEST(LoopAudit, FindsNearlyWhatSeparatelyClippedStepsClaimAndNotMore) {
  for (const auto& [mu, steps] : {std::pair(kMuAtOne, 1), std::pair(kMuAtFour, 4)}) {
    const double noise = std::sqrt(steps) / mu;
    const AuditedCharge audited = AuditGaussian(
        SeededScores(
            {.steps = steps, .trials = 100'000, .noise_multiplier = noise, .indicators = true}),
        {GaussianSteps(noise, steps)});
    EXPECT_LE(audited.lower_bound, audited.claimed);
    EXPECT_GE(audited.lower_bound, 0.7 * audited.claimed);
    EXPECT_FALSE(audited.contradicted);
  }
}

TEST(LoopAudit, FindsNotMoreThanTheClaimInOtherGeometriesAndManySteps) {
  for (const ClipGeometry geometry : {ClipGeometry::kSeparate, ClipGeometry::kJoint}) {
    for (const bool indicators : {false, true}) {
      const double noise = 2 / kMuAtFour;  // of 4 steps
      const AuditedCharge audited = AuditGaussian(SeededScores({.steps = 4,
                                                                .trials = 2000,
                                                                .noise_multiplier = noise,
                                                                .geometry = geometry,
                                                                .indicators = indicators}),
                                                  {GaussianSteps(noise, 4)});
      EXPECT_LE(audited.lower_bound, audited.claimed);
      EXPECT_GE(audited.lower_bound, 1.5);
      EXPECT_FALSE(audited.contradicted);
    }
  }
}

TEST(LoopAudit, OfPoissonBatchesFindsNotMoreThanTheClaim) {
  for (const double q : {0.1, 0.5}) {
    for (const double noise : {0.5, 1.0}) {
      for (const int steps : {1, 8}) {
        const AuditedCharge audited = AuditByCounting(SeededScores({.steps = steps,
                                                                    .trials = 1000,
                                                                    .noise_multiplier = noise,
                                                                    .indicators = true,
                                                                    .sampling_probability = q,
                                                                    .batches = SeededDraws(6, q)}),
                                                      {SampledGaussianSteps(q, noise, steps)});
        EXPECT_LE(audited.lower_bound, audited.claimed) << q << " " << noise << " " << steps;
      }
    }
  }
}

// As the test of that name of ISTDP.
TEST(LoopAudit, CatchesASamplingProbabilityThatIsTwiceWhatIsCharged) {
  constexpr int kFew = 8;
  constexpr double kNoise = 1;
  const CanaryScores scores = SeededScores({.steps = kFew,
                                            .trials = 10'000,
                                            .noise_multiplier = kNoise,
                                            .sampling_probability = 0.5,
                                            .batches = SeededDraws(7, 0.5)});
  const accounting::AuditTarget target{.delta = 0.05, .confidence = kSureTarget.confidence};
  const AuditedCharge right =
      AuditByCounting(scores, {SampledGaussianSteps(0.5, kNoise, kFew)}, target);
  EXPECT_LE(right.lower_bound, right.claimed);
  const AuditedCharge wrong =
      AuditByCounting(scores, {SampledGaussianSteps(0.25, kNoise, kFew)}, target);
  EXPECT_GT(wrong.lower_bound, wrong.claimed);
}

// V and Phi released apart, each with noise of its own, on the same record: two charges, of which
// one alone claims too little.
TEST(LoopAudit, CatchesAForgottenChargeForTheEmbedding) {
  const LoopAuditOptions options{.trials = 20'000, .noise_multiplier = 1 / kMuAtFour};
  const double embedding_share = std::sqrt(options.embedding_fraction);
  const double residual_share = std::sqrt(1 - options.embedding_fraction);
  const double embedding_noise = options.noise_multiplier / embedding_share;
  const double residual_noise = options.noise_multiplier / residual_share;
  SeededGaussianRelease embedding(8, embedding_noise);
  SeededGaussianRelease residual(9, residual_noise);
  TwoPartRelease release(kAuditedColumns, {embedding, embedding_share}, {residual, residual_share});
  const CanaryScores scores = ScoresOf(StepScores(options, release));

  const AuditedCharge both =
      AuditGaussian(scores, {GaussianSteps(embedding_noise, 1), GaussianSteps(residual_noise, 1)});
  EXPECT_NEAR(both.claimed, 4, 1e-6);
  EXPECT_LE(both.lower_bound, both.claimed);
  EXPECT_FALSE(both.contradicted);
  const AuditedCharge forgotten = AuditGaussian(scores, {GaussianSteps(residual_noise, 1)});
  EXPECT_GT(forgotten.lower_bound, forgotten.claimed);
  EXPECT_TRUE(forgotten.contradicted);
}

TEST(LoopAudit, CatchesNoiseOnOnePartOnly) {
  LoopAuditOptions options{.trials = 1000, .noise_multiplier = 1 / kMuAtFour};
  for (const bool canary_is_noised : {true, false}) {
    // Noise on the residual: H across the canary's delta leaves all of it there, along it nothing.
    options.subspace.resize(1, 3);
    if (canary_is_noised) {
      options.subspace << 0, std::sqrt(0.5F), -std::sqrt(0.5F);
    } else {
      options.subspace << -std::sqrt(2 / 3.0F), std::sqrt(1 / 6.0F), std::sqrt(1 / 6.0F);
    }
    SeededGaussianRelease gaussian(10, options.noise_multiplier);
    ExactRelease exact;
    TwoPartRelease release(kAuditedColumns, {exact, 1}, {gaussian, 1});
    const AuditedCharge audited = AuditGaussian(ScoresOf(StepScores(options, release)),
                                                {GaussianSteps(options.noise_multiplier, 1)});
    EXPECT_EQ(audited.lower_bound > audited.claimed, !canary_is_noised);
    EXPECT_EQ(audited.contradicted, !canary_is_noised);
  }
}

// One record replaced by its opposite, charged for as if it were added or removed.
TEST(LoopAudit, CatchesTheWrongAdjacency) {
  const double noise = 1 / kMuAtFour;
  const CanaryScores scores =
      SeededScores({.trials = 20'000, .noise_multiplier = noise, .replaced = true});
  const AuditedCharge wrong = AuditGaussian(scores, {GaussianSteps(noise, 1)});
  EXPECT_GT(wrong.lower_bound, wrong.claimed);
  EXPECT_TRUE(wrong.contradicted);
  const AuditedCharge right =
      AuditGaussian(scores, {GaussianSteps(noise, 1)}, NeighboringRelation::kReplaceOne);
  EXPECT_LE(right.lower_bound, right.claimed);
  EXPECT_FALSE(right.contradicted);
}

TEST(LoopAudit, NothingIsFoundWhereThereIsNothing) {
  EXPECT_EQ(AuditGaussian(SeededScores({.trials = 2000, .noise_multiplier = 1e6}),
                          {GaussianSteps(1e6, 1)})
                .lower_bound,
            0);
}

TEST(LoopAudit, RefusesOptionsOutsideTheirDomain) {
  ExactRelease release;
  for (const LoopAuditOptions& bad : {LoopAuditOptions{.steps = 0}, LoopAuditOptions{.trials = -1},
                                      LoopAuditOptions{.sampling_probability = 0.5},
                                      LoopAuditOptions{.batches = SeededDraws(1, 1)}}) {
    EXPECT_EQ(StepScores(bad, release).status().code(), absl::StatusCode::kInvalidArgument);
  }
}

}  // namespace
}  // namespace epsledger::trainers::fsdp
