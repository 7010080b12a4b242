#ifndef EPSLEDGER_CLIENT_TRAINERS_NETWORK_CHECKPOINT_H_
#define EPSLEDGER_CLIENT_TRAINERS_NETWORK_CHECKPOINT_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "client/trainers/network/network.h"
#include "client/trainers/network/shape.h"

namespace epsledger::trainers::network {

// The values that training needs to continue; no records and no noise. A run that resumes from it
// draws fresh noise and is charged again.
template <class T>
struct Checkpoint {
  std::string description;  // Network::description()
  uint64_t step = 0;        // steps taken
  Vector<T> parameters;
  Vector<T> velocity;  // as many as parameters
};

// Returns the bytes of `checkpoint`, the same on every platform, all numbers little-endian:
//
//   "EPSLNETW"   format version (4 bytes, now 1)   bytes a number (4: 4 or 8)   step (8)
//   length of the description (8), description   parameter count (8), parameters, velocity
//   FNV-1a of all that (8)
//
// INVALID_ARGUMENT unless parameters and velocity are finite and of one size.
template <class T>
absl::StatusOr<std::string> EncodeCheckpoint(const Checkpoint<T>& checkpoint);

// Returns the checkpoint in `bytes`, bit for bit the one that was encoded. INVALID_ARGUMENT that
// names the field for another format or version, another T, another network than `network`,
// numbers that are not finite, missing or extra bytes, and a checksum that does not match. The
// checksum finds accidents, not forgery.
template <class T>
absl::StatusOr<Checkpoint<T>> DecodeCheckpoint(absl::string_view bytes, const Network<T>& network);

}  // namespace epsledger::trainers::network

#endif  // EPSLEDGER_CLIENT_TRAINERS_NETWORK_CHECKPOINT_H_
