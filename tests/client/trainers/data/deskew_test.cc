#include "client/trainers/data/deskew.h"

#include <rapidcheck/gtest.h>
#include "gtest/gtest.h"

#include <cmath>
#include <initializer_list>
#include <limits>
#include <utility>
#include <vector>

namespace epsledger::trainers {
namespace {

using Place = std::pair<int, int>;  // row, column

LabeledImages Black(Eigen::Index side, Eigen::Index count, Eigen::Index channels = 1) {
  return {.channels = channels,
          .height = side,
          .width = side,
          .pixels = Eigen::MatrixXf::Zero(channels * side * side, count),
          .labels = std::vector<int>(static_cast<size_t>(count), 3)};
}

// 5 x 5, with these pixels at 1.
LabeledImages Lit(std::initializer_list<Place> places) {
  LabeledImages images = Black(5, 1);
  for (const auto& [row, column] : places) images.pixels(row * 5 + column, 0) = 1;
  return images;
}

Eigen::MatrixXf Deskewed(LabeledImages images) {
  Deskew(images);
  return images.pixels;
}

struct Moments {
  double cy = 0;
  double cx = 0;
  double mu11 = 0;
  double mu02 = 0;
};

Moments MomentsOf(const Eigen::VectorXf& pixels, int side) {
  Moments moments;
  const double total = pixels.cast<double>().sum();
  const auto each = [&](auto add) {
    for (int i = 0; i < side * side; ++i)
      add(static_cast<double>(pixels(i)) / total, i / side, i % side);
  };
  each([&](double p, int y, int x) {
    moments.cy += p * y;
    moments.cx += p * x;
  });
  each([&](double p, int y, int x) {
    moments.mu11 += p * (y - moments.cy) * (x - moments.cx);
    moments.mu02 += p * (y - moments.cy) * (y - moments.cy);
  });
  return moments;
}

TEST(Deskew, MovesTheCentroidToTheMiddle) {
  EXPECT_EQ(Deskewed(Lit({{1, 3}})), Lit({{2, 2}}).pixels);
  EXPECT_EQ(Deskewed(Lit({{0, 0}, {0, 1}, {0, 2}})), Lit({{2, 1}, {2, 2}, {2, 3}}).pixels);
}

TEST(Deskew, StandsADiagonalUpright) {
  EXPECT_EQ(Deskewed(Lit({{1, 1}, {2, 2}, {3, 3}})), Lit({{1, 2}, {2, 2}, {3, 2}}).pixels);
  EXPECT_EQ(Deskewed(Lit({{1, 3}, {2, 2}, {3, 1}})), Lit({{1, 2}, {2, 2}, {3, 2}}).pixels);
}

// mu11 / mu02 is 2: the row above the middle moves by 1.2, and Keys' weight at .8 is .168.
TEST(Deskew, ShearsByNoMoreThanSixFifths) {
  const Eigen::MatrixXf out = Deskewed(Lit({{1, 0}, {3, 4}}));
  EXPECT_FLOAT_EQ(out(1 * 5 + 2, 0), 0.168F);
  EXPECT_FLOAT_EQ(out(1 * 5 + 1, 0), 0.912F);  // at .2 before the pixel
  EXPECT_FLOAT_EQ(out(3 * 5 + 2, 0), 0.168F);
}

TEST(Deskew, BlackStaysBlackAndWhatIsUprightStaysAsItIs) {
  EXPECT_EQ(Deskewed(Black(5, 2)), Black(5, 2).pixels);
  const LabeledImages cross = Lit({{1, 2}, {2, 1}, {2, 2}, {2, 3}, {3, 2}});
  EXPECT_EQ(Deskewed(cross), cross.pixels);
}

TEST(Deskew, ChannelsMoveTogether) {
  LabeledImages images = Black(5, 1, 2);
  images.pixels(1 * 5 + 1, 0) = 1;       // red at (1, 1)
  images.pixels(25 + 3 * 5 + 3, 0) = 1;  // green at (3, 3): together a diagonal
  Deskew(images);
  EXPECT_FLOAT_EQ(images.pixels(1 * 5 + 2, 0), 1);
  EXPECT_FLOAT_EQ(images.pixels(25 + 3 * 5 + 2, 0), 1);
  EXPECT_EQ(images.labels, std::vector<int>{3});
}

RC_GTEST_PROP(Deskew, ASlantedBlobIsUprightInTheMiddle, ()) {
  constexpr int kSide = 28;
  const double slant = *rc::gen::inRange(-100, 101) / 100.0;
  const double down = *rc::gen::inRange(-30, 31) / 10.0;
  LabeledImages images = Black(kSide, 1);
  for (int y = 0; y < kSide; ++y) {
    for (int x = 0; x < kSide; ++x) {
      const double dy = y - 13.5 - down;
      const double dx = x - 13.5 - slant * dy;
      images.pixels(y * kSide + x, 0) =
          static_cast<float>(0.9 * std::exp(-dy * dy / 12 - dx * dx / 8));
    }
  }
  Deskew(images);
  const Moments moments = MomentsOf(images.pixels.col(0), kSide);
  RC_ASSERT(std::abs(moments.cy - 13.5) < 0.02);
  RC_ASSERT(std::abs(moments.cx - 13.5) < 0.02);
  RC_ASSERT(std::abs(moments.mu11) < 0.02 * moments.mu02);
  RC_ASSERT(images.pixels.minCoeff() >= 0);
  RC_ASSERT(images.pixels.maxCoeff() <= 1);
}

// What the proof rests on: an image becomes the same bits, whatever others there are.
RC_GTEST_PROP(Deskew, EveryImageIsChangedByItselfAlone, ()) {
  const int count = *rc::gen::inRange(2, 6);
  LabeledImages all = Black(8, count, *rc::gen::inRange(1, 4));
  for (Eigen::Index i = 0; i < all.pixels.size(); ++i) {
    all.pixels.data()[i] = static_cast<float>(*rc::gen::inRange(0, 1001)) / 1000;
  }
  const int one = *rc::gen::inRange(0, count);
  LabeledImages alone = all;
  alone.pixels = all.pixels.col(one).eval();
  alone.labels.resize(1);
  Deskew(alone);
  LabeledImages changed = all;
  for (int other = 0; other < count; ++other) {
    if (other != one)
      changed.pixels.col(other).setConstant(std::numeric_limits<float>::quiet_NaN());
  }
  Deskew(all);
  Deskew(changed);
  RC_ASSERT(all.pixels.col(one) == alone.pixels.col(0));
  RC_ASSERT(changed.pixels.col(one) == alone.pixels.col(0));
  RC_ASSERT(std::isnan(changed.pixels(0, (one + 1) % count)));
}

}  // namespace
}  // namespace epsledger::trainers
