// Networks that learn, and how they start.
#include "gtest/gtest.h"

#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "client/trainers/network/clipping.h"
#include "client/trainers/network/cross_entropy.h"
#include "client/trainers/network/network.h"
#include "client/trainers/network/sgd.h"
#include "tests/client/trainers/network/sample_networks.h"

namespace epsledger::trainers::network {
namespace {

struct Problem {
  Matrix<float> batch;
  std::vector<int> labels;
};

Eigen::Index CorrectCount(const Network<float>& net, const Problem& problem) {
  const Matrix<float> logits = net.Forward(problem.batch)->activations.back();
  Eigen::Index correct = 0;
  for (Eigen::Index i = 0; i < logits.cols(); ++i) {
    Eigen::Index guess = 0;
    logits.col(i).maxCoeff(&guess);
    correct += guess == problem.labels[static_cast<size_t>(i)];
  }
  return correct;
}

// Full-batch descent on the mean of the clipped gradients, without noise.
void Train(const Problem& problem, int steps, Network<float>* net) {
  Sgd<float> sgd =
      *Sgd<float>::Create({.learning_rate = 0.2, .momentum = 0.9}, net->parameter_count());
  for (int step = 0; step < steps; ++step) {
    Tape<float> tape = *net->Forward(problem.batch);
    auto losses = *CrossEntropy<float>(tape.activations.back(), problem.labels);
    ASSERT_TRUE(net->Backward(std::move(losses.gradients), &tape).ok());
    const Vector<float> factors = *ClipFactors<float>(net->SquaredNorms(tape), 1);
    const Vector<float> sum = *net->WeightedGradient(tape, factors);
    sgd.Step(sum / static_cast<float>(problem.labels.size()), &net->parameters());
  }
}

// The sign of the product of two coordinates: no linear map of them tells the classes apart.
TEST(Network, LearnsExclusiveOr) {
  Problem problem{.batch = RandomMatrix<float>(2, 64, 21), .labels = {}};
  for (Eigen::Index i = 0; i < problem.batch.cols(); ++i) {
    for (float& x : problem.batch.col(i)) x = std::copysign(0.3F + std::fabs(x), x);
    problem.labels.push_back(problem.batch(0, i) * problem.batch(1, i) > 0 ? 1 : 0);
  }
  for (const LayerOptions& activation : {LayerOptions(Tanh{}), LayerOptions(Relu{})}) {
    Network<float> net = *Network<float>::Create(
        {.channels = 2}, {FullyConnected{16}, activation, FullyConnected{2}});
    net.Initialize(3);
    EXPECT_LT(CorrectCount(net, problem), problem.batch.cols());
    Train(problem, 300, &net);
    EXPECT_EQ(CorrectCount(net, problem), problem.batch.cols());
  }
}

// Horizontal against vertical bars at any place, in noise.
TEST(Network, LearnsTheDirectionOfABar) {
  const Shape image{.channels = 1, .height = 6, .width = 6};
  Problem problem{.batch = 0.2F * RandomMatrix<float>(36, 60, 22), .labels = {}};
  for (Eigen::Index i = 0; i < 60; ++i) {
    const bool horizontal = i % 2 == 0;
    for (Eigen::Index along = 0; along < 6; ++along) {
      const Eigen::Index across = i / 2 % 6;
      problem.batch(horizontal ? across * 6 + along : along * 6 + across, i) += 1;
    }
    problem.labels.push_back(horizontal ? 1 : 0);
  }
  Network<float> net = *Network<float>::Create(
      image, {Convolution{.channels = 4, .kernel = 3, .padding = 1}, GroupNorm{.groups = 2}, Relu{},
              AveragePool{.window = 3, .stride = 3}, FullyConnected{2}});
  net.Initialize(4);
  EXPECT_LT(CorrectCount(net, problem), 60);
  Train(problem, 300, &net);
  EXPECT_EQ(CorrectCount(net, problem), 60);
}

TEST(Initialize, IsAFunctionOfTheSeed) {
  const NetworkShape shape = SampleNetworks().back();
  Network<float> first = *Network<float>::Create(shape.input, shape.layers);
  Network<float> second = *Network<float>::Create(shape.input, shape.layers);
  first.Initialize(7);
  second.parameters().setConstant(9);
  second.Initialize(7);
  EXPECT_EQ(first.parameters(), second.parameters());
  second.Initialize(8);
  EXPECT_NE(first.parameters(), second.parameters());
}

// The first draw of mt19937_64(5489) is 14514284786278117030 by the C++ standard's generator; the
// limit is sqrt(6 / (fan in + fan out)) before tanh and sqrt(6 / fan in) before ReLU.
TEST(Initialize, DrawsUniformlyUpToTheLimitOfTheActivation) {
  const double unit = 14514284786278117030.0 / 0x1p64;
  const Shape input{.channels = 100};
  const auto initialized = [&](const std::vector<LayerOptions>& layers) {
    Network<double> net = *Network<double>::Create(input, layers);
    net.Initialize(5489);
    return net.parameters();
  };
  const Vector<double> xavier = initialized({FullyConnected{50}, Tanh{}});
  const Vector<double> kaiming = initialized({FullyConnected{50}, GroupNorm{.groups = 1}, Relu{}});
  EXPECT_NEAR(xavier[0], 0.2 * (2 * unit - 1), 1e-15);
  EXPECT_NEAR(kaiming[0], std::sqrt(0.06) * (2 * unit - 1), 1e-15);
  EXPECT_LE(xavier.head(5000).cwiseAbs().maxCoeff(), 0.2);
  EXPECT_GE(xavier.head(5000).cwiseAbs().maxCoeff(), 0.199);
  EXPECT_LE(std::fabs(xavier.head(5000).mean()), 5 * 0.2 / std::sqrt(3.0 * 5000));
  EXPECT_TRUE((xavier.tail(50).array() == 0).all());
  EXPECT_TRUE((kaiming.segment(5050, 50).array() == 1).all());
  EXPECT_TRUE((kaiming.tail(50).array() == 0).all());
}

TEST(Segment, PartitionsTheParameters) {
  const NetworkShape shape = SampleNetworks().back();
  const Network<float> net = *Network<float>::Create(shape.input, shape.layers);
  Eigen::Index end = 0;
  for (Eigen::Index layer = 0; layer < net.layer_count(); ++layer) {
    EXPECT_EQ(net.segment(layer).begin, end);
    end += net.segment(layer).size;
  }
  EXPECT_EQ(end, net.parameter_count());
  EXPECT_EQ(net.segment(0).size, 4 * (2 * 9 + 1));
  EXPECT_EQ(net.segment(1).size, 2 * 4);
}

}  // namespace
}  // namespace epsledger::trainers::network
