#include "client/trainers/fsdp/input_center.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <cmath>
#include <limits>
#include <string>

#include "tests/client/trainers/fsdp/small_problem.h"
#include "tests/client/trainers/run/fake_releases.h"

namespace epsledger::trainers::fsdp {
namespace {

using network::Matrix;
using network::Vector;

// Inputs of all sizes, and some that are no inputs.
Matrix<float> InputsOfAllSizes() {
  Matrix<float> inputs = Blobs(40, 30, 3, 1).inputs;
  for (int i = 0; i < 20; ++i) inputs.col(i) *= std::pow(10.0F, static_cast<float>(i - 10));
  inputs.col(20).setZero();
  inputs.col(21).setConstant(std::numeric_limits<float>::max());
  inputs.col(22).setConstant(std::numeric_limits<float>::denorm_min());
  inputs(0, 23) = std::nanf("");
  inputs(1, 24) = std::numeric_limits<float>::infinity();
  return inputs;
}

TEST(ClippedInputSum, OneRecordContributesAtMostOneAsComputed) {
  const Matrix<float> inputs = InputsOfAllSizes();
  for (const double bound : {1e-15, 1e-3, 1.0, 16.0, 1e15}) {
    for (int i = 0; i < 40; ++i) {
      const Eigen::VectorXd one = ClippedInputSum(inputs.col(i), bound);
      ASSERT_TRUE(one.allFinite()) << i;
      EXPECT_LE(one.norm(), 1) << i << " " << bound;
      if (i == 23 || i == 24) {
        EXPECT_EQ(one.norm(), 0);
      }
    }
  }
}

TEST(ClippedInputSum, OneRecordMoreChangesItByItsContributionExactly) {
  const Matrix<float> inputs = InputsOfAllSizes();
  const Eigen::VectorXd with = ClippedInputSum(inputs, 2);
  for (const int one : {0, 13, 21, 23, 39}) {
    Matrix<float> others(30, 39);
    others << inputs.leftCols(one), inputs.rightCols(39 - one);
    EXPECT_EQ(with - ClippedInputSum(others, 2), ClippedInputSum(inputs.col(one), 2)) << one;
  }
}

TEST(ClippedInputSum, IsTheSumOverTheBoundWhereNothingIsClipped) {
  const Matrix<float> inputs = Blobs(50, 30, 3, 1).inputs;
  const Eigen::VectorXd want = inputs.cast<double>().rowwise().sum() / 100;
  EXPECT_LE((ClippedInputSum(inputs, 100) - want).norm(), 1e-7);
}

// Says what it was asked to release.
class RecordingRelease : public GradientRelease {
 public:
  absl::StatusOr<Eigen::VectorXd> Release(const Eigen::VectorXd& exact_sum,
                                          double contribution) override {
    ++calls;
    contribution_of_call = contribution;
    return exact_sum;
  }
  int calls = 0;
  double contribution_of_call = 0;
};

TEST(ReleaseInputCenter, IsTheMeanByThePublicCountInOneRelease) {
  LabeledColumns records = Blobs(50, 30, 3, 1);
  records.more_views = {-records.inputs};  // the mean is that of the first views
  RecordingRelease release;
  const absl::StatusOr<Vector<float>> center =
      ReleaseInputCenter(records, {.bound = 100, .public_count = 60}, release);
  ASSERT_TRUE(center.ok()) << center.status();
  EXPECT_EQ(release.calls, 1);
  EXPECT_EQ(release.contribution_of_call, 1);
  const Vector<float> want = records.inputs.rowwise().sum() / 60;
  EXPECT_LE((*center - want).norm(), 1e-5F);
}

TEST(ReleaseInputCenter, HasTheNoiseOfItsMultiplier) {
  const LabeledColumns none{Matrix<float>::Zero(4000, 1), {0}};
  SeededGaussianRelease release(3, 30);
  const Vector<float> center = *ReleaseInputCenter(none, {.bound = 2, .public_count = 50}, release);
  // 4,000 draws of deviation 30 * 2 / 50: the norm is within 5 % of its mean.
  EXPECT_NEAR(center.norm(), 1.2 * std::sqrt(4000), 0.05 * 1.2 * std::sqrt(4000));
}

TEST(ReleaseInputCenter, ReturnsARefusalAndRefusesWhatItCannotUse) {
  const LabeledColumns records = Blobs(5, 30, 3, 1);
  EndingRelease refused(0, absl::FailedPreconditionError("spent"));
  EXPECT_EQ(ReleaseInputCenter(records, {}, refused).status(),
            absl::FailedPreconditionError("spent"));
  ExactRelease release;
  for (const CenterOptions& bad :
       {CenterOptions{.bound = 0}, CenterOptions{.bound = 1e16}, CenterOptions{.public_count = 0},
        CenterOptions{.bound = std::nan("")}}) {
    EXPECT_EQ(ReleaseInputCenter(records, bad, release).status().code(),
              absl::StatusCode::kInvalidArgument);
  }
}

TEST(SubtractCenter, ChangesAllViewsEntryByEntry) {
  LabeledColumns records = Blobs(50, 30, 3, 1);
  records.more_views = {Blobs(50, 30, 3, 2).inputs};
  const LabeledColumns before = records;
  const Vector<float> center = Vector<float>::LinSpaced(30, -1, 1);
  SubtractCenter(center, records);
  LabeledColumns alone{before.inputs.col(7), {before.labels[7]}};
  alone.more_views = {before.more_views[0].col(7)};
  SubtractCenter(center, alone);
  EXPECT_EQ(records.inputs.col(7), before.inputs.col(7) - center);
  EXPECT_EQ(records.inputs.col(7), alone.inputs.col(0));
  EXPECT_EQ(records.more_views[0].col(7), alone.more_views[0].col(0));
  SubtractCenter({}, alone);
  EXPECT_EQ(records.inputs.col(7), alone.inputs.col(0));
}

}  // namespace
}  // namespace epsledger::trainers::fsdp
