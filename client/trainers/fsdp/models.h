#ifndef EPSLEDGER_CLIENT_TRAINERS_FSDP_MODELS_H_
#define EPSLEDGER_CLIENT_TRAINERS_FSDP_MODELS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/trainers/network/layer_options.h"

namespace epsledger::trainers::fsdp {

// Returns the layers of a model by its name, for `class_count` logits:
//
//   linear     one fully connected layer
//   mlp:64     a fully connected layer of 64 outputs with tanh, then the logits; more layers as
//              mlp:256,64
//   cnn        8x8 convolution with stride 2 to 16 channels, 2x2 maximum, 4x4 convolution with
//              stride 2 to 32 channels, 2x2 maximum, 32, all with tanh: for images of 28x28 or
//              32x32
//   paper      the network of paper B for MNIST: padded 5x5 convolutions to 32 and 64 channels with
//              2x2 maxima, two layers of 1000, all with tanh
//
//   convolution(16,3) relu group_norm(4) ...
//              the layers before the logits, as network::ParseLayers reads them
//
// INVALID_ARGUMENT for other names.
absl::StatusOr<std::vector<network::LayerOptions>> ModelLayers(const std::string& name,
                                                               int class_count);

}  // namespace epsledger::trainers::fsdp

#endif  // EPSLEDGER_CLIENT_TRAINERS_FSDP_MODELS_H_
