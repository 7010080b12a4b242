#ifndef EPSLEDGER_CLIENT_TRAINERS_FSDP_MODEL_FILE_H_
#define EPSLEDGER_CLIENT_TRAINERS_FSDP_MODEL_FILE_H_

#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "client/trainers/network/layer.h"
#include "client/trainers/network/network.h"

namespace epsledger::trainers::fsdp {

// Returns a trained model in the safetensors format, for use by other programs: the length of a
// JSON header (8 bytes, little-endian), the header, then the numbers (32-bit floats,
// little-endian).
//
// The tensors of layer l, as Network counts them, are "l.weight" and "l.bias", the names in
// torch.nn.Sequential with the same layers. Shapes, the last index fastest: [outputs, inputs] of a
// fully connected layer, whose inputs are a sample's (channel, row, column); [channels, input
// channels, kernel, kernel] of a convolution; [channels] of a group norm and of every bias.
// The header contains `metadata` and "network", the description of the layers.
//
// `parameters` are released numbers, so the file is public. INVALID_ARGUMENT unless they are finite
// and as many as the network's.
absl::StatusOr<std::string> EncodeModel(const network::Network<float>& network,
                                        const network::Vector<float>& parameters,
                                        std::map<std::string, std::string> metadata);

}  // namespace epsledger::trainers::fsdp

#endif  // EPSLEDGER_CLIENT_TRAINERS_FSDP_MODEL_FILE_H_
