#ifndef EPSLEDGER_CLIENT_TRAINERS_ISTDP_LOOP_AUDIT_H_
#define EPSLEDGER_CLIENT_TRAINERS_ISTDP_LOOP_AUDIT_H_

#include "absl/status/statusor.h"
#include "client/trainers/istdp/attacks.h"
#include "client/trainers/run/gradient_release.h"

namespace epsledger::trainers::istdp {

struct LoopAuditOptions {
  int steps = 30;  // of one run; >= 1
  int trials = 1000;
  // Noise / contribution that the run is meant to have; > 0. It scales the scores alone.
  double noise_multiplier = 1;
  // The contribution that the trainer clips to, where the noise is for 1. Anything but 1 is a bug:
  // the negative control of an audit.
  double contribution = 1;
};

// Returns scores for a two-arm audit of TrainSound: runs on no record at all, and on one canary
// whose clipped gradient is the same vector c of norm `contribution` at every step (its margin does
// not move: steps are 1e-12). Scores are
//
//   sum over steps of <released_k, c> / (noise_multiplier contribution)^2,
//
// the optimal statistic of the white-box adversary who sees every release. They are normal with
// variance mu^2 and means mu^2 apart, mu = sqrt(steps) / noise_multiplier, if and only if the
// trainer adds the noise that it should to sums of the sensitivity that it should. `release` draws
// the noise, for a contribution of 1 whatever it is told.
absl::StatusOr<TrialScores> SoundLoopScores(const LoopAuditOptions& options,
                                            GradientRelease& release);

}  // namespace epsledger::trainers::istdp

#endif  // EPSLEDGER_CLIENT_TRAINERS_ISTDP_LOOP_AUDIT_H_
