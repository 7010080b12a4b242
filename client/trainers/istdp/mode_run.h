#ifndef EPSLEDGER_CLIENT_TRAINERS_ISTDP_MODE_RUN_H_
#define EPSLEDGER_CLIENT_TRAINERS_ISTDP_MODE_RUN_H_

#include <chrono>
#include <vector>

#include "absl/status/statusor.h"
#include "client/trainers/istdp/command_line.h"
#include "client/trainers/istdp/linear_loss.h"
#include "client/trainers/istdp/training.h"
#include "epsledger/mechanism.h"
#include "epsledger/session.h"

namespace epsledger::trainers::istdp {

// Returns the events that the mode charges: those of each step, in order, or one for each of two
// phases. `noise_multiplier` is that of a step with one event; a mode with several events splits
// it.
std::vector<Mechanism> EventsOf(const CommandLine& options, double noise_multiplier);

// Everything that a mode needs. All must outlive the run.
struct ModeRun {
  const CommandLine& options;
  const LinearLoss& loss;
  const TrainingOptions& training;
  Session& session;
  double noise_multiplier = 0;
  const StepObserver& observer;
};

struct ModeOutcome {
  TrainingResult result;
  std::chrono::nanoseconds charge_time;  // waiting for the ledger
};

// Trains in the mode of the options. Everything that depends on the records is charged to the
// ledger before it is returned. Status codes: those of the mode's function.
absl::StatusOr<ModeOutcome> RunMode(const ModeRun& run);

}  // namespace epsledger::trainers::istdp

#endif  // EPSLEDGER_CLIENT_TRAINERS_ISTDP_MODE_RUN_H_
