#include "gtest/gtest.h"

#include <random>
#include <vector>

#include "client/trainers/network/clipping.h"
#include "client/trainers/network/cross_entropy.h"
#include "client/trainers/network/network.h"

namespace epsledger::trainers::network {
namespace {

// Everything that one step computes of a batch.
struct Step {
  Matrix<float> logits;
  Eigen::ArrayXd squared_norms;
  Vector<float> sum;
};

Step RunStep(int thread_count, Eigen::Index samples) {
  auto net = *Network<float>::Create(
      {.channels = 1, .height = 12, .width = 12},
      {Convolution{.channels = 4, .kernel = 3, .padding = 1}, Tanh{},
       MaxPool{.window = 2, .stride = 2}, Convolution{.channels = 5, .kernel = 3}, Relu{},
       FullyConnected{.outputs = 150}, Tanh{}, FullyConnected{.outputs = 10}});
  EXPECT_TRUE(net.set_thread_count(thread_count).ok());
  net.Initialize(3);
  Matrix<float> images(144, samples);
  std::mt19937 random(5);
  for (float& pixel : images.reshaped()) pixel = static_cast<float>(random() % 100) / 100;
  std::vector<int> labels;
  for (Eigen::Index i = 0; i < samples; ++i) labels.push_back(static_cast<int>(i % 10));
  auto tape = *net.Forward(images);
  EXPECT_TRUE(
      net.Backward(CrossEntropy<float>(tape.activations.back(), labels)->gradients, &tape).ok());
  Step step{.logits = tape.activations.back(), .squared_norms = net.SquaredNorms(tape), .sum = {}};
  step.sum = *net.WeightedGradient(tape, *ClipFactors<float>(step.squared_norms, 0.5));
  return step;
}

TEST(Threads, ChangeNoBit) {
  for (const Eigen::Index samples : {0, 1, 3, 131, 300}) {
    const Step one = RunStep(1, samples);
    for (const int threads : {2, 5}) {
      const Step many = RunStep(threads, samples);
      EXPECT_EQ(one.logits, many.logits) << samples;
      EXPECT_TRUE((one.squared_norms == many.squared_norms).all()) << samples;
      EXPECT_EQ(one.sum, many.sum) << samples;
    }
  }
}

TEST(Threads, AreANumberFrom1To256) {
  auto net = *Network<float>::Create({.channels = 2}, {FullyConnected{.outputs = 1}});
  EXPECT_EQ(net.set_thread_count(0).message(), "thread_count: got 0, want one in [1, 256]");
  EXPECT_FALSE(net.set_thread_count(257).ok());
}

}  // namespace
}  // namespace epsledger::trainers::network
