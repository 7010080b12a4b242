#ifndef EPSLEDGER_CLIENT_TRAINERS_FSDP_MODEL_FILE_H_
#define EPSLEDGER_CLIENT_TRAINERS_FSDP_MODEL_FILE_H_

#include <map>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "client/trainers/fsdp/public_basis.h"
#include "client/trainers/network/layer.h"
#include "client/trainers/network/network.h"

namespace epsledger::trainers::fsdp {

// How the features of an image become the network's inputs. Public or released.
struct ModelInputs {
  std::optional<PublicBasis> basis = std::nullopt;
  network::Vector<float> center = {};  // empty: none
};

// Returns a trained model in the safetensors format, for use by other programs: the length of a
// JSON header (8 bytes, little-endian), the header, then the numbers (32-bit floats,
// little-endian).
//
// The tensors of layer l, as Network counts them, are "l.weight" and "l.bias", the names in
// torch.nn.Sequential with the same layers. Shapes, the last index fastest: [outputs, inputs] of a
// fully connected layer, whose inputs are a sample's (channel, row, column); [channels, input
// channels, kernel, kernel] of a convolution; [channels] of a group norm and of every bias.
// The header contains `metadata` and "network", the description of the layers. What `inputs` has is
// added as "input.mean", "input.directions" [directions, features] and "input.center": the network
// reads  input_scale * directions * (features - mean) - center.
//
// `parameters` are released numbers, so the file is public. INVALID_ARGUMENT unless they are finite
// and as many as the network's.
absl::StatusOr<std::string> EncodeModel(const network::Network<float>& network,
                                        const network::Vector<float>& parameters,
                                        const ModelInputs& inputs,
                                        std::map<std::string, std::string> metadata);

}  // namespace epsledger::trainers::fsdp

#endif  // EPSLEDGER_CLIENT_TRAINERS_FSDP_MODEL_FILE_H_
