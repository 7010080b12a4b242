#ifndef EPSLEDGER_CLIENT_TRAINERS_NETWORK_LAYER_OPTIONS_H_
#define EPSLEDGER_CLIENT_TRAINERS_NETWORK_LAYER_OPTIONS_H_

#include <Eigen/Core>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "client/trainers/network/shape.h"

namespace epsledger::trainers::network {

// outputs = W inputs + b, with the sample read as a vector.
struct FullyConnected {
  Eigen::Index outputs = 0;
};

// Cross-correlation with square kernels, zero padding on all four sides, and a bias a channel.
struct Convolution {
  Eigen::Index channels = 0;
  Eigen::Index kernel = 0;
  Eigen::Index stride = 1;
  Eigen::Index padding = 0;
};

struct Tanh {};
struct Relu {};

// The mean of square windows that lie entirely inside the image. A last row or column that no
// window reaches is not read.
struct AveragePool {
  Eigen::Index window = 0;
  Eigen::Index stride = 0;
};
struct MaxPool {
  Eigen::Index window = 0;
  Eigen::Index stride = 0;
};

// Normalizes each group of consecutive channels of each sample to mean 0 and variance v / (v +
// variance_offset), then applies a weight and a bias a channel [WH18]. Samples are independent.
struct GroupNorm {
  Eigen::Index groups = 0;
  double variance_offset = 1e-5;
};

using LayerOptions =
    std::variant<FullyConnected, Convolution, Tanh, Relu, AveragePool, MaxPool, GroupNorm>;

// Returns true if each output value depends on only one input value.
bool IsElementWise(const LayerOptions& layer);

// Returns the output shape of a layer for inputs of shape `input`. INVALID_ARGUMENT that names the
// field, its value and the domain, such as "kernel: got 9, want an integer in [1, 7]". Dimensions,
// kernels and paddings beyond 2^15, and samples beyond 2^24 values, are refused.
absl::StatusOr<Shape> OutputShape(const LayerOptions& layer, const Shape& input);

// Returns OK if all dimensions are in [1, 2^15] and size() is at most 2^24, else INVALID_ARGUMENT.
absl::Status ValidateShape(const Shape& shape);

// Returns a line such as "1x28x28 convolution(32,5,1,2) tanh fully_connected(10)" that describes
// everything of a network except its parameters; equal texts mean equal networks.
std::string Describe(const Shape& input, const std::vector<LayerOptions>& layers);

// Returns the layers of a line as Describe writes it, without the shape in front, as
// "convolution(32,5) relu group_norm(4) max_pool(2)". Numbers at the end may be omitted: the
// default of a stride is 1 (of a pool, its window), of a padding 0, of the offset of group_norm
// 1e-5. INVALID_ARGUMENT that names the layer for any other text. OutputShape checks the
// dimensions.
absl::StatusOr<std::vector<LayerOptions>> ParseLayers(absl::string_view text);

}  // namespace epsledger::trainers::network

#endif  // EPSLEDGER_CLIENT_TRAINERS_NETWORK_LAYER_OPTIONS_H_
