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

// The events that the mode charges: of each step, in order, or of two phases the one of each.
// `noise_multiplier` is that of a step of one event; a mode with more of them splits it.
std::vector<Mechanism> EventsOf(const CommandLine& options, double noise_multiplier);

// Everything that a mode needs. All outlive the run.
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

// Trains in the mode of the options, with the ledger between the records and everything that is
// returned. Status codes: those of the mode's function.
absl::StatusOr<ModeOutcome> RunMode(const ModeRun& run);

}  // namespace epsledger::trainers::istdp

#endif  // EPSLEDGER_CLIENT_TRAINERS_ISTDP_MODE_RUN_H_
