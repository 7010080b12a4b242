#include "client/trainers/fsdp/loop_audit.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "client/trainers/fsdp/relevance.h"
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

// As the test of that name of ISTDP.
TEST(LoopAudit, CatchesTheWrongAdjacencyOfPoissonBatches) {
  constexpr int kFew = 8;
  constexpr double kProbability = 0.5;
  constexpr double kNoise = 2;
  const CanaryScores scores = SeededScores({.steps = kFew,
                                            .trials = 10'000,
                                            .noise_multiplier = kNoise,
                                            .sampling_probability = kProbability,
                                            .batches = SeededDraws(11, kProbability),
                                            .replaced = true});
  const Charges charges = {SampledGaussianSteps(kProbability, kNoise, kFew)};
  const accounting::AuditTarget target{.delta = 0.05, .confidence = kSureTarget.confidence};
  const AuditedCharge right =
      AuditByCounting(scores, charges, target, NeighboringRelation::kReplaceOne);
  EXPECT_LE(right.lower_bound, right.claimed);
  EXPECT_GE(right.lower_bound, 0.6 * right.claimed);
  const AuditedCharge wrong = AuditByCounting(scores, charges, target);
  EXPECT_GT(wrong.lower_bound, wrong.claimed);
}

// The counts of quantile clipping released apart, with as much of the noise budget as they may
// have: 2 / 2.02^2 = .49 of it.
TEST(LoopAudit, CatchesIndicatorsThatAreNotCharged) {
  const LoopAuditOptions options{.trials = 20'000,
                                 .noise_multiplier = 1 / kMuAtFour,
                                 .indicators = true,
                                 .indicator_noise = 1.01};
  const double indicator_share = 1 / (2 * options.indicator_noise);
  const double gradient_share = std::sqrt(1 - 2 * indicator_share * indicator_share);
  const double gradient_noise = options.noise_multiplier / gradient_share;
  const double indicator_noise = options.noise_multiplier / indicator_share;
  SeededGaussianRelease gradient(12, gradient_noise);
  SeededGaussianRelease counts(13, indicator_noise);
  TwoPartRelease release(kAuditedColumns * (1 + kAuditedOutputs), {gradient, gradient_share},
                         {counts, indicator_share});
  const CanaryScores scores = ScoresOf(StepScores(options, release));

  const AuditedCharge all =
      AuditGaussian(scores, {GaussianSteps(gradient_noise, 1), GaussianSteps(indicator_noise, 2)});
  EXPECT_NEAR(all.claimed, 4, 1e-6);
  EXPECT_LE(all.lower_bound, all.claimed);
  EXPECT_GE(all.lower_bound, 0.7 * all.claimed);
  EXPECT_FALSE(all.contradicted);
  const AuditedCharge forgotten = AuditGaussian(scores, {GaussianSteps(gradient_noise, 1)});
  EXPECT_GT(forgotten.lower_bound, forgotten.claimed);
  EXPECT_TRUE(forgotten.contradicted);
}

// Two clips, and for each part the noise that one clip for both would allow.
TEST(LoopAudit, CatchesSeparateClipsThatAreChargedAsAJointOne) {
  const double noise = 1 / kMuAtFour;
  const LoopAuditOptions options{
      .trials = 20'000, .noise_multiplier = noise, .embedding_fraction = 0.5};
  const double share = std::sqrt(0.5);
  SeededGaussianRelease embedding(14, noise);
  SeededGaussianRelease residual(15, noise);
  TwoPartRelease release(kAuditedColumns, {embedding, share}, {residual, share});
  const CanaryScores scores = ScoresOf(StepScores(options, release));
  const AuditedCharge joint = AuditGaussian(scores, {GaussianSteps(noise, 1)});
  EXPECT_GT(joint.lower_bound, joint.claimed);
  EXPECT_TRUE(joint.contradicted);
  const AuditedCharge both = AuditGaussian(scores, {GaussianSteps(noise, 2)});
  EXPECT_LE(both.lower_bound, both.claimed);
  EXPECT_FALSE(both.contradicted);
}

// Adds noise in proportion to the scales of the two columns. Without indicators a released vector
// has the columns of the embedding, one number each, then those of the residual, kAuditedOutputs
// numbers each.
class ShapedRelease : public GradientRelease {
 public:
  ShapedRelease(uint64_t seed, double noise_multiplier, network::Vector<float> scales)
      : inner_(seed, noise_multiplier), scales_(std::move(scales)) {}

  absl::StatusOr<Eigen::VectorXd> Release(const Eigen::VectorXd& exact_sum,
                                          double contribution) override {
    const Eigen::VectorXd zero = Eigen::VectorXd::Zero(exact_sum.size());
    absl::StatusOr<Eigen::VectorXd> noise = inner_.Release(zero, contribution);
    if (!noise.ok()) return noise;
    for (Eigen::Index i = 0; i < noise->size(); ++i) {
      const Eigen::Index column = i < kAuditedColumns ? i : (i - kAuditedColumns) / kAuditedOutputs;
      (*noise)[i] *= scales_[column];
    }
    return exact_sum + *noise;
  }

 private:
  SeededGaussianRelease inner_;
  network::Vector<float> scales_;
};

// Scales cost nothing if clipping is for the scaled gradient, and are wrong if it is not: half of
// the noise on the input's column, where the canary is.
TEST(LoopAudit, CatchesScalesThatShapeTheNoiseWithoutTheClipping) {
  const double noise = 1 / kMuAtFour;
  network::Vector<float> scales(kAuditedColumns);
  scales << 0.5F, 2.0F;
  const AuditedCharge right = AuditGaussian(
      SeededScores({.trials = 20'000, .noise_multiplier = noise, .column_scales = scales}),
      {GaussianSteps(noise, 1)});
  EXPECT_LE(right.lower_bound, right.claimed);
  EXPECT_GE(right.lower_bound, 0.7 * right.claimed);
  EXPECT_FALSE(right.contradicted);

  ShapedRelease shaped(16, noise, scales);
  const AuditedCharge wrong =
      AuditGaussian(ScoresOf(StepScores({.trials = 20'000, .noise_multiplier = noise}, shaped)),
                    {GaussianSteps(noise, 1)});
  EXPECT_GT(wrong.lower_bound, wrong.claimed);
  EXPECT_TRUE(wrong.contradicted);
}

// A layer of two inputs whose scales are the relevances of the last release, or, which is wrong, of
// the gradient that is about to be released, as the paper has it. The attack reads the scales off
// the noise: its score is how much more of it the first input has. The canary's gradient is of the
// first input alone.
CanaryScores NoiseShapeScores(bool from_the_records, double noise, int steps, int trials) {
  constexpr int kRows = 8;
  SeededGaussianRelease release(17, noise);
  const auto score = [&](bool present) {
    Eigen::MatrixXd gradient = Eigen::MatrixXd::Zero(kRows, 2);
    Eigen::MatrixXd previous = gradient;
    Eigen::Vector2d energy = Eigen::Vector2d::Zero();
    if (present) gradient.col(0).setConstant(1 / std::sqrt(kRows));
    for (int step = 0; step < steps; ++step) {
      const Eigen::MatrixXd& source = from_the_records ? gradient : previous;
      const network::Vector<float> scales = ScalesOf(source.colwise().squaredNorm().transpose());
      Eigen::MatrixXd clipped = gradient;
      for (const int column : {0, 1}) clipped.col(column) /= scales[column];
      clipped /= std::max(1.0, clipped.norm());
      Eigen::MatrixXd released =
          release.Release(clipped.reshaped(), 1)->reshaped(clipped.rows(), clipped.cols());
      for (const int column : {0, 1}) released.col(column) *= scales[column];
      energy += released.colwise().squaredNorm().transpose();
      previous = released;
    }
    return std::log(energy[0] / energy[1]);
  };
  CanaryScores scores;
  for (int trial = 0; trial < trials; ++trial) {
    scores.members.push_back(score(true));
    scores.non_members.push_back(score(false));
  }
  return scores;
}

TEST(LoopAudit, CatchesScalesThatAreReadFromTheRecords) {
  constexpr int kSome = 16;
  const double noise = std::sqrt(kSome) / kMuAtOne;
  for (const bool from_the_records : {false, true}) {
    const AuditedCharge audited = AuditByCounting(
        NoiseShapeScores(from_the_records, noise, kSome, 4000), {GaussianSteps(noise, kSome)});
    EXPECT_NEAR(audited.claimed, 1, 1e-6);
    EXPECT_EQ(audited.lower_bound > audited.claimed, from_the_records);
  }
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
