#include "client/trainers/fsdp_published/factorization.h"

#include "gtest/gtest.h"

#include <cmath>
#include <random>

namespace epsledger::trainers::fsdp_published {
namespace {

Eigen::MatrixXd Random(int rows, int columns, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  Eigen::MatrixXd matrix(rows, columns);
  for (double& entry : matrix.reshaped()) entry = normal(random);
  return matrix;
}

TEST(Factor, AddsUpToTheGradient) {
  const Eigen::MatrixXd gradient = Random(7, 5, 1);
  for (const auto method : {FactorizationMethod::kGradientDescent, FactorizationMethod::kExact}) {
    const Factorization f = *Factor(gradient, {.method = method, .rank = 3});
    EXPECT_EQ(f.embedding.cols(), 3);
    EXPECT_EQ(f.basis.rows(), 3);
    EXPECT_LT((f.embedding * f.basis + f.residual - gradient).norm(), 1e-12);
    EXPECT_GT(f.residual.norm(), 0.1);
  }
}

TEST(Factor, OfOneRecordsFullyConnectedGradientLeavesNothing) {
  const Eigen::MatrixXd gradient = Random(9, 1, 1) * Random(1, 4, 2);
  const Factorization exact = *Factor(gradient, {.method = FactorizationMethod::kExact, .rank = 1});
  EXPECT_EQ(exact.residual.norm(), 0);
  EXPECT_NEAR(exact.embedding.norm(), exact.basis.norm(), 1e-12);
  // Gradient descent gets near it.
  const Factorization descended =
      *Factor(gradient, {.rank = 2, .steps = 3000, .learning_rate = 0.1, .regularization = 0});
  EXPECT_LT(descended.residual.norm(), 1e-6 * gradient.norm());
}

TEST(Factor, ByGradientDescentReachesTheBestRankKApproximation) {
  const Eigen::MatrixXd gradient = Random(8, 6, 3);
  const double best =
      Factor(gradient, {.method = FactorizationMethod::kExact, .rank = 2})->residual.norm();
  const double descended =
      Factor(gradient, {.rank = 2, .steps = 5000, .learning_rate = 0.1, .regularization = 0})
          ->residual.norm();
  EXPECT_NEAR(descended, best, 1e-6 * best);
}

TEST(Factor, HasNoUniqueEmbedding) {
  // Erratum 1: two seeds agree on V H and not at all on V.
  const Eigen::MatrixXd gradient = Random(8, 6, 3);
  FactorizationOptions options{.rank = 4, .steps = 5000, .regularization = 0};
  const Factorization first = *Factor(gradient, options);
  options.seed = 2;
  const Factorization second = *Factor(gradient, options);
  EXPECT_LT((first.embedding * first.basis - second.embedding * second.basis).norm(),
            1e-4 * gradient.norm());
  EXPECT_GT((first.embedding - second.embedding).norm(), 0.5 * first.embedding.norm());
}

TEST(Factor, OfAZeroGradientIsZero) {
  for (const auto method : {FactorizationMethod::kGradientDescent, FactorizationMethod::kExact}) {
    const Factorization f = *Factor(Eigen::MatrixXd::Zero(3, 2), {.method = method, .rank = 2});
    EXPECT_TRUE(f.embedding.isZero(0) && f.basis.isZero(0) && f.residual.isZero(0));
  }
}

TEST(Factor, RefusesWhatItCannotFactor) {
  const Eigen::MatrixXd gradient = Random(3, 2, 1);
  EXPECT_EQ(Factor(gradient, {.rank = 0}).status().message(), "rank: got 0, want [1, 10000]");
  EXPECT_EQ(Factor(gradient, {.learning_rate = -1}).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Factor(gradient, {.learning_rate = 1e9}).status().message(),
            "learning_rate: got 1e+09, with which gradient descent diverges; want a smaller "
            "one");
  Eigen::MatrixXd bad = gradient;
  bad(0, 0) = std::nan("");
  EXPECT_EQ(Factor(bad, {}).status().code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace epsledger::trainers::fsdp_published
