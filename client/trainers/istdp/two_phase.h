#ifndef EPSLEDGER_CLIENT_TRAINERS_ISTDP_TWO_PHASE_H_
#define EPSLEDGER_CLIENT_TRAINERS_ISTDP_TWO_PHASE_H_

#include "absl/status/statusor.h"
#include "client/trainers/istdp/linear_loss.h"
#include "client/trainers/istdp/training.h"
#include "client/trainers/run/gradient_release.h"

namespace epsledger::trainers::istdp {

// How a run is divided into finding the support and fitting it; public.
struct TwoPhaseOptions {
  int first_steps = 10;       // in [1, max_steps - 1]
  double first_share = 0.4;   // of the run's mu squared, in (0, 1)
  double contribution = 0.6;  // clip norm of a record's gradient on the support; > 0
};

// The noise of the two phases. If z is the multiplier of each of `max_steps` equal steps, the run
// costs the same as these: first_steps/first^2 + (max_steps - first_steps)/second^2 = max_steps/z^2
// [DRS19, Cor. 3.3].
struct TwoPhaseNoise {
  double first = 0;   // z sqrt(first_steps / (first_share max_steps))
  double second = 0;  // z sqrt((max_steps - first_steps) / ((1 - first_share) max_steps))
};

// REQUIRES: noise_multiplier > 0, CheckTwoPhase(options, max_steps).ok().
TwoPhaseNoise TwoPhaseNoiseFor(double noise_multiplier, const TwoPhaseOptions& options,
                               int max_steps);

// Returns OK, or INVALID_ARGUMENT that names the field, the value and the domain.
absl::Status CheckTwoPhase(const TwoPhaseOptions& options, int max_steps);

// Trains by sound ISTDP, which first finds the support and then fits only the support. Label:
// proven.
//
// Phase 1 is TrainSound for first_steps steps. The support S is where its last iterate is at least
// a lambda in absolute value, where the penalty of MCP is flat; other coefficients become 0.
// Phase 2 is TrainSound from that point on records whose features outside S are 0, without a
// penalty (|t| >= a lambda is its flat part), each gradient clipped to `contribution`. The released
// values outside S are noise and are not used.
//
// Privacy: S is a function of the releases of phase 1, so phase 2, for every value of its past, is
// a sequence of Gaussian mechanisms of sensitivity `contribution`. The run is
// sqrt(first_steps/first^2 + second_steps/second^2)-GDP under add-or-remove-one (README, theorem
// 1). `first` draws the noise of phase 1, `second` that of phase 2; each is one charge a step.
//
// A run that ends in phase 1 has the result of that phase. All else is as TrainSound; steps are
// counted over both phases. INVALID_ARGUMENT also for `two_phase`, for another penalty than MCP,
// and for options with a resumed state.
absl::StatusOr<TrainingResult> TrainTwoPhase(const LinearLoss& loss, const TrainingOptions& options,
                                             const TwoPhaseOptions& two_phase,
                                             GradientRelease& first, GradientRelease& second,
                                             const StepObserver& observer = {});

}  // namespace epsledger::trainers::istdp

#endif  // EPSLEDGER_CLIENT_TRAINERS_ISTDP_TWO_PHASE_H_
