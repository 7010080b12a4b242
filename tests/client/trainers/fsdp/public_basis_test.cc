#include "client/trainers/fsdp/public_basis.h"

#include "gtest/gtest.h"

#include <cmath>
#include <limits>

#include "tests/client/trainers/fsdp/small_problem.h"

namespace epsledger::trainers::fsdp {
namespace {

using network::Matrix;

// 300 columns of 40 numbers around a mean, mostly in three directions.
Matrix<float> NearlyInThreeDirections() {
  const Matrix<float> directions = RandomSubspace(3, 40, 9).transpose();
  Matrix<float> columns = directions * (5 * Blobs(300, 3, 3, 1).inputs);
  columns += 0.01F * Blobs(300, 40, 3, 2).inputs;
  return columns.colwise() + network::Vector<float>::LinSpaced(40, -1, 2);
}

TEST(TopDirections, AreOrthonormalAndSpanTheLargestVariance) {
  const Matrix<float> columns = NearlyInThreeDirections();
  const PublicBasis basis = TopDirections(columns, 3);
  ASSERT_EQ(basis.directions.rows(), 3);
  ASSERT_EQ(basis.directions.cols(), 40);
  EXPECT_TRUE((basis.directions * basis.directions.transpose())
                  .isApprox(Matrix<float>::Identity(3, 3), 1e-5F));
  EXPECT_TRUE(basis.mean.isApprox(columns.rowwise().mean(), 1e-5F));
  const Matrix<float> centered = columns.colwise() - basis.mean;
  const Matrix<float> inside = basis.directions.transpose() * (basis.directions * centered);
  EXPECT_LE((centered - inside).norm(), 0.01F * centered.norm());
}

TEST(Coordinates, AreProductsWithTheCenteredColumns) {
  const PublicBasis basis = TopDirections(NearlyInThreeDirections(), 7);
  const Matrix<float> inputs = Blobs(600, 40, 3, 3).inputs;
  const Matrix<float> coordinates = Coordinates(basis, inputs, 1);
  const Eigen::MatrixXd want = basis.directions.cast<double>() *
                               (inputs.cast<double>().colwise() - basis.mean.cast<double>());
  EXPECT_TRUE(coordinates.cast<double>().isApprox(want, 1e-5));
  EXPECT_EQ(Coordinates(basis, inputs, 3), coordinates);
}

// What the proof rests on: the same bits, whatever the other records are and wherever one stands.
TEST(Coordinates, OfARecordDependOnItAlone) {
  const PublicBasis basis = TopDirections(NearlyInThreeDirections(), 7);
  const Matrix<float> inputs = Blobs(600, 40, 3, 3).inputs;
  const Matrix<float> coordinates = Coordinates(basis, inputs, 1);
  for (const int one : {0, 1, 17, 255, 256, 599}) {
    EXPECT_EQ(Coordinates(basis, inputs.col(one), 1), coordinates.col(one)) << one;
    // Without the record all the later ones move one place.
    Matrix<float> others(40, 599);
    others << inputs.leftCols(one), inputs.rightCols(599 - one);
    Matrix<float> of_others(7, 599);
    of_others << coordinates.leftCols(one), coordinates.rightCols(599 - one);
    EXPECT_EQ(Coordinates(basis, others, 1), of_others) << one;
    Matrix<float> changed = Matrix<float>::Constant(40, 600, std::nanf(""));
    changed.col(one) = inputs.col(one);
    const Matrix<float> of_changed = Coordinates(basis, changed, 1);
    EXPECT_EQ(of_changed.col(one), coordinates.col(one)) << one;
    EXPECT_TRUE(of_changed.col((one + 1) % 600).array().isNaN().all());
  }
}

}  // namespace
}  // namespace epsledger::trainers::fsdp
