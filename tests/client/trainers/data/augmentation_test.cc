#include "client/trainers/data/augmentation.h"

#include <rapidcheck/gtest.h>
#include "gtest/gtest.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace epsledger::trainers {
namespace {

constexpr int kImageSide = 28;

LabeledImages BlackImages(Eigen::Index side, Eigen::Index count, Eigen::Index channels = 1) {
  return {.channels = channels,
          .height = side,
          .width = side,
          .pixels = Eigen::MatrixXf::Zero(channels * side * side, count),
          .labels = std::vector<int>(static_cast<size_t>(count), 7)};
}

// A blob at (cy, cx) with these variances and no mixed moment.
void PaintBlob(LabeledImages& images, Eigen::Index record, double cy, double cx, double vy,
               double vx) {
  for (int y = 0; y < kImageSide; ++y) {
    for (int x = 0; x < kImageSide; ++x) {
      images.pixels(y * kImageSide + x, record) = static_cast<float>(
          0.9 * std::exp(-(y - cy) * (y - cy) / (2 * vy) - (x - cx) * (x - cx) / (2 * vx)));
    }
  }
}

struct BlobShape {
  double cy = 0;
  double cx = 0;
  double size = 0;   // det^(1/4) of the second moments: a length
  double angle = 0;  // of the long axis, from the vertical one
};

BlobShape ShapeOf(const Eigen::VectorXf& pixels) {
  const double total = pixels.cast<double>().sum();
  BlobShape shape;
  for (int i = 0; i < kImageSide * kImageSide; ++i) {
    shape.cy += static_cast<double>(pixels[i]) / total * (i / kImageSide);
    shape.cx += static_cast<double>(pixels[i]) / total * (i % kImageSide);
  }
  double yy = 0;
  double yx = 0;
  double xx = 0;
  for (int i = 0; i < kImageSide * kImageSide; ++i) {
    const double p = static_cast<double>(pixels[i]) / total;
    const double dy = i / kImageSide - shape.cy;
    const double dx = i % kImageSide - shape.cx;
    yy += p * dy * dy;
    yx += p * dy * dx;
    xx += p * dx * dx;
  }
  shape.size = std::pow(yy * xx - yx * yx, 0.25);
  shape.angle = std::atan2(2 * yx, yy - xx) / 2;
  return shape;
}

// The motions of many images, as their blobs show them, are in the ranges of the header and use
// most of them.
TEST(AugmentedView, TurnsScalesAndShiftsWithinThePublicRanges) {
  constexpr int kImages = 60;
  LabeledImages images = BlackImages(kImageSide, kImages);
  for (int i = 0; i < kImages; ++i) PaintBlob(images, i, 13.5, 13.5, 12 + 0.01 * i, 4);
  const LabeledImages views = AugmentedView(images, 1);
  EXPECT_EQ(views.labels, images.labels);
  double angles[2] = {1, -1};
  double sizes[2] = {2, 0};
  double shifts[2] = {2, -2};
  for (int i = 0; i < kImages; ++i) {
    const BlobShape before = ShapeOf(images.pixels.col(i));
    const BlobShape after = ShapeOf(views.pixels.col(i));
    const auto widen = [](double value, double range[2]) {
      range[0] = std::min(range[0], value);
      range[1] = std::max(range[1], value);
    };
    widen(after.angle - before.angle, angles);
    widen(after.size / before.size, sizes);
    widen(after.cy - before.cy, shifts);
    widen(after.cx - before.cx, shifts);
  }
  EXPECT_GE(angles[0], -kLargestRotation - 0.005);
  EXPECT_LE(angles[1], kLargestRotation + 0.005);
  EXPECT_GE(angles[1] - angles[0], 1.5 * kLargestRotation);
  EXPECT_GE(sizes[0], 1 - kLargestScaling - 0.01);
  EXPECT_LE(sizes[1], 1 + kLargestScaling + 0.01);
  EXPECT_GE(sizes[1] - sizes[0], 1.5 * kLargestScaling);
  EXPECT_GE(shifts[0], -kImageSide * kLargestShift - 0.02);
  EXPECT_LE(shifts[1], kImageSide * kLargestShift + 0.02);
  EXPECT_GE(shifts[1] - shifts[0], 1.5 * kImageSide * kLargestShift);
}

TEST(AugmentedView, NumbersGiveOtherViewsAndTheSameNumberTheSame) {
  LabeledImages images = BlackImages(kImageSide, 1);
  PaintBlob(images, 0, 12, 15, 12, 4);
  const Eigen::MatrixXf one = AugmentedView(images, 1).pixels;
  EXPECT_EQ(AugmentedView(images, 1).pixels, one);
  EXPECT_NE(AugmentedView(images, 2).pixels, one);
  EXPECT_NE(images.pixels, one);
}

TEST(AugmentedView, BlackStaysBlackAndPixelsStayInTheirRange) {
  EXPECT_EQ(AugmentedView(BlackImages(8, 3), 1).pixels, BlackImages(8, 3).pixels);
  LabeledImages board = BlackImages(8, 1);
  for (int i = 0; i < 64; ++i) board.pixels(i, 0) = static_cast<float>((i / 8 + i) % 2);
  const Eigen::MatrixXf view = AugmentedView(board, 1).pixels;
  EXPECT_GE(view.minCoeff(), 0);
  EXPECT_LE(view.maxCoeff(), 1);
}

TEST(AugmentedView, ChannelsMoveTogether) {
  LabeledImages images = BlackImages(kImageSide, 1, 2);
  LabeledImages one = BlackImages(kImageSide, 1);
  PaintBlob(one, 0, 10, 17, 9, 5);
  images.pixels.col(0) << one.pixels.col(0), one.pixels.col(0);
  const Eigen::VectorXf view = AugmentedView(images, 1).pixels.col(0);
  EXPECT_EQ(view.head(kImageSide * kImageSide), view.tail(kImageSide * kImageSide));
}

// What the proof rests on: a view is the same bits, whatever other images there are and wherever
// the image stands.
RC_GTEST_PROP(AugmentedView, EveryImageIsChangedByItselfAlone, ()) {
  const int count = *rc::gen::inRange(2, 6);
  LabeledImages all = BlackImages(8, count, *rc::gen::inRange(1, 4));
  for (Eigen::Index i = 0; i < all.pixels.size(); ++i) {
    all.pixels.data()[i] = static_cast<float>(*rc::gen::inRange(0, 1001)) / 1000;
  }
  const int one = *rc::gen::inRange(0, count);
  LabeledImages alone = all;
  alone.pixels = all.pixels.col(one).eval();
  alone.labels.resize(1);
  LabeledImages changed = all;
  for (int other = 0; other < count; ++other) {
    if (other != one) {
      changed.pixels.col(other).setConstant(std::numeric_limits<float>::quiet_NaN());
    }
  }
  LabeledImages moved = all;
  moved.pixels.col(0).swap(moved.pixels.col(one));
  const int number = *rc::gen::inRange(1, 4);
  const Eigen::VectorXf view = AugmentedView(alone, number).pixels.col(0);
  RC_ASSERT(AugmentedView(all, number).pixels.col(one) == view);
  RC_ASSERT(AugmentedView(moved, number).pixels.col(0) == view);
  const LabeledImages other_views = AugmentedView(changed, number);
  RC_ASSERT(other_views.pixels.col(one) == view);
  RC_ASSERT(std::isnan(other_views.pixels(0, (one + 1) % count)));
}

}  // namespace
}  // namespace epsledger::trainers
