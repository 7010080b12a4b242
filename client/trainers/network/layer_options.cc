#include "client/trainers/network/layer_options.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "accounting/event/status_macros.h"

namespace epsledger::trainers::network {
namespace {

constexpr char kLayerWords[] =
    "tanh, relu, fully_connected(OUTPUTS), convolution(CHANNELS,KERNEL,STRIDE,PADDING), "
    "average_pool(WINDOW,STRIDE), max_pool(WINDOW,STRIDE) or group_norm(GROUPS)";

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
    RETURN_IF_ERROR(CheckInRange("outputs", layer.outputs, 1, kMaxDimension));
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
    RETURN_IF_ERROR(CheckInRange("groups", layer.groups, 1, input.channels));
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

// The numbers between the parentheses of a layer.
class Arguments {
 public:
  // Returns nullopt if one of them is not a number.
  static std::optional<Arguments> Parse(absl::string_view text) {
    Arguments arguments;
    for (const absl::string_view word : absl::StrSplit(text, ',')) {
      double number = 0;
      if (!absl::SimpleAtod(word, &number) || !std::isfinite(number)) return std::nullopt;
      arguments.numbers_.push_back(number);
    }
    return arguments;
  }

  size_t count() const { return numbers_.size(); }
  double Number(size_t i, double otherwise) const { return i < count() ? numbers_[i] : otherwise; }
  // Returns -1, an invalid dimension, for a number that is not an integer.
  Eigen::Index Whole(size_t i, Eigen::Index otherwise) const {
    const double number = Number(i, static_cast<double>(otherwise));
    const bool is_whole = number == std::floor(number) && std::abs(number) <= kMaxDimension;
    return is_whole ? static_cast<Eigen::Index>(number) : -1;
  }

 private:
  std::vector<double> numbers_;
};

// Returns nullopt if there is no such layer with this many numbers.
std::optional<LayerOptions> MakeLayer(absl::string_view name, const Arguments& arguments) {
  const size_t count = arguments.count();
  if (name == "tanh" && count == 0) return Tanh{};
  if (name == "relu" && count == 0) return Relu{};
  if (name == "fully_connected" && count == 1) {
    return FullyConnected{.outputs = arguments.Whole(0, 0)};
  }
  if (name == "convolution" && count >= 2 && count <= 4) {
    return Convolution{.channels = arguments.Whole(0, 0),
                       .kernel = arguments.Whole(1, 0),
                       .stride = arguments.Whole(2, 1),
                       .padding = arguments.Whole(3, 0)};
  }
  if (name == "average_pool" && (count == 1 || count == 2)) {
    const Eigen::Index window = arguments.Whole(0, 0);
    return AveragePool{.window = window, .stride = arguments.Whole(1, window)};
  }
  if (name == "max_pool" && (count == 1 || count == 2)) {
    const Eigen::Index window = arguments.Whole(0, 0);
    return MaxPool{.window = window, .stride = arguments.Whole(1, window)};
  }
  if (name == "group_norm" && (count == 1 || count == 2)) {
    return GroupNorm{.groups = arguments.Whole(0, 0),
                     .variance_offset = arguments.Number(1, GroupNorm{}.variance_offset)};
  }
  return std::nullopt;
}

std::optional<LayerOptions> ParseLayer(absl::string_view text) {
  const size_t open = text.find('(');
  if (open == absl::string_view::npos) return MakeLayer(text, Arguments());
  absl::string_view inside = text.substr(open + 1);
  if (!absl::ConsumeSuffix(&inside, ")")) return std::nullopt;
  const std::optional<Arguments> arguments = Arguments::Parse(inside);
  if (!arguments.has_value()) return std::nullopt;
  return MakeLayer(text.substr(0, open), *arguments);
}

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

absl::StatusOr<std::vector<LayerOptions>> ParseLayers(absl::string_view text) {
  std::vector<LayerOptions> layers;
  for (const absl::string_view word : absl::StrSplit(text, ' ', absl::SkipEmpty())) {
    const std::optional<LayerOptions> layer = ParseLayer(word);
    if (!layer.has_value()) {
      return absl::InvalidArgumentError(
          absl::StrCat("layer: got \"", word, "\", want ", kLayerWords));
    }
    layers.push_back(*layer);
  }
  return layers;
}

}  // namespace epsledger::trainers::network
