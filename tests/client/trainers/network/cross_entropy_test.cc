#include "client/trainers/network/cross_entropy.h"

#include "gtest/gtest.h"

#include <cmath>
#include <limits>
#include <vector>

#include "tests/client/trainers/network/sample_networks.h"

namespace epsledger::trainers::network {
namespace {

TEST(CrossEntropy, EqualsTheFormula) {
  const Matrix<double> logits = (Matrix<double>(3, 2) << 1, 0, 2, 0, 3, 0).finished();
  const auto got = *CrossEntropy<double>(logits, {0, 2});
  EXPECT_NEAR(got.losses[0], 2.4076059644443803, 1e-15);  // log(1 + e + e^2)
  EXPECT_NEAR(got.losses[1], std::log(3.0), 1e-15);
  EXPECT_NEAR(got.gradients(0, 0), 0.09003057317038046 - 1, 1e-15);  // 1 / (1 + e + e^2) - 1
  EXPECT_NEAR(got.gradients(2, 0), 0.6652409557748219, 1e-15);
  EXPECT_NEAR(got.gradients(2, 1), 1.0 / 3 - 1, 1e-15);
}

TEST(CrossEntropy, GradientEqualsCentralDifferences) {
  const Matrix<double> logits = 3 * RandomMatrix<double>(4, 3, 11);
  const std::vector<int> labels = {2, 0, 3};
  const auto got = *CrossEntropy<double>(logits, labels);
  const double step = 1e-5;
  for (Eigen::Index i = 0; i < logits.cols(); ++i) {
    for (Eigen::Index c = 0; c < logits.rows(); ++c) {
      const auto loss_at = [&](double logit) {
        Matrix<double> moved = logits;
        moved(c, i) = logit;
        return CrossEntropy<double>(moved, labels)->losses[i];
      };
      EXPECT_NEAR(got.gradients(c, i),
                  (loss_at(logits(c, i) + step) - loss_at(logits(c, i) - step)) / (2 * step), 1e-9);
    }
  }
}

TEST(CrossEntropy, DoesNotOverflow) {
  const float large = std::numeric_limits<float>::max();
  const Matrix<float> logits = (Matrix<float>(2, 2) << large, large, -large, -large).finished();
  const auto got = *CrossEntropy<float>(logits, {0, 1});
  EXPECT_EQ(got.losses[0], 0);
  EXPECT_EQ(got.losses[1], 2 * static_cast<double>(large));
  EXPECT_EQ(got.gradients, (Matrix<float>(2, 2) << 0, 1, 0, -1).finished());
}

TEST(CrossEntropy, KeepsWhatIsNotFiniteInItsSample) {
  for (const float bad :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    const Matrix<float> logits = (Matrix<float>(2, 2) << 0, bad, 0, 0).finished();
    const auto got = *CrossEntropy<float>(logits, {0, 1});
    EXPECT_NEAR(got.losses[0], std::log(2.0), 1e-15);
    EXPECT_EQ(got.gradients.col(0), (Vector<float>(2) << -0.5, 0.5).finished());
    EXPECT_TRUE(std::isnan(got.losses[1]));
    EXPECT_TRUE(got.gradients.col(1).array().isNaN().all());
  }
}

TEST(CrossEntropy, RefusesLabelsThatAreNotClasses) {
  const Matrix<float> logits = Matrix<float>::Zero(3, 2);
  EXPECT_EQ(CrossEntropy<float>(logits, {0}).status().message(),
            "labels: got 1, want one for each of the 2 samples");
  EXPECT_EQ(CrossEntropy<float>(logits, {0, 3}).status().message(),
            "labels[1]: got 3, want an integer in [0, 2]");
  EXPECT_EQ(CrossEntropy<float>(logits, {-1, 0}).status().message(),
            "labels[0]: got -1, want an integer in [0, 2]");
}

}  // namespace
}  // namespace epsledger::trainers::network
