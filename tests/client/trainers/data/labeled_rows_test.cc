#include "client/trainers/data/labeled_rows.h"

#include "gtest/gtest.h"

#include <cmath>
#include <limits>

namespace epsledger::trainers {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

LabeledRows Rows(const Eigen::MatrixXd& features) {
  LabeledRows rows{.features = features.sparseView(0, 0),
                   .labels = Eigen::VectorXd::LinSpaced(features.rows(), 0,
                                                        static_cast<double>(features.rows()) - 1)};
  rows.features.makeCompressed();
  return rows;
}

TEST(ClipRowNorms, ScalesLongRowsToTheBoundAndLeavesTheOthers) {
  LabeledRows rows = Rows((Eigen::MatrixXd(3, 2) << 3, 4, 0.3, 0.4, 0, 0).finished());
  ASSERT_TRUE(ClipRowNorms(1, &rows).ok());
  const Eigen::MatrixXd got = rows.features;
  EXPECT_TRUE(got.isApprox((Eigen::MatrixXd(3, 2) << 0.6, 0.8, 0.3, 0.4, 0, 0).finished(), 1e-15));
  EXPECT_EQ(got(1, 0), 0.3);
}

TEST(ClipRowNorms, MakesARowThatIsNotFiniteZero) {
  LabeledRows rows =
      Rows((Eigen::MatrixXd(4, 2) << kNan, 1, 1, kInfinity, 1.7e308, 1.7e308, 0, 1).finished());
  ASSERT_TRUE(ClipRowNorms(1, &rows).ok());
  EXPECT_EQ(Eigen::MatrixXd(rows.features),
            (Eigen::MatrixXd(4, 2) << 0, 0, 0, 0, 0, 0, 0, 1).finished());
}

TEST(ClipRowNorms, RefusesABoundOutsideTheDomain) {
  LabeledRows rows = Rows(Eigen::MatrixXd::Ones(1, 1));
  for (const double bound : {0.0, -1.0, kNan, kInfinity}) {
    EXPECT_EQ(ClipRowNorms(bound, &rows).code(), absl::StatusCode::kInvalidArgument);
  }
}

TEST(RowNorms, NeitherOverflowNorUnderflow) {
  const LabeledRows rows = Rows(
      (Eigen::MatrixXd(4, 2) << 3e200, 4e200, 3e-200, 4e-200, 0, 0, 1.7e308, 1.7e308).finished());
  const Eigen::VectorXd norms = RowNorms(rows.features);
  EXPECT_NEAR(norms[0] / 5e200, 1, 1e-15);
  EXPECT_NEAR(norms[1] / 5e-200, 1, 1e-15);
  EXPECT_EQ(norms[2], 0);
  EXPECT_EQ(norms[3], kInfinity);
}

TEST(WithBiasColumn, AppendsAOneToEveryRow) {
  const LabeledRows rows = WithBiasColumn(Rows((Eigen::MatrixXd(2, 1) << 5, 0).finished()));
  EXPECT_EQ(Eigen::MatrixXd(rows.features), (Eigen::MatrixXd(2, 2) << 5, 1, 0, 1).finished());
  EXPECT_TRUE(rows.features.isCompressed());
}

TEST(SelectRows, TakesRowsWithTheirLabelsInOrder) {
  const LabeledRows rows =
      SelectRows(Rows((Eigen::MatrixXd(3, 2) << 1, 2, 0, 0, 5, 6).finished()), {2, 1});
  EXPECT_EQ(Eigen::MatrixXd(rows.features), (Eigen::MatrixXd(2, 2) << 5, 6, 0, 0).finished());
  EXPECT_EQ(rows.labels, Eigen::Vector2d(2, 1));
  EXPECT_TRUE(rows.features.isCompressed());
}

}  // namespace
}  // namespace epsledger::trainers
