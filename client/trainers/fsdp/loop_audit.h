#ifndef EPSLEDGER_CLIENT_TRAINERS_FSDP_LOOP_AUDIT_H_
#define EPSLEDGER_CLIENT_TRAINERS_FSDP_LOOP_AUDIT_H_

#include <vector>

#include "absl/status/statusor.h"
#include "client/trainers/fsdp/clipped_sum.h"
#include "client/trainers/run/gradient_release.h"

namespace epsledger::trainers::fsdp {

struct LoopAuditOptions {
  int steps = 1;  // of one trial; >= 1
  int trials = 1000;
  // Noise multiplier that the steps are charged for; > 0. It scales the scores alone.
  double noise_multiplier = 1;
  ClipGeometry geometry = ClipGeometry::kSeparate;
  // With two quantile indicators (one for kJoint).
  bool indicators = false;
};

// Scores of the trials of each arm, for a two-arm audit.
struct ArmScores {
  std::vector<double> without_canary;
  std::vector<double> with_canary;
};

// Returns scores of the mechanism of a step, ClippedSum and then `release` with contribution 1, on
// no record at all and on one canary that is clipped in both parts, so that it uses all of the norm
// that a record may have (no sampling: the event of a step with probability 1). Scores are
//
//   sum over steps of <released_k, c> / noise_multiplier^2,   c the canary's contribution,
//
// the optimal statistic of the adversary who sees every release: normal with variance mu^2 and
// means mu^2 apart, mu = sqrt(steps) ||c|| / noise_multiplier, ||c|| just below 1, if and only if
// embedding, residual and indicators are noised as the one charged event says. About 30 us a step
// of the arm with the canary. INVALID_ARGUMENT outside the domains; the status of a release that
// fails.
absl::StatusOr<ArmScores> StepScores(const LoopAuditOptions& options, GradientRelease& release);

}  // namespace epsledger::trainers::fsdp

#endif  // EPSLEDGER_CLIENT_TRAINERS_FSDP_LOOP_AUDIT_H_
