#include "client/trainers/data/enlarged.h"

#include "gtest/gtest.h"

#include <vector>

#include "client/trainers/data/cubic.h"

namespace epsledger::trainers {
namespace {

LabeledImages Digits(Eigen::Index count) {
  return {.channels = 1,
          .height = 8,
          .width = 8,
          .pixels = Eigen::MatrixXf::Zero(64, count),
          .labels = std::vector<int>(static_cast<size_t>(count), 2)};
}

TEST(CubicWeights, SumToOneAndReproduceALine) {
  for (const double t : {0.0, 0.25, 0.5, 0.875}) {
    const auto weights = CubicWeights(t);
    double sum = 0;
    double line = 0;
    for (int i = 0; i < 4; ++i) {
      sum += weights[static_cast<size_t>(i)];
      line += weights[static_cast<size_t>(i)] * (i - 1);
    }
    EXPECT_NEAR(sum, 1, 1e-15);
    EXPECT_NEAR(line, t, 1e-15);
  }
  EXPECT_EQ(CubicWeights(0)[1], 1);
}

TEST(CubicValue, IsThePixelAtAPixelAndBlackOutside) {
  const std::vector<float> pixels = {0.1F, 0.2F, 0.3F, 0.4F, 0.5F, 0.6F};
  const Plane plane{pixels.data(), 2, 3};
  EXPECT_EQ(CubicValue(plane, 1, 2), static_cast<double>(pixels[5]));
  EXPECT_EQ(CubicValue(plane, -4, 1), 0);
  EXPECT_EQ(CubicValue(plane, 1, 9), 0);
}

TEST(Enlarged, PutsEightPixelsOnTwentyOfTwentyEightInTheMiddle) {
  LabeledImages white = Digits(2);
  white.pixels.setOnes();
  const LabeledImages large = Enlarged(white, 28);
  ASSERT_EQ(large.height, 28);
  ASSERT_EQ(large.width, 28);
  EXPECT_EQ(large.labels, white.labels);
  const auto at = [&](int y, int x) { return large.pixels(y * 28 + x, 1); };
  // Black outside makes the edge fade; inside nothing changes.
  EXPECT_FLOAT_EQ(at(13, 13), 1);
  EXPECT_FLOAT_EQ(at(9, 18), 1);
  EXPECT_GT(at(4, 13), 0);
  EXPECT_EQ(at(3, 13), 0);
  EXPECT_GT(at(23, 13), 0);
  EXPECT_EQ(at(24, 13), 0);
  EXPECT_EQ(at(13, 3), 0);
  EXPECT_EQ(at(13, 24), 0);
}

TEST(Enlarged, KeepsWhatIsInTheMiddleInTheMiddle) {
  LabeledImages dot = Digits(1);
  for (const int i : {27, 28, 35, 36}) dot.pixels(i, 0) = 0.5F;
  const LabeledImages large = Enlarged(dot, 28);
  double down = 0;
  double right = 0;
  for (int i = 0; i < 28 * 28; ++i) {
    down += static_cast<double>(large.pixels(i, 0)) * (i / 28 - 13.5);
    right += static_cast<double>(large.pixels(i, 0)) * (i % 28 - 13.5);
  }
  EXPECT_NEAR(down, 0, 1e-4);
  EXPECT_NEAR(right, 0, 1e-4);
}

}  // namespace
}  // namespace epsledger::trainers
