#ifndef EPSLEDGER_CLIENT_TRAINERS_FSDP_RUN_FILES_H_
#define EPSLEDGER_CLIENT_TRAINERS_FSDP_RUN_FILES_H_

#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "client/trainers/fsdp/command_line.h"
#include "client/trainers/fsdp/fsdp.h"
#include "client/trainers/fsdp/public_basis.h"
#include "client/trainers/fsdp/state_file.h"
#include "client/trainers/network/network.h"
#include "client/trainers/run/result_file.h"

namespace epsledger::trainers::fsdp {

// Returns the model that is evaluated and given to others: the averaged one, if there is one.
const network::Vector<float>& ReleasedModel(const TrainingState& state);

// Writes the checkpoint and the model of a run. The files of an earlier run stay unless this run
// has a replacement, and are then kept as FILE.previous. All that is written is released.
class RunFiles {
 public:
  // All references must outlive this object; of the network the layers are read.
  RunFiles(const CommandLine& options, const network::Network<float>& network,
           const std::optional<PublicBasis>& basis, RunIdentity identity)
      : options_(options),
        network_(network),
        basis_(basis),
        identity_(std::move(identity)),
        previous_(options.resume) {}

  // Writes the checkpoint, if there is to be one: before the first step, of a run that has released
  // something before it.
  void WriteFirstCheckpoint(const TrainingState& state);
  // Writes the checkpoint if there is to be one after this step.
  void WriteCheckpointIfDue(const TrainingState& state);
  // Writes the last checkpoint and the model; nothing if nothing was released.
  void WriteResult(const TrainingResult& result);

  // Returns the first error. Training goes on after it: a run without a file is better than no run.
  const absl::Status& status() const { return status_; }

 private:
  void WriteCheckpoint(const TrainingState& state);
  absl::Status WriteModel(const TrainingState& state) const;

  const CommandLine& options_;
  const network::Network<float>& network_;
  const std::optional<PublicBasis>& basis_;
  const RunIdentity identity_;
  PreviousKeeper previous_;
  absl::Status status_;
};

}  // namespace epsledger::trainers::fsdp

#endif  // EPSLEDGER_CLIENT_TRAINERS_FSDP_RUN_FILES_H_
