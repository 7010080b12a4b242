#ifndef EPSLEDGER_TESTS_CLIENT_TRAINERS_FSDP_SMALL_PROBLEM_H_
#define EPSLEDGER_TESTS_CLIENT_TRAINERS_FSDP_SMALL_PROBLEM_H_

#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

#include "client/trainers/fsdp/clipped_sum.h"
#include "client/trainers/fsdp/subspace.h"
#include "client/trainers/network/network.h"

namespace epsledger::trainers::fsdp {

// Returns records whose classes are Gaussian blobs around random centers.
inline LabeledColumns Blobs(int count, int features, int classes, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<float> normal;
  network::Matrix<float> centers(features, classes);
  // The centers are the same for every seed.
  std::mt19937_64 fixed(99);
  for (float& value : centers.reshaped()) value = normal(fixed);
  LabeledColumns records{network::Matrix<float>(features, count), {}};
  for (int i = 0; i < count; ++i) {
    const int label = static_cast<int>(random() % static_cast<unsigned>(classes));
    records.labels.push_back(label);
    for (int j = 0; j < features; ++j) {
      records.inputs(j, i) = centers(j, label) + 0.5F * normal(random);
    }
  }
  return records;
}

inline std::vector<int> All(const LabeledColumns& records) {
  std::vector<int> batch(records.labels.size());
  std::iota(batch.begin(), batch.end(), 0);
  return batch;
}

inline network::Network<float> SmallMlp(int features, int hidden, int classes) {
  auto network = network::Network<float>::Create(
      {.channels = features},
      {network::FullyConnected{hidden}, network::Tanh{}, network::FullyConnected{classes}});
  network->Initialize(7);
  return *std::move(network);
}

inline network::Network<float> SmallConvolution() {
  auto network = network::Network<float>::Create(
      {.channels = 1, .height = 6, .width = 6},
      {network::Convolution{.channels = 4, .kernel = 3, .padding = 1},
       network::GroupNorm{.groups = 2}, network::Tanh{},
       network::AveragePool{.window = 2, .stride = 2}, network::FullyConnected{12}, network::Relu{},
       network::FullyConnected{3}});
  network->Initialize(8);
  return *std::move(network);
}

// Returns a view with random subspaces of this rank where they fit, and all noise distributed.
inline StepView ViewOf(const network::Network<float>& network, Eigen::Index rank, double clip) {
  StepView view{.embedding_clip = clip, .residual_clip = clip / 2};
  bool any = false;
  for (Eigen::Index layer = 0; layer < network.layer_count(); ++layer) {
    view.layers.emplace_back();
    const Eigen::Index outputs = network.shape(layer + 1).size();
    if (rank > 0 && rank < outputs &&
        std::holds_alternative<network::FullyConnected>(network.layers()[layer])) {
      view.layers.back().subspace = RandomSubspace(rank, outputs, 5);
      any = true;
    }
  }
  view.shares = *SplitNoise({.embedding_fraction = any ? 0.7 : 0}, 1);
  return view;
}

}  // namespace epsledger::trainers::fsdp

#endif  // EPSLEDGER_TESTS_CLIENT_TRAINERS_FSDP_SMALL_PROBLEM_H_
