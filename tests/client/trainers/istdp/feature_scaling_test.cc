#include "client/trainers/istdp/feature_scaling.h"

#include <unistd.h>
#include "gtest/gtest.h"

#include <cstdio>
#include <fstream>
#include <string>

namespace epsledger::trainers::istdp {
namespace {

TEST(ReadFeatureBounds, TakesOneNumberForAllFeatures) {
  const absl::StatusOr<FeatureBounds> bounds = ReadFeatureBounds("2.5", 3);
  ASSERT_TRUE(bounds.ok()) << bounds.status();
  EXPECT_EQ(*bounds, Eigen::Vector3d(2.5, 2.5, 2.5));
  for (const char* bad : {"0", "-1", "nan", "inf"}) {
    EXPECT_EQ(ReadFeatureBounds(bad, 3).status().code(), absl::StatusCode::kInvalidArgument) << bad;
  }
}

TEST(ReadFeatureBounds, TakesAFileOfBounds) {
  const std::string path = testing::TempDir() + "/bounds." + std::to_string(getpid());
  const auto read = [&](const std::string& text) {
    std::ofstream(path) << text;
    return ReadFeatureBounds(path, 3);
  };
  const absl::StatusOr<FeatureBounds> bounds = read("1 4\n\n3\t0.5\r\n");
  ASSERT_TRUE(bounds.ok()) << bounds.status();
  EXPECT_EQ(*bounds, Eigen::Vector3d(4, 1, 0.5));
  for (const char* bad : {"0 1\n", "4 1\n", "1\n", "1 2 3\n", "1 0\n", "1 x\n", "1 2\n1 3\n"}) {
    EXPECT_EQ(read(bad).status().code(), absl::StatusCode::kInvalidArgument) << bad;
  }
  std::remove(path.c_str());
  EXPECT_EQ(ReadFeatureBounds(path, 3).status().code(), absl::StatusCode::kNotFound);
}

TEST(ScaleFeatures, DividesByTheBoundAndClampsEachRecordByItself) {
  LabeledRows rows;
  rows.features =
      Eigen::MatrixXd((Eigen::MatrixXd(2, 2) << 1, -9, 3, 0.5).finished()).sparseView(0, 0);
  rows.labels = Eigen::Vector2d(0, 1);
  ScaleFeatures(Eigen::Vector2d(2, 3), &rows);
  const Eigen::MatrixXd want = (Eigen::MatrixXd(2, 2) << 0.5, -1, 1, 0.5 / 3).finished();
  EXPECT_EQ(Eigen::MatrixXd(rows.features), want);
}

}  // namespace
}  // namespace epsledger::trainers::istdp
