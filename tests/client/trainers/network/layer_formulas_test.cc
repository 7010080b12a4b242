// The forward pass of each layer against the formula in its header, written out as loops.
#include "gtest/gtest.h"

#include <cmath>
#include <limits>
#include <vector>

#include "client/trainers/network/network.h"
#include "tests/client/trainers/network/sample_networks.h"

namespace epsledger::trainers::network {
namespace {

constexpr Shape kImage{.channels = 2, .height = 6, .width = 5};

Eigen::Index Entry(const Shape& shape, Eigen::Index channel, Eigen::Index y, Eigen::Index x) {
  return (channel * shape.height + y) * shape.width + x;
}

TEST(Convolution, EqualsTheNaiveLoop) {
  const std::vector<Convolution> cases = {{3, 3, 1, 0}, {1, 1, 1, 0}, {2, 2, 2, 1}, {4, 5, 3, 2},
                                          {2, 5, 1, 0}, {2, 3, 4, 0}, {2, 3, 1, 4}, {2, 2, 7, 3}};
  for (const Convolution& c : cases) {
    SCOPED_TRACE(Describe(kImage, {c}));
    const Network<double> net = MakeNetwork<double>({kImage, {c}});
    const Shape output = net.shape(1);
    const Matrix<double> batch = RandomMatrix<double>(kImage.size(), 2, 7);
    const Matrix<double> got = net.Forward(batch)->activations.back();
    const Eigen::Index filter = kImage.channels * c.kernel * c.kernel;
    for (Eigen::Index i = 0; i < batch.cols(); ++i) {
      for (Eigen::Index to = 0; to < output.channels; ++to) {
        for (Eigen::Index y = 0; y < output.height; ++y) {
          for (Eigen::Index x = 0; x < output.width; ++x) {
            double want = net.parameters()[output.channels * filter + to];
            for (Eigen::Index entry = 0; entry < filter; ++entry) {
              const Eigen::Index from = entry / (c.kernel * c.kernel);
              const Eigen::Index row = y * c.stride + entry / c.kernel % c.kernel - c.padding;
              const Eigen::Index column = x * c.stride + entry % c.kernel - c.padding;
              if (row < 0 || row >= kImage.height || column < 0 || column >= kImage.width) continue;
              want += net.parameters()[to * filter + entry] *
                      batch(Entry(kImage, from, row, column), i);
            }
            EXPECT_NEAR(got(Entry(output, to, y, x), i), want, 1e-13);
          }
        }
      }
    }
  }
}

TEST(GroupNorm, EqualsTheFormula) {
  const Shape shape{.channels = 6, .height = 2, .width = 3};
  for (const Eigen::Index groups : {1, 2, 3, 6}) {
    const double offset = 0.01;
    const Network<double> net =
        MakeNetwork<double>({shape, {GroupNorm{.groups = groups, .variance_offset = offset}}});
    const Matrix<double> batch = RandomMatrix<double>(shape.size(), 2, 8);
    const Matrix<double> got = net.Forward(batch)->activations.back();
    const Eigen::Index members = shape.size() / groups;
    for (Eigen::Index i = 0; i < batch.cols(); ++i) {
      for (Eigen::Index entry = 0; entry < shape.size(); ++entry) {
        const Eigen::Index first = entry / members * members;
        double mean = 0;
        double square = 0;
        for (Eigen::Index k = first; k < first + members; ++k) {
          mean += batch(k, i) / static_cast<double>(members);
          square += batch(k, i) * batch(k, i) / static_cast<double>(members);
        }
        const Eigen::Index channel = entry / shape.positions();
        const double normalized =
            (batch(entry, i) - mean) / std::sqrt(square - mean * mean + offset);
        EXPECT_NEAR(
            got(entry, i),
            net.parameters()[channel] * normalized + net.parameters()[shape.channels + channel],
            1e-13);
      }
    }
  }
}

TEST(GroupNorm, OfAConstantImageIsItsBias) {
  const Shape shape{.channels = 2, .height = 2, .width = 2};
  Network<float> net = *Network<float>::Create(shape, {GroupNorm{.groups = 1}});
  net.parameters() << 5, 6, 7, 8;
  const Matrix<float> got = net.Forward(Matrix<float>::Constant(8, 1, 3))->activations.back();
  EXPECT_EQ(got, (Matrix<float>(8, 1) << 7, 7, 7, 7, 8, 8, 8, 8).finished());
}

TEST(Pools, ReadWholeWindowsOnly) {
  const Shape shape{.channels = 1, .height = 3, .width = 5};
  Matrix<float> image(15, 1);
  image << 1, 2, 3, 4, 99,  //
      8, 7, 6, 5, 99,       //
      99, 99, 99, 99, 99;
  const auto run = [&](const LayerOptions& layer) {
    return Network<float>::Create(shape, {layer})->Forward(image)->activations.back();
  };
  EXPECT_EQ(run(MaxPool{.window = 2, .stride = 2}), (Matrix<float>(2, 1) << 8, 6).finished());
  EXPECT_EQ(run(AveragePool{.window = 2, .stride = 2}),
            (Matrix<float>(2, 1) << 4.5, 4.5).finished());
  EXPECT_EQ(run(MaxPool{.window = 1, .stride = 3}), (Matrix<float>(2, 1) << 1, 4).finished());
}

TEST(MaxPool, SendsTheGradientOfATieToTheFirst) {
  const Network<float> net = *Network<float>::Create({.channels = 1, .height = 2, .width = 2},
                                                     {MaxPool{.window = 2, .stride = 1}});
  const Tape<float> tape = RunTape<float>(net, (Matrix<float>(4, 1) << 1, 3, 3, 3).finished(),
                                          Matrix<float>::Constant(1, 1, 2));
  EXPECT_EQ(tape.gradients[0], (Matrix<float>(4, 1) << 0, 2, 0, 0).finished());
}

TEST(Layers, KeepTheSamplesApart) {
  for (const NetworkShape& shape : SampleNetworks()) {
    SCOPED_TRACE(Describe(shape.input, shape.layers));
    const Network<double> net = MakeNetwork<double>(shape);
    Matrix<double> batch = RandomMatrix<double>(shape.input.size(), 3, 9);
    const Matrix<double> before = net.Forward(batch)->activations.back();
    batch.col(1).setConstant(std::numeric_limits<double>::quiet_NaN());
    const Matrix<double> after = net.Forward(batch)->activations.back();
    EXPECT_EQ(before.col(0), after.col(0));
    EXPECT_EQ(before.col(2), after.col(2));
  }
}

}  // namespace
}  // namespace epsledger::trainers::network
