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

// outputs = W inputs + b, over the sample read as a vector.
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

// Over square windows that lie wholly inside the image; a last row or column that no window
// reaches is not read.
struct AveragePool {
  Eigen::Index window = 0;
  Eigen::Index stride = 0;
};
struct MaxPool {
  Eigen::Index window = 0;
  Eigen::Index stride = 0;
};

// Each group of consecutive channels of each sample to mean 0 and variance
// v / (v + variance_offset), then a weight and a bias a channel [WH18]. Couples no two samples.
struct GroupNorm {
  Eigen::Index groups = 0;
  double variance_offset = 1e-5;
};

using LayerOptions =
    std::variant<FullyConnected, Convolution, Tanh, Relu, AveragePool, MaxPool, GroupNorm>;

// True if each value of the output depends on one value of the input alone.
bool IsElementWise(const LayerOptions& layer);

// Returns the output shape of a layer for inputs of shape `input`. INVALID_ARGUMENT that names the
// field, what it got and what it wants, such as "kernel: got 9, want an integer in [1, 7]".
// Dimensions, kernels and paddings beyond 2^15, and samples beyond 2^24 values, are refused.
absl::StatusOr<Shape> OutputShape(const LayerOptions& layer, const Shape& input);

// OK if all dimensions are in [1, 2^15] and size() is at most 2^24; INVALID_ARGUMENT if not.
absl::Status ValidateShape(const Shape& shape);

// Returns a line such as "1x28x28 convolution(32,5,1,2) tanh fully_connected(10)" that says all
// there is to say about a network but its parameters; equal texts mean equal networks.
std::string Describe(const Shape& input, const std::vector<LayerOptions>& layers);

// Returns the layers of a line as Describe writes it, without the shape in front, as
// "convolution(32,5) relu group_norm(4) max_pool(2)". Numbers at the end may be left out: a stride
// is then 1, that of a pool its window, a padding 0, the offset of group_norm 1e-5.
// INVALID_ARGUMENT that names the layer for another text. OutputShape looks at the dimensions.
absl::StatusOr<std::vector<LayerOptions>> ParseLayers(absl::string_view text);

}  // namespace epsledger::trainers::network

#endif  // EPSLEDGER_CLIENT_TRAINERS_NETWORK_LAYER_OPTIONS_H_
