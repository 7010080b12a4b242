#ifndef EPSLEDGER_CLIENT_TRAINERS_FSDP_STATE_FILE_H_
#define EPSLEDGER_CLIENT_TRAINERS_FSDP_STATE_FILE_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "client/trainers/fsdp/fsdp.h"
#include "client/trainers/network/network.h"

namespace epsledger::trainers::fsdp {

// The run that a state belongs to. The state contains the run's releases, which are charged only in
// this session. Another session would show them as proven without having counted them.
struct RunIdentity {
  std::string budget;  // its id
  std::string session;
  std::string settings;  // SettingsText of its command line
  double noise_multiplier = 0;
};

struct SavedRun {
  RunIdentity identity;
  TrainingState state;
};

// Returns the bytes of a state of training `network`, the same on every platform: "EPSLFSDP", the
// format version (4 bytes, now 4), budget, session and settings, each with its length (8), the
// noise multiplier, the length (8) and bytes of the network's own checkpoint
// (network/checkpoint.h), then clip norms, average, center (not in version 3), and for every layer
// subspace, scales and history, each with its sizes; FNV-1a of all that (8). All numbers are
// little-endian. The bytes hold only released numbers. INVALID_ARGUMENT unless all numbers are
// finite.
absl::StatusOr<std::string> EncodeState(const network::Network<float>& network,
                                        const RunIdentity& identity, const TrainingState& state);

// Returns the state in `bytes`, of version 3 or 4, bit for bit. INVALID_ARGUMENT that names the
// field for another format, another network, sizes that do not fit, numbers that are not finite,
// bytes missing or left over, and a checksum that does not match.
absl::StatusOr<SavedRun> DecodeState(absl::string_view bytes,
                                     const network::Network<float>& network);

// As EncodeState and WriteDurably.
absl::Status WriteStateFile(const std::string& path, const network::Network<float>& network,
                            const RunIdentity& identity, const TrainingState& state);
// Returns the run whose state the file holds, for any network. NOT_FOUND if the file cannot be
// read; INVALID_ARGUMENT if it does not begin like a state file.
absl::StatusOr<RunIdentity> ReadIdentity(const std::string& path);
// Reads and decodes the file. NOT_FOUND if it cannot be read; else as DecodeState.
absl::StatusOr<SavedRun> ReadStateFile(const std::string& path,
                                       const network::Network<float>& network);

}  // namespace epsledger::trainers::fsdp

#endif  // EPSLEDGER_CLIENT_TRAINERS_FSDP_STATE_FILE_H_
