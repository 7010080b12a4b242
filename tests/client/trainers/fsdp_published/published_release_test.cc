#include "client/trainers/fsdp_published/published_release.h"

#include "gtest/gtest.h"

#include <cmath>
#include <random>

namespace epsledger::trainers::fsdp_published {
namespace {

Eigen::VectorXd RandomUnit(int size, std::mt19937_64* random) {
  std::normal_distribution<double> normal;
  Eigen::VectorXd vector(size);
  for (double& entry : vector) entry = normal(*random);
  return vector.normalized();
}

double NoNoise() { return 0; }

TEST(ScalesOf, AreThePapersEquations) {
  // d = 2, p = 3, k = 1, M_V = 4, M_Phi = 0.5, epsilon 2, delta 1e-5.
  Factorization factors{.embedding = Eigen::Vector2d(1, -4),
                        .basis = Eigen::RowVector3d(1, 0, 0),
                        .residual = Eigen::MatrixXd::Constant(2, 3, 0.5)};
  const NoiseScales scales = ScalesOf({factors}, {.epsilon = 2, .delta = 1e-5});
  const double beta = 2 / (2 * std::log(1e5));
  EXPECT_DOUBLE_EQ(scales.beta, beta);
  EXPECT_DOUBLE_EQ(scales.embedding_sensitivity, 2 * 2 * 1 * 4 * std::exp(-beta));
  EXPECT_DOUBLE_EQ(scales.residual_sensitivity, 2 * 3 * 1 * 0.5 * std::exp(-beta));
  // sqrt(2 ln(1.25e5)) = 4.8448.
  EXPECT_NEAR(scales.embedding_noise, 4.8448 * scales.embedding_sensitivity / 2,
              1e-4 * scales.embedding_noise);
}

TEST(RowEpsilons, AddUpToTheBudgetTimesTheNumberOfRows) {
  const Eigen::VectorXd epsilons = RowEpsilons(Eigen::Vector4d(1, -2, 0, 5), 2);
  EXPECT_NEAR(epsilons.sum(), 4 * 2, 1e-12);
  EXPECT_NEAR(epsilons[1] / epsilons[0], 2, 1e-12);
  EXPECT_GT(epsilons[2], 0);
  // Erratum 6: the row with the most is far above the budget.
  EXPECT_GT(epsilons[3], 2);
  EXPECT_EQ(RowEpsilons(Eigen::Vector2d::Zero(), 2), Eigen::Vector2d(2, 2));
}

TEST(Relevances, AddUpToTheOutput) {
  // (6), up to the stabilizer and the bias's own share.
  Eigen::MatrixXd weights(3, 2);
  weights << 1, 2, -1, 0.5, 3, -2;
  const Eigen::Vector3d inputs(0.5, 2, 1);
  const double output = weights.col(1).dot(inputs);
  EXPECT_NEAR(Relevances(weights, Eigen::Vector2d::Zero(), inputs, 1, 1e-9).sum(), output, 1e-6);
  EXPECT_EQ(Relevances(weights, Eigen::Vector2d::Zero(), Eigen::Vector3d::Zero(), 1, 1e-3),
            Eigen::Vector3d::Zero());
}

TEST(ReleaseBatch, WithoutNoiseIsTheClippedMean) {
  // Noise scales are computed and multiplied by draws that are 0.
  std::vector<RecordGradient> batch;
  for (const double size : {1.0, 3.0}) {
    batch.push_back({.gradient = size * Eigen::MatrixXd::Identity(2, 2), .row_epsilons = {}});
  }
  const PublishedRelease release = *ReleaseBatch(
      batch, {.factorization = {.method = FactorizationMethod::kExact, .rank = 2}}, NoNoise);
  EXPECT_EQ(release.used, 2);
  EXPECT_NEAR(release.thresholds.gradient, 2 * std::sqrt(2.0), 1e-12);
  // The second is clipped from norm 3 sqrt 2 to 2 sqrt 2.
  EXPECT_LT((release.gradient - 1.5 * Eigen::MatrixXd::Identity(2, 2)).norm(), 1e-12);
}

TEST(ReleaseBatch, DropsRecordsFarFromTheOthers) {
  // Table 1's outliers, erratum 11: what one record is decides whether others are used.
  std::vector<RecordGradient> batch(20, {.gradient = Eigen::MatrixXd::Ones(2, 2)});
  EXPECT_EQ(ReleaseBatch(batch, {.factorization = {.rank = 1}}, NoNoise)->used, 20);
  batch.push_back({.gradient = 100 * Eigen::MatrixXd::Ones(2, 2)});
  EXPECT_EQ(ReleaseBatch(batch, {.factorization = {.rank = 1}}, NoNoise)->used, 20);
}

TEST(ReleaseBatch, AddsTheNoiseOfEquation8TimesTheThreshold) {
  // One entry of V, so that what is released is V + sigma C_V z with C_V known.
  const std::vector<RecordGradient> batch = {{.gradient = Eigen::MatrixXd::Constant(1, 1, 4)}};
  const PublishedOptions options{
      .factorization = {.method = FactorizationMethod::kExact, .rank = 1}};
  const NormalSource one = [] { return 1.0; };
  const PublishedRelease release = *ReleaseBatch(batch, options, one);
  const double sigma = release.scales.embedding_noise;
  EXPECT_NEAR(release.thresholds.embedding, 2 + sigma, 1e-9 * sigma);
  EXPECT_NEAR(release.gradient(0, 0), (2 + sigma * (2 + sigma)) * 2, 1e-9 * sigma * sigma);
}

TEST(ReleaseBatch, DrownsAnyGradientOfARealLayer) {
  // Erratum 8 for a layer of 64 x 100, k = 10; 784 x 1000 and k = 50 are in the README.
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal;
  std::vector<RecordGradient> batch;
  for (int i = 0; i < 4; ++i) {
    batch.push_back({.gradient = RandomUnit(64, &random) * RandomUnit(100, &random).transpose(),
                     .row_epsilons = {}});
  }
  const PublishedRelease release =
      *ReleaseBatch(batch, {.factorization = {.method = FactorizationMethod::kExact, .rank = 10}},
                    [&] { return normal(random); });
  EXPECT_GT(release.noisy_norm / release.signal_norm, 1e6);
}

TEST(ReleaseBatch, OfNothingIsNothing) {
  const absl::StatusOr<PublishedRelease> release = ReleaseBatch({}, {}, NoNoise);
  ASSERT_TRUE(release.ok());
  EXPECT_EQ(release->used, 0);
  EXPECT_EQ(release->gradient.size(), 0);
}

TEST(ReleaseBatch, RefusesWhatMakesNoSense) {
  const std::vector<RecordGradient> batch = {{.gradient = Eigen::MatrixXd::Ones(2, 2)}};
  EXPECT_EQ(ReleaseBatch(batch, {.budget = {.epsilon = 0}}, NoNoise).status().message(),
            "epsilon: got 0, want a finite number above 0");
  EXPECT_EQ(ReleaseBatch(batch, {.budget = {.delta = 1}}, NoNoise).status().message(),
            "delta: got 1, want one in (0, 1)");
  std::vector<RecordGradient> bad = batch;
  bad[0].row_epsilons = Eigen::Vector2d(1, 0);
  EXPECT_FALSE(ReleaseBatch(bad, {}, NoNoise).ok());
  bad = batch;
  bad.push_back({.gradient = Eigen::MatrixXd::Ones(3, 2)});
  EXPECT_FALSE(ReleaseBatch(bad, {}, NoNoise).ok());
  bad = batch;
  for (const double number : {std::nan(""), 1e200}) {  // of the second the norm is too large
    bad[0].gradient(0, 0) = number;
    EXPECT_FALSE(ReleaseBatch(bad, {}, NoNoise).ok());
  }
}

}  // namespace
}  // namespace epsledger::trainers::fsdp_published
