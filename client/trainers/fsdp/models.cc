#include "client/trainers/fsdp/models.h"

#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace epsledger::trainers::fsdp {

using network::Convolution;
using network::FullyConnected;
using network::LayerOptions;
using network::MaxPool;
using network::Tanh;

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
    layers = {Convolution{.channels = 16, .kernel = 8, .stride = 2, .padding = 3},
              Tanh{},
              MaxPool{.window = 2, .stride = 1},
              Convolution{.channels = 32, .kernel = 4, .stride = 2},
              Tanh{},
              MaxPool{.window = 2, .stride = 1},
              FullyConnected{.outputs = 32},
              Tanh{}};
  } else if (name == "paper") {
    for (const int channels : {32, 64}) {
      layers.push_back(Convolution{.channels = channels, .kernel = 5, .padding = 2});
      layers.push_back(Tanh{});
      layers.push_back(MaxPool{.window = 2, .stride = 2});
    }
    for (int i = 0; i < 2; ++i) {
      layers.push_back(FullyConnected{.outputs = 1000});
      layers.push_back(Tanh{});
    }
  } else if (name != "linear") {
    return absl::InvalidArgumentError(
        absl::StrCat("model: got \"", name, "\", want linear, mlp:WIDTHS, cnn or paper"));
  }
  layers.push_back(FullyConnected{.outputs = class_count});
  return layers;
}

}  // namespace epsledger::trainers::fsdp
