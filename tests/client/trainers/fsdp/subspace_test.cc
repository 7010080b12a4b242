#include "client/trainers/fsdp/subspace.h"

#include "gtest/gtest.h"

#include <cmath>
#include <random>

#include "tests/client/trainers/fsdp/small_problem.h"

namespace epsledger::trainers::fsdp {
namespace {

using network::Matrix;

void ExpectOrthonormal(const Matrix<float>& subspace) {
  const Matrix<float> gram = subspace * subspace.transpose();
  EXPECT_LE((gram - Matrix<float>::Identity(gram.rows(), gram.cols())).cwiseAbs().maxCoeff(),
            1e-5F);
}

// A symmetric matrix with eigenvalue 2^-i along `directions` row i, and little elsewhere.
Eigen::MatrixXd WithDirections(const Matrix<float>& directions) {
  const Eigen::Index size = directions.cols();
  Eigen::MatrixXd matrix = 1e-3 * Eigen::MatrixXd::Identity(size, size);
  for (Eigen::Index i = 0; i < directions.rows(); ++i) {
    const Eigen::VectorXd row = directions.row(i).transpose().cast<double>();
    matrix += std::ldexp(1.0, -static_cast<int>(i)) * row * row.transpose();
  }
  return matrix;
}

TEST(TopSubspace, FindsTheLargestDirectionsOfSmallAndLargeMatrices) {
  for (const Eigen::Index size : {5, 64, 300}) {
    const Matrix<float> directions = RandomSubspace(3, size, 11);
    const Matrix<float> found =
        TopSubspace(WithDirections(directions), 3, RandomSubspace(3, size, 12));
    ASSERT_EQ(found.rows(), 3);
    ExpectOrthonormal(found);
    EXPECT_NEAR((found * directions.transpose()).squaredNorm(), 3, 1e-3) << size;
  }
}

TEST(RandomSubspace, IsOrthonormalAndOfItsSeed) {
  ExpectOrthonormal(RandomSubspace(10, 64, 3));
  ExpectOrthonormal(RandomSubspace(7, 7, 3));
  EXPECT_EQ(RandomSubspace(10, 64, 3), RandomSubspace(10, 64, 3));
  EXPECT_NE(RandomSubspace(10, 64, 3), RandomSubspace(10, 64, 4));
}

// The noise is much larger along other directions than the signal is along its own: without the
// subtraction these would be found.
TEST(GradientHistory, LooksThroughKnownNoise) {
  const Eigen::Index outputs = 20, columns = 2000;
  std::mt19937_64 random(1);
  std::normal_distribution<float> normal;
  const Matrix<float> noisy = RandomSubspace(5, outputs, 2);
  Matrix<float> signal(outputs, columns);
  signal.setZero();
  Eigen::VectorXf direction = RandomSubspace(6, outputs, 2).row(5).transpose();
  direction -= noisy.transpose() * (noisy * direction);
  direction.normalize();
  for (float& value : signal.row(0)) value = 0.15F * normal(random);
  signal = direction * signal.row(0).eval();

  GradientHistory history(outputs, columns);
  EXPECT_TRUE(history.empty());
  const Eigen::MatrixXd covariance =
      static_cast<double>(columns) * (noisy.transpose() * noisy).cast<double>();
  for (int step = 0; step < 20; ++step) {
    Matrix<float> noise(5, columns);
    for (float& value : noise.reshaped()) value = normal(random);
    history.Add(signal + noisy.transpose() * noise, covariance, 0.9);
  }
  EXPECT_FALSE(history.empty());
  const Matrix<float> found = TopSubspace(history.SecondMoment(), 1, {});
  EXPECT_GT(std::abs((found * direction).value()), 0.95F);
  const Matrix<float> fooled =
      TopSubspace((history.mean() * history.mean().transpose()).cast<double>(), 1, {});
  EXPECT_LT(std::abs((fooled * direction).value()), 0.9F);
}

TEST(NextLayerSubspace, IsTheRowSpaceOfTheNextWeights) {
  const network::Network<float> network = SmallMlp(20, 12, 3);
  const Matrix<float> found = NextLayerSubspace(network, 0, 5, {});
  ASSERT_EQ(found.rows(), 3) << "no more than the next layer has outputs";
  ExpectOrthonormal(found);
  const Matrix<float> weights = Eigen::Map<const Matrix<float>>(
      network.parameters().data() + network.segment(2).begin, 3, 12);
  EXPECT_LE((weights - weights * found.transpose() * found).norm(), 1e-5F * weights.norm());
  EXPECT_EQ(NextLayerSubspace(network, 2, 2, {}).rows(), 0) << "the last layer has no next";
}

TEST(PublicMoments, HoldNearlyAllOfTheGradientsThatTheyAreOf) {
  const network::Network<float> network = SmallMlp(20, 12, 3);
  LabeledColumns records = Blobs(200, 20, 3, 5);
  records.inputs(0, 17) = std::nanf("");
  const auto moments = PublicMoments(network, records);
  ASSERT_TRUE(moments.ok()) << moments.status();
  ASSERT_EQ((*moments)[0].rows(), 12);
  EXPECT_TRUE((*moments)[0].allFinite());
  EXPECT_EQ((*moments)[1].size(), 0);
  // Three classes give deltas of rank two, bent by the derivative of tanh.
  const Matrix<float> top = TopSubspace((*moments)[0], 6, {});
  const Eigen::MatrixXd kept = top.cast<double>() * (*moments)[0] * top.cast<double>().transpose();
  EXPECT_GT(kept.trace(), 0.95 * (*moments)[0].trace());
}

}  // namespace
}  // namespace epsledger::trainers::fsdp
