#include "client/trainers/fsdp/exact_sum.h"

#include "gtest/gtest.h"

#include <cmath>
#include <limits>
#include <random>

#include "client/trainers/fsdp/wide_product.h"

namespace epsledger::trainers::fsdp {
namespace {

using network::Matrix;

TEST(ToGrid, NoProductIsLargerThanWhatItStandsForNorMuchSmaller) {
  std::mt19937_64 random(1);
  std::normal_distribution<float> normal;
  for (const float size : {1e-20F, 1e-3F, 1.0F, 1e10F}) {
    Matrix<float> left(4, 50), right(6, 50);
    for (float& value : left.reshaped()) value = normal(random);
    for (float& value : right.reshaped()) value = size * normal(random);
    right.bottomRows(1).setOnes();
    Eigen::ArrayXd factors(50);
    for (Eigen::Index i = 0; i < 50; ++i) {
      factors[i] =
          (1 - 1e-9) / (left.col(i).cast<double>().norm() * right.col(i).cast<double>().norm());
    }
    const GridFactors chunk = ToGrid(left, right, factors);
    const Eigen::MatrixXd integers = RightOnGrid(right, chunk.right_scales);
    for (Eigen::Index i = 0; i < 50; ++i) {
      const Eigen::MatrixXd exact =
          factors[i] * left.col(i).cast<double>() * right.col(i).cast<double>().transpose();
      const Eigen::MatrixXd got =
          chunk.left.col(i) * integers.col(i).transpose() * std::ldexp(1.0, -kGridBits);
      EXPECT_LE(got.norm(), 1);
      EXPECT_TRUE((got.cwiseAbs().array() <= exact.cwiseAbs().array() * (1 + 1e-12)).all());
      EXPECT_LE((got - exact).cwiseAbs().maxCoeff(), 1e-4) << size;
      EXPECT_EQ(chunk.left.col(i), chunk.left.col(i).array().round().matrix());
      EXPECT_EQ(integers.col(i), integers.col(i).array().round().matrix());
      EXPECT_LE(chunk.left.col(i).cwiseAbs().maxCoeff(), std::ldexp(1.0, 18));
      EXPECT_LE(integers.col(i).cwiseAbs().maxCoeff(), std::ldexp(1.0, 16));
    }
  }
}

TEST(ToGrid, LeavesOutWhatHasFactorZero) {
  Matrix<float> left(1, 1), right(2, 1);
  left << std::nanf("");
  right << std::nanf(""), 1;
  const GridFactors chunk = ToGrid(left, right, Eigen::ArrayXd::Zero(1));
  EXPECT_EQ(chunk.left.norm() + RightOnGrid(right, chunk.right_scales).norm(), 0);
  Eigen::MatrixXd sum = Eigen::MatrixXd::Zero(1, 2);
  AddOuterProducts(chunk, right, sum.data());
  EXPECT_EQ(sum, Eigen::MatrixXd::Zero(1, 2));
}

TEST(AddOuterProducts, SumsAreTheSameInAnyOrderAndBlocks) {
  std::mt19937_64 random(2);
  std::uniform_int_distribution<int> left_draw(-(1 << 18), 1 << 18);
  std::uniform_int_distribution<int> right_draw(-(1 << 15), 1 << 15);
  GridFactors chunk{Eigen::MatrixXd(13, 301), Eigen::ArrayXd::Ones(301)};
  Matrix<float> right(37, 301);
  for (double& value : chunk.left.reshaped()) value = left_draw(random);
  for (float& value : right.reshaped()) value = static_cast<float>(right_draw(random));
  Eigen::MatrixXd together = Eigen::MatrixXd::Zero(13, 37);
  AddOuterProducts(chunk, right, together.data());
  Eigen::MatrixXd apart = Eigen::MatrixXd::Zero(13, 37);
  for (Eigen::Index i = 300; i >= 0; --i) {
    AddOuterProducts({chunk.left.col(i), chunk.right_scales.segment(i, 1)}, right.col(i),
                     apart.data());
  }
  EXPECT_EQ(together, apart);
  // And the same as integers give.
  for (Eigen::Index row = 0; row < 13; ++row) {
    for (Eigen::Index column = 0; column < 37; ++column) {
      int64_t sum = 0;
      for (Eigen::Index i = 0; i < 301; ++i) {
        sum += static_cast<int64_t>(chunk.left(row, i)) * static_cast<int64_t>(right(column, i));
      }
      EXPECT_EQ(together(row, column), static_cast<double>(sum));
    }
  }
}

TEST(AddWideProduct, IsTheSameSumForAllShapesWithEveryKernel) {
  std::mt19937_64 random(3);
  std::uniform_int_distribution<int> draw(-(1 << 16), 1 << 16);
  for (const network::ProductKernel kernel : network::AvailableKernels()) {
    if (kernel == network::ProductKernel::kEigen) continue;
    for (const Eigen::Index rows : {1, 11, 12, 13, 16, 17, 30, 64}) {
      for (const Eigen::Index columns : {1, 3, 4, 5, 12, 13, 22}) {
        for (const Eigen::Index depth : {0, 1, 64}) {
          Eigen::MatrixXd left(rows, depth);
          Matrix<float> right(columns, depth);
          Eigen::ArrayXd scales(depth);
          for (double& value : left.reshaped()) value = draw(random);
          for (float& value : right.reshaped()) value = 1e-4F * static_cast<float>(draw(random));
          for (double& scale : scales) scale = std::ldexp(1.0, draw(random) % 12);
          if (depth > 1) {
            scales[1] = 0;
            right(0, 1) = std::numeric_limits<float>::quiet_NaN();
          }
          Eigen::MatrixXd sum = Eigen::MatrixXd::Constant(rows, columns, 5);
          const Eigen::MatrixXd want = sum + left * RightOnGrid(right, scales).transpose();
          AddWideProduct(kernel, left, right, scales, sum.data());
          EXPECT_EQ(sum, want) << static_cast<int>(kernel) << ": " << rows << " " << columns << " "
                               << depth;
        }
      }
    }
  }
}

TEST(AddColumns, RoundsTowardZeroToTheGrid) {
  Matrix<float> gradients(2, 2);
  gradients << 0.7F, 1, -0.7F, 1;
  Eigen::ArrayXd factors(2);
  factors << 1e-9, 0;
  Eigen::VectorXd sum = Eigen::VectorXd::Zero(2);
  AddColumns(gradients, factors, sum.data());
  EXPECT_EQ(sum[0], 6);  // 0.7e-9 * 2^33 = 6.01
  EXPECT_EQ(sum[1], -6);
}

}  // namespace
}  // namespace epsledger::trainers::fsdp
