#include "client/trainers/fsdp/models.h"

#include <cstdint>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace epsledger::trainers::fsdp {

namespace {

using network::FullyConnected;
using network::LayerOptions;
using network::Tanh;

constexpr char kCnn[] =
    "convolution(16,8,2,3) tanh max_pool(2,1) convolution(32,4,2) tanh max_pool(2,1) "
    "fully_connected(32) tanh";
constexpr char kPaper[] =
    "convolution(32,5,1,2) tanh max_pool(2) convolution(64,5,1,2) tanh max_pool(2) "
    "fully_connected(1000) tanh fully_connected(1000) tanh";

}  // namespace

absl::StatusOr<std::vector<LayerOptions>> ModelLayers(const std::string& name, int class_count) {
  std::vector<LayerOptions> layers;
  if (absl::StartsWith(name, "mlp:")) {
    for (const auto width : absl::StrSplit(name.substr(4), ',')) {
      int64_t outputs = 0;
      if (!absl::SimpleAtoi(width, &outputs) || outputs < 1) {
        return absl::InvalidArgumentError(
            absl::StrCat("model: got \"", name, "\", want widths >= 1, as in mlp:64"));
      }
      layers.push_back(FullyConnected{.outputs = outputs});
      layers.push_back(Tanh{});
    }
  } else if (name == "cnn") {
    layers = *network::ParseLayers(kCnn);
  } else if (name == "paper") {
    layers = *network::ParseLayers(kPaper);
  } else if (absl::StrContains(name, '(')) {
    absl::StatusOr<std::vector<LayerOptions>> parsed = network::ParseLayers(name);
    if (!parsed.ok()) {
      return absl::InvalidArgumentError(absl::StrCat("model: ", parsed.status().message()));
    }
    layers = *std::move(parsed);
  } else if (name != "linear") {
    return absl::InvalidArgumentError(
        absl::StrCat("model: got \"", name, "\", want linear, mlp:WIDTHS, cnn, paper or layers"));
  }
  layers.push_back(FullyConnected{.outputs = class_count});
  return layers;
}

}  // namespace epsledger::trainers::fsdp
