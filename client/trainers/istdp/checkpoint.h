#ifndef EPSLEDGER_CLIENT_TRAINERS_ISTDP_CHECKPOINT_H_
#define EPSLEDGER_CLIENT_TRAINERS_ISTDP_CHECKPOINT_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/trainers/istdp/training.h"

namespace epsledger::trainers::istdp {

// The state from which an interrupted run continues. Public: it holds released values and settings,
// but no records and no noise. Steps that were charged after it was written are lost with their
// noise; a run that continues draws fresh noise in a new attempt and charges again.
struct Checkpoint {
  std::string budget;
  std::string session;   // its last segment
  std::string settings;  // SettingsText of the run
  double noise_multiplier = 0;
  TrainingState state;  // step >= 1
};

// Writes the checkpoint. If the process or the machine stops, the file holds either the complete
// old checkpoint or the complete new one (temporary file beside it, fsync, rename).
// FAILED_PRECONDITION with the path if that is not possible.
absl::Status WriteCheckpoint(const std::string& path, const Checkpoint& checkpoint);

// Reads a file of WriteCheckpoint, numbers bit for bit. NOT_FOUND if there is no file;
// INVALID_ARGUMENT that names the field if the file is not a checkpoint.
absl::StatusOr<Checkpoint> ReadCheckpoint(const std::string& path);

}  // namespace epsledger::trainers::istdp

#endif  // EPSLEDGER_CLIENT_TRAINERS_ISTDP_CHECKPOINT_H_
