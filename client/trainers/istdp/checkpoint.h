#ifndef EPSLEDGER_CLIENT_TRAINERS_ISTDP_CHECKPOINT_H_
#define EPSLEDGER_CLIENT_TRAINERS_ISTDP_CHECKPOINT_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/trainers/istdp/training.h"

namespace epsledger::trainers::istdp {

// Where a run that was cut off continues. Public: it holds released values and settings, and
// nothing of the records or of the noise. Steps that were charged after it was written are lost
// with their noise; a run that continues draws fresh noise in a new attempt and charges again.
struct Checkpoint {
  std::string budget;
  std::string session;   // its last segment
  std::string settings;  // SettingsText of the run
  double noise_multiplier = 0;
  TrainingState state;  // step >= 1
};

// Writes the checkpoint so that the file holds the old one or the new one whole, whenever the
// process or the machine stops: a temporary file beside it, fsync, rename. FAILED_PRECONDITION with
// the path if that is not possible.
absl::Status WriteCheckpoint(const std::string& path, const Checkpoint& checkpoint);

// Reads what WriteCheckpoint wrote, numbers bit for bit. NOT_FOUND without a file,
// INVALID_ARGUMENT that names the field for anything else than a checkpoint.
absl::StatusOr<Checkpoint> ReadCheckpoint(const std::string& path);

}  // namespace epsledger::trainers::istdp

#endif  // EPSLEDGER_CLIENT_TRAINERS_ISTDP_CHECKPOINT_H_
