#include "client/trainers/fsdp_published/attacks.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "accounting/audit/two_arm.h"
#include "accounting/gaussian/profile.h"

namespace epsledger::trainers::fsdp_published {
namespace {

constexpr double kDelta = 1e-5;
constexpr accounting::AuditTarget kTarget{.delta = kDelta, .confidence = 1 - 1e-6};

// What the counts show of epsilon at kDelta.
double EpsilonFromBelow(const AttackCounts& counts) {
  const absl::StatusOr<accounting::TwoArmAudit> audit =
      accounting::AuditTwoArms({.members = counts.trials,
                                .true_positives = counts.true_positives,
                                .non_members = counts.trials,
                                .false_positives = counts.false_positives},
                               kTarget);
  EXPECT_TRUE(audit.ok()) << audit.status();
  return audit.ok() ? audit->epsilon_lower : 0;
}

class Normal {
 public:
  explicit Normal(uint64_t seed) : generator_(seed) {}
  double operator()() { return normal_(generator_); }

 private:
  std::mt19937_64 generator_;
  std::normal_distribution<double> normal_;
};

// The sound mechanism in its shortest form: a PUBLIC basis H with orthonormal rows, each record's
// two parts clipped before they are summed, and noise on the sums. One Gaussian of noise multiplier
// 1 / sqrt(1 / sigma_V^2 + 1 / sigma_Phi^2).
BatchMechanism SoundMechanism(double embedding_noise, double residual_noise,
                              const NormalSource& normal) {
  constexpr double kClip = 1;
  Eigen::MatrixXd basis = Eigen::MatrixXd::Identity(3, 12);
  return [=, &normal](const std::vector<RecordGradient>& batch) -> absl::StatusOr<Eigen::MatrixXd> {
    Eigen::MatrixXd embedding = Eigen::MatrixXd::Zero(24, 3);
    Eigen::MatrixXd residual = Eigen::MatrixXd::Zero(24, 12);
    for (const RecordGradient& record : batch) {
      const Eigen::MatrixXd v = record.gradient * basis.transpose();
      const Eigen::MatrixXd phi = record.gradient - v * basis;
      embedding += v * std::min(1.0, kClip / std::max(v.norm(), 1e-300));
      residual += phi * std::min(1.0, kClip / std::max(phi.norm(), 1e-300));
    }
    for (double& entry : embedding.reshaped()) entry += embedding_noise * kClip * normal();
    for (double& entry : residual.reshaped()) entry += residual_noise * kClip * normal();
    return Eigen::MatrixXd(embedding * basis + residual - residual * basis.transpose() * basis);
  };
}

TEST(RowSpaceAttack, ContradictsTheClaimOfThePublishedAlgorithm) {
  Normal generator(1);
  const NormalSource normal = std::ref(generator);
  for (const double claimed : {0.5, 2.0}) {
    const Attack attack = RowSpaceAttack(7);
    const auto counts =
        RunAttack(attack, PublishedMechanism({.epsilon = claimed, .delta = kDelta}, normal), 500);
    ASSERT_TRUE(counts.ok()) << counts.status();
    EXPECT_EQ(counts->true_positives, 500);
    EXPECT_EQ(counts->false_positives, 0);
    EXPECT_GT(EpsilonFromBelow(*counts), claimed);
  }
}

TEST(RowSpaceAttack, SeesRoundingWithoutTheCanaryAndTheNoiseWithIt) {
  Normal generator(2);
  const NormalSource normal = std::ref(generator);
  const auto scores =
      Scores(RowSpaceAttack(7), PublishedMechanism({.epsilon = 2, .delta = kDelta}, normal), 50);
  ASSERT_TRUE(scores.ok());
  const double largest_without = *std::max_element(scores->without.begin(), scores->without.end());
  const double smallest_with = *std::min_element(scores->with.begin(), scores->with.end());
  // Fourteen orders of magnitude lie between: the noise itself carries the canary's direction.
  EXPECT_LT(largest_without, 1e-10 * smallest_with);
  EXPECT_GT(smallest_with, 1e3);
}

TEST(ZeroGradientAttack, ContradictsEveryFiniteClaim) {
  Normal generator(3);
  const NormalSource normal = std::ref(generator);
  const auto counts = RunAttack(ZeroGradientAttack(7),
                                PublishedMechanism({.epsilon = 2, .delta = kDelta}, normal), 500);
  ASSERT_TRUE(counts.ok()) << counts.status();
  EXPECT_EQ(counts->true_positives, 500);
  EXPECT_EQ(counts->false_positives, 0);
  EXPECT_GT(EpsilonFromBelow(*counts), 2);
}

TEST(ZeroGradientAttack, SeesExactlyZeroWithoutTheCanary) {
  Normal generator(4);
  const NormalSource normal = std::ref(generator);
  const auto scores = Scores(ZeroGradientAttack(7),
                             PublishedMechanism({.epsilon = 2, .delta = kDelta}, normal), 20);
  ASSERT_TRUE(scores.ok());
  for (const double score : scores->without) EXPECT_EQ(score, 0);
  for (const double score : scores->with) EXPECT_GT(score, 0);
}

TEST(Attacks, StayBelowTheClaimOfTheSoundMechanism) {
  Normal generator(5);
  const NormalSource normal = std::ref(generator);
  const BatchMechanism sound = SoundMechanism(2, 2, normal);
  const double mu = std::sqrt(0.5);  // 1 / sigma^2 = 1/4 + 1/4
  const double claimed = accounting::GaussianEpsilon({mu, mu}, std::log(kDelta)).upper;
  for (Attack attack : {RowSpaceAttack(7), ZeroGradientAttack(7)}) {
    // A threshold that the attack would have liked: the best on other runs of the same arms.
    auto tuning = Scores(attack, sound, 400);
    ASSERT_TRUE(tuning.ok());
    std::sort(tuning->without.begin(), tuning->without.end());
    for (const size_t quantile : {200, 360, 396}) {
      attack.threshold = tuning->without[quantile];
      const auto counts = RunAttack(attack, sound, 2000);
      ASSERT_TRUE(counts.ok());
      EXPECT_LE(EpsilonFromBelow(*counts), claimed);
    }
    // At the published thresholds everything looks the same.
    attack.threshold = 1e-3;
    const auto counts = RunAttack(attack, sound, 500);
    EXPECT_EQ(counts->true_positives, 500);
    EXPECT_EQ(counts->false_positives, 500);
    EXPECT_EQ(EpsilonFromBelow(*counts), 0);
  }
}

TEST(Attacks, AreOnNeighboringDataSets) {
  for (const Attack& attack : {RowSpaceAttack(1), ZeroGradientAttack(1)}) {
    ASSERT_EQ(attack.with.size(), attack.without.size() + 1);
    for (size_t i = 0; i < attack.without.size(); ++i) {
      EXPECT_EQ(attack.with[i].gradient, attack.without[i].gradient);
    }
    EXPECT_NEAR(attack.with.back().gradient.norm(), 1, 1e-12);
  }
}

}  // namespace
}  // namespace epsledger::trainers::fsdp_published
