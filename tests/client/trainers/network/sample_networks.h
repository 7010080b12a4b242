#ifndef EPSLEDGER_TESTS_CLIENT_TRAINERS_NETWORK_SAMPLE_NETWORKS_H_
#define EPSLEDGER_TESTS_CLIENT_TRAINERS_NETWORK_SAMPLE_NETWORKS_H_

#include <cstdint>
#include <random>
#include <vector>

#include "client/trainers/network/layer_options.h"
#include "client/trainers/network/network.h"

namespace epsledger::trainers::network {

// Seeded draws on [-1, 1).
template <class T>
Matrix<T> RandomMatrix(Eigen::Index rows, Eigen::Index columns, uint64_t seed) {
  std::mt19937_64 random(seed);
  return Matrix<T>::NullaryExpr(rows, columns, [&random](Eigen::Index, Eigen::Index) {
    return static_cast<T>(static_cast<double>(random() >> 11) * 0x1p-52 - 1);
  });
}

struct NetworkShape {
  Shape input;
  std::vector<LayerOptions> layers;
};

// Returns networks with every layer at several shapes, alone and together with others.
inline std::vector<NetworkShape> SampleNetworks() {
  const Shape image{.channels = 2, .height = 6, .width = 5};
  const Shape deep{.channels = 6, .height = 3, .width = 4};
  return {
      {{.channels = 1}, {FullyConnected{1}}},
      {{.channels = 7}, {FullyConnected{3}}},
      {image, {FullyConnected{4}}},
      {image, {Convolution{.channels = 3, .kernel = 3}}},
      {image, {Convolution{.channels = 1, .kernel = 1}}},
      {image, {Convolution{.channels = 3, .kernel = 2, .stride = 2, .padding = 1}}},
      {image, {Convolution{.channels = 2, .kernel = 5, .stride = 3, .padding = 2}}},
      {image, {Convolution{.channels = 2, .kernel = 2, .stride = 4}}},
      {image, {Convolution{.channels = 2, .kernel = 3, .stride = 1, .padding = 4}}},
      {image, {Tanh{}}},
      {image, {Relu{}}},
      {image, {AveragePool{.window = 2, .stride = 2}}},
      {image, {AveragePool{.window = 3, .stride = 1}}},
      {image, {MaxPool{.window = 2, .stride = 2}}},
      {image, {MaxPool{.window = 3, .stride = 1}}},
      {deep, {GroupNorm{.groups = 1}}},
      {deep, {GroupNorm{.groups = 3}}},
      {deep, {GroupNorm{.groups = 6, .variance_offset = 0.1}}},
      {{.channels = 8}, {GroupNorm{.groups = 2}, FullyConnected{3}}},
      {{.channels = 5}, {FullyConnected{6}, Tanh{}, FullyConnected{4}, Relu{}, FullyConnected{3}}},
      {image,
       {Convolution{.channels = 4, .kernel = 3, .padding = 1}, GroupNorm{.groups = 2}, Tanh{},
        MaxPool{.window = 2, .stride = 2}, Convolution{.channels = 3, .kernel = 2, .padding = 1},
        Relu{}, AveragePool{.window = 2, .stride = 1}, FullyConnected{4}}},
  };
}

// Returns a network in which every parameter matters: those of group norm, too, are not 1 or 0.
template <class T>
Network<T> MakeNetwork(const NetworkShape& shape) {
  Network<T> result = *Network<T>::Create(shape.input, shape.layers);
  result.Initialize(1);
  result.parameters() += T{0.3} * RandomMatrix<T>(result.parameter_count(), 1, 2);
  return result;
}

// Returns the tape of `batch` for the loss that weights each output by its own fixed number.
template <class T>
Tape<T> RunTape(const Network<T>& net, const Matrix<T>& batch, const Matrix<T>& output_gradients) {
  Tape<T> tape = *net.Forward(batch);
  net.Backward(output_gradients, &tape, BatchGradient::kCompute).IgnoreError();
  return tape;
}

}  // namespace epsledger::trainers::network

#endif  // EPSLEDGER_TESTS_CLIENT_TRAINERS_NETWORK_SAMPLE_NETWORKS_H_
