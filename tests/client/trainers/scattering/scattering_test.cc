#include "client/trainers/scattering/scattering.h"

#include "gtest/gtest.h"

#include <cmath>
#include <limits>
#include <numbers>
#include <string>
#include <vector>

#include "tests/client/trainers/scattering/slow_scattering.h"

namespace epsledger::trainers::scattering {
namespace {

TEST(ShapeOfFeatures, IsThatOfThePublishedExperiments) {
  EXPECT_EQ(*ShapeOfFeatures(1, 28, 28), (FeatureShape{81, 7, 7}));
  EXPECT_EQ(*ShapeOfFeatures(3, 32, 32), (FeatureShape{243, 8, 8}));
  EXPECT_EQ(*ShapeOfFeatures(1, 8, 8), (FeatureShape{81, 2, 2}));
}

TEST(ShapeOfFeatures, SaysWhatItWants) {
  EXPECT_EQ(ShapeOfFeatures(1, 28, 32).status().message(),
            "height and width: got 28 and 32, want equal ones, a multiple of 4 in [8, 128]");
  for (const int side : {0, 4, 30, 132}) {
    EXPECT_EQ(ShapeOfFeatures(1, side, side).status().code(), absl::StatusCode::kInvalidArgument);
  }
  EXPECT_EQ(ShapeOfFeatures(0, 28, 28).status().message(), "channels: got 0, want [1, 16]");
}

TEST(Coefficients, AreThoseOfTheDefinition) {
  // The largest error seen is 1.5e-7.
  for (const int side : {8, 12, 20}) {
    const LabeledImages images = NoiseImages(2, 2, side, side);
    const Eigen::MatrixXf coefficients = *Coefficients(images, 1);
    const SlowScattering slow(side);
    for (int image = 0; image < 2; ++image) {
      for (int channel = 0; channel < 2; ++channel) {
        const std::vector<double> want =
            slow.Transform(images.pixels.col(image).data() + channel * side * side);
        ASSERT_EQ(coefficients.rows(), static_cast<Eigen::Index>(2 * want.size()));
        for (size_t i = 0; i < want.size(); ++i) {
          EXPECT_NEAR(coefficients(static_cast<Eigen::Index>(i + channel * want.size()), image),
                      want[i], 1e-6)
              << side << " " << image << " " << channel << " " << i;
        }
      }
    }
  }
}

struct Published {
  int side, map, u, v;
  double value;
};

// kymatio 0.3.0, Scattering2D(J=2, shape=(side, side), L=8), numpy, on NoiseImages(1, 1, side, 42).
// It takes 3.1415 for pi in the filters' scale: 3e-5 of a first-order coefficient, 6e-5 of a
// second-order one.
constexpr Published kKymatio[] = {
    {8, 0, 0, 0, 0.431585073},     {8, 1, 0, 0, 0.0462063663},   {8, 4, 1, 0, 0.0530662388},
    {8, 8, 1, 1, 0.0672210455},    {8, 9, 0, 1, 0.0359072387},   {8, 13, 1, 1, 0.0139646158},
    {8, 16, 1, 0, 0.0587139726},   {8, 17, 0, 0, 0.00279150065}, {8, 30, 1, 1, 0.00348712085},
    {8, 80, 1, 1, 0.00993965007},  {8, 55, 1, 0, 0.00239205011}, {28, 0, 0, 0, 0.582469046},
    {28, 1, 0, 0, 0.0348438174},   {28, 4, 1, 0, 0.0476252735},  {28, 8, 6, 6, 0.0400181077},
    {28, 9, 0, 1, 0.0266655982},   {28, 13, 3, 3, 0.026837457},  {28, 16, 6, 0, 0.0390791968},
    {28, 17, 0, 0, 0.00808568485}, {28, 30, 1, 1, 0.0027821695}, {28, 80, 6, 6, 0.00793387275},
    {28, 55, 3, 0, 0.00608711876}, {32, 0, 0, 0, 0.648229122},   {32, 1, 0, 0, 0.0559067875},
    {32, 4, 1, 0, 0.0684215203},   {32, 8, 7, 7, 0.0564571209},  {32, 9, 0, 1, 0.0406671651},
    {32, 13, 4, 4, 0.0414269343},  {32, 16, 7, 0, 0.0125273205}, {32, 17, 0, 0, 0.00701949326},
    {32, 30, 1, 1, 0.00331146107}, {32, 80, 7, 7, 0.0121540166}, {32, 55, 4, 0, 0.00620427402},
};

TEST(Coefficients, AreThoseOfKymatio) {
  for (const Published& each : kKymatio) {
    const Eigen::MatrixXf maps = *Coefficients(NoiseImages(1, 1, each.side, 42), 1);
    const int output = each.side / 4;
    EXPECT_NEAR(maps((each.map * output + each.u) * output + each.v, 0), each.value,
                1e-4 * each.value + 1e-6)
        << each.side << " " << each.map << " " << each.u << " " << each.v;
  }
}

TEST(Coefficients, OfAPureWaveAreTheWaveletsTransform) {
  // x = cos(w u) with w = pi cycles / 27 continues itself at the reflections; then |x * psi| is
  // |psi^(w)| / 2 up to the wave's other half, where psi^ is small.
  constexpr int kSide = 28;
  for (const int cycles : {7, 10, 18}) {
    const double w = std::numbers::pi * cycles / (kSide - 1);
    LabeledImages wave = NoiseImages(1, 1, kSide, 1);
    for (int u = 0; u < kSide; ++u) {
      for (int v = 0; v < kSide; ++v) {
        wave.pixels(u * kSide + v, 0) = static_cast<float>(std::cos(w * u));
      }
    }
    const Eigen::MatrixXf maps = *Coefficients(wave, 1);
    for (int scale = 0; scale < 2; ++scale) {
      const double sigma = 0.8 * (1 << scale);
      const double xi = 0.75 * std::numbers::pi / (1 << scale);
      for (int orientation = 0; orientation < 8; ++orientation) {
        const double angle = (3 - orientation) * std::numbers::pi / 8;
        const double along = w * std::cos(angle);
        const double across = -w * std::sin(angle);
        const auto gauss = [sigma, across](double a) {
          return std::exp(-sigma * sigma * (a * a + 4 * across * across) / 2);
        };
        // K = exp(-sigma^2 xi^2 / 2) makes the mean 0.
        const double k = std::exp(-sigma * sigma * xi * xi / 2);
        const double positive = gauss(along - xi) - k * gauss(along);
        const double negative = gauss(-along - xi) - k * gauss(along);
        const double got = maps((1 + 8 * scale + orientation) * 49 + 3 * 7 + 3, 0);
        // Without the smaller half-wave the modulus is constant; with it, its mean lies between.
        const double larger = std::max(std::abs(positive), std::abs(negative)) / 2;
        const double smaller = std::min(std::abs(positive), std::abs(negative)) / 2;
        EXPECT_NEAR(got, larger, smaller + 2e-3) << cycles << " " << scale << " " << orientation;
      }
    }
  }
}

TEST(Coefficients, OfAConstantImageAreItsValueAndZero) {
  LabeledImages images = NoiseImages(1, 1, 28, 1);
  images.pixels.setConstant(0.7F);
  const Eigen::MatrixXf maps = *Coefficients(images, 1);
  for (Eigen::Index i = 0; i < maps.rows(); ++i) {
    EXPECT_NEAR(maps(i, 0), i < 49 ? 0.7 : 0.0, 1e-6) << i;
  }
}

TEST(Coefficients, MoveWithTheImageByWholeSteps) {
  // An object on black, and the same four pixels down and eight to the right.
  LabeledImages images = NoiseImages(2, 1, 28, 5);
  const Eigen::MatrixXf noise = images.pixels.col(0);
  images.pixels.setZero();
  for (int u = 8; u < 16; ++u) {
    for (int v = 8; v < 14; ++v) {
      images.pixels(u * 28 + v, 0) = noise(u * 28 + v);
      images.pixels((u + 4) * 28 + v + 8, 1) = noise(u * 28 + v);
    }
  }
  const Eigen::MatrixXf maps = *Coefficients(images, 1);
  for (int map = 0; map < 81; ++map) {
    for (int u = 0; u < 6; ++u) {
      for (int v = 0; v < 5; ++v) {
        EXPECT_NEAR(maps((map * 7 + u) * 7 + v, 0), maps((map * 7 + u + 1) * 7 + v + 2, 1), 1e-6)
            << map << " " << u << " " << v;
      }
    }
  }
  EXPECT_GT((maps.col(0) - maps.col(1)).cwiseAbs().maxCoeff(), 1e-2);
}

TEST(Features, OfARecordDependOnItAloneBitByBit) {
  const LabeledImages all = NoiseImages(7, 1, 28, 9);
  const Eigen::MatrixXf together = *Features(all, {.thread_count = 3});
  for (int i = 0; i < 7; ++i) {
    LabeledImages one = all;
    one.pixels = all.pixels.col(i);
    one.labels = {0};
    EXPECT_EQ(*Features(one, {.thread_count = 1}), Eigen::MatrixXf(together.col(i))) << i;
  }
}

TEST(Features, HaveMeanZeroInEachGroupAndNormOne) {
  for (const int channels : {1, 3}) {
    const Eigen::MatrixXf features = *Features(NoiseImages(3, channels, 28, 3), Options{});
    const Eigen::Index group = features.rows() / 27;
    for (Eigen::Index image = 0; image < 3; ++image) {
      EXPECT_LE(features.col(image).norm(), 1 + 1e-6);
      EXPECT_NEAR(features.col(image).norm(), 1, 1e-3);
      for (int g = 0; g < 27; ++g) {
        EXPECT_NEAR(features.col(image).segment(g * group, group).sum(), 0, 1e-4);
        EXPECT_NEAR(features.col(image).segment(g * group, group).squaredNorm(), 1.0 / 27, 1e-4);
      }
    }
  }
}

TEST(Features, OfNoImagesAndOfBlackImagesAreDefined) {
  LabeledImages none = NoiseImages(0, 1, 28, 1);
  const Eigen::MatrixXf empty = *Features(none, Options{});
  EXPECT_EQ(empty.rows(), 3969);
  EXPECT_EQ(empty.cols(), 0);
  LabeledImages black = NoiseImages(1, 1, 28, 1);
  black.pixels.setZero();
  EXPECT_EQ(Features(black, Options{})->cwiseAbs().maxCoeff(), 0);
}

TEST(Features, OfARecordWithNanLeaveTheOthersAlone) {
  LabeledImages images = NoiseImages(2, 1, 28, 4);
  const Eigen::MatrixXf before = *Features(images, Options{});
  images.pixels(5, 0) = std::numeric_limits<float>::quiet_NaN();
  const Eigen::MatrixXf after = *Features(images, Options{});
  EXPECT_TRUE(std::isnan(after(0, 0)));
  EXPECT_EQ(Eigen::MatrixXf(before.col(1)), Eigen::MatrixXf(after.col(1)));
}

TEST(Features, RefuseWhatTheyDoNotUnderstand) {
  const LabeledImages images = NoiseImages(1, 1, 28, 4);
  EXPECT_EQ(Features(images, {.group_count = 7}).status().message(),
            "group_count: got 7, want a divisor of the 81 maps");
  EXPECT_EQ(Features(images, {.variance_offset = 0}).status().message(),
            "variance_offset: got 0, want a finite number above 0");
  EXPECT_EQ(Features(images, {.variance_offset = std::nan("")}).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Features(images, {.thread_count = 0}).status().message(),
            "thread_count: got 0, want [1, 256]");
  LabeledImages wrong = images;
  wrong.channels = 2;
  EXPECT_EQ(Coefficients(wrong, 1).status().message(), "pixels: got 784 rows, want 1568");
}

}  // namespace
}  // namespace epsledger::trainers::scattering
