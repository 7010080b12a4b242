#include "client/trainers/network/layer_options.h"

#include <algorithm>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"

namespace epsledger::trainers::network {
namespace {

constexpr int64_t kMaxDimension = int64_t{1} << 15;
constexpr int64_t kMaxSampleSize = int64_t{1} << 24;

absl::Status CheckInRange(absl::string_view field, int64_t got, int64_t smallest, int64_t largest) {
  if (got >= smallest && got <= largest) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(field, ": got ", got, ", want an integer in [", smallest, ", ", largest, "]"));
}

Eigen::Index WindowCount(Eigen::Index length, Eigen::Index window, Eigen::Index stride) {
  return (length - window) / stride + 1;
}

template <class Pool>
absl::StatusOr<Shape> PooledShape(const Pool& layer, const Shape& input) {
  absl::Status status =
      CheckInRange("window", layer.window, 1, std::min(input.height, input.width));
  status.Update(CheckInRange("stride", layer.stride, 1, kMaxDimension));
  if (!status.ok()) return status;
  return Shape{.channels = input.channels,
               .height = WindowCount(input.height, layer.window, layer.stride),
               .width = WindowCount(input.width, layer.window, layer.stride)};
}

struct OutputShapeOf {
  const Shape& input;

  absl::StatusOr<Shape> operator()(const FullyConnected& layer) const {
    absl::Status status = CheckInRange("outputs", layer.outputs, 1, kMaxDimension);
    if (!status.ok()) return status;
    return Shape{.channels = layer.outputs};
  }

  absl::StatusOr<Shape> operator()(const Convolution& layer) const {
    absl::Status status = CheckInRange("channels", layer.channels, 1, kMaxDimension);
    status.Update(CheckInRange("padding", layer.padding, 0, kMaxDimension));
    if (!status.ok()) return status;
    const Eigen::Index height = input.height + 2 * layer.padding;
    const Eigen::Index width = input.width + 2 * layer.padding;
    status.Update(CheckInRange("kernel", layer.kernel, 1, std::min(height, width)));
    status.Update(CheckInRange("stride", layer.stride, 1, kMaxDimension));
    if (!status.ok()) return status;
    return Shape{.channels = layer.channels,
                 .height = WindowCount(height, layer.kernel, layer.stride),
                 .width = WindowCount(width, layer.kernel, layer.stride)};
  }

  absl::StatusOr<Shape> operator()(const Tanh&) const { return input; }
  absl::StatusOr<Shape> operator()(const Relu&) const { return input; }
  absl::StatusOr<Shape> operator()(const AveragePool& layer) const {
    return PooledShape(layer, input);
  }
  absl::StatusOr<Shape> operator()(const MaxPool& layer) const { return PooledShape(layer, input); }

  absl::StatusOr<Shape> operator()(const GroupNorm& layer) const {
    if (absl::Status status = CheckInRange("groups", layer.groups, 1, input.channels);
        !status.ok()) {
      return status;
    }
    if (input.channels % layer.groups != 0) {
      return absl::InvalidArgumentError(absl::StrCat(
          "groups: got ", layer.groups, ", want a divisor of the ", input.channels, " channels"));
    }
    if (!(layer.variance_offset >= 1e-30 && layer.variance_offset <= 1e30)) {
      return absl::InvalidArgumentError(absl::StrCat("variance_offset: got ", layer.variance_offset,
                                                     ", want a number in [1e-30, 1e30]"));
    }
    return input;
  }
};

struct DescriptionOf {
  std::string operator()(const FullyConnected& layer) const {
    return absl::StrCat("fully_connected(", layer.outputs, ")");
  }
  std::string operator()(const Convolution& layer) const {
    return absl::StrCat("convolution(", layer.channels, ",", layer.kernel, ",", layer.stride, ",",
                        layer.padding, ")");
  }
  std::string operator()(const Tanh&) const { return "tanh"; }
  std::string operator()(const Relu&) const { return "relu"; }
  std::string operator()(const AveragePool& layer) const {
    return absl::StrCat("average_pool(", layer.window, ",", layer.stride, ")");
  }
  std::string operator()(const MaxPool& layer) const {
    return absl::StrCat("max_pool(", layer.window, ",", layer.stride, ")");
  }
  std::string operator()(const GroupNorm& layer) const {
    return absl::StrFormat("group_norm(%d,%.17g)", layer.groups, layer.variance_offset);
  }
};

}  // namespace

absl::Status ValidateShape(const Shape& shape) {
  absl::Status status = CheckInRange("channels", shape.channels, 1, kMaxDimension);
  status.Update(CheckInRange("height", shape.height, 1, kMaxDimension));
  status.Update(CheckInRange("width", shape.width, 1, kMaxDimension));
  if (status.ok()) status.Update(CheckInRange("size", shape.size(), 1, kMaxSampleSize));
  return status;
}

absl::StatusOr<Shape> OutputShape(const LayerOptions& layer, const Shape& input) {
  absl::StatusOr<Shape> output = std::visit(OutputShapeOf{.input = input}, layer);
  if (!output.ok()) return output;
  if (absl::Status status = ValidateShape(*output); !status.ok()) {
    return absl::InvalidArgumentError(absl::StrCat("output ", status.message()));
  }
  return output;
}

bool IsElementWise(const LayerOptions& layer) {
  return std::holds_alternative<Tanh>(layer) || std::holds_alternative<Relu>(layer);
}

std::string Describe(const Shape& input, const std::vector<LayerOptions>& layers) {
  std::string text = absl::StrCat(input.channels, "x", input.height, "x", input.width);
  for (const LayerOptions& layer : layers) {
    absl::StrAppend(&text, " ", std::visit(DescriptionOf{}, layer));
  }
  return text;
}

}  // namespace epsledger::trainers::network
