#ifndef EPSLEDGER_CLIENT_TRAINERS_ISTDP_LOOP_AUDIT_H_
#define EPSLEDGER_CLIENT_TRAINERS_ISTDP_LOOP_AUDIT_H_

#include <Eigen/Core>

#include "absl/status/statusor.h"
#include "client/trainers/istdp/attacks.h"
#include "client/trainers/istdp/sound_line_search.h"
#include "client/trainers/istdp/training.h"
#include "client/trainers/run/gradient_release.h"

namespace epsledger::trainers::istdp {

struct LoopAuditOptions {
  int steps = 30;  // of one run; >= 1
  int trials = 1000;
  // The intended noise / contribution of the run; > 0. It only scales the scores.
  double noise_multiplier = 1;
  // The contribution that the trainer clips to; the noise is for 1. A value other than 1 is a bug,
  // for the negative control of an audit.
  double contribution = 1;
  // How the canary is drawn: `draw` gives {0} or {}. By default it is in every batch.
  Batches batches;
  // The direction of the canary's gradient; not zero. One entry a feature.
  Eigen::VectorXd direction = Eigen::VectorXd::Ones(1);
  // True: the other arm has a record of the opposite gradient instead of none (neighbors under
  // replace-one).
  bool replaced = false;
};

// Returns scores for a two-arm audit of TrainSound: runs on no record, and runs on one canary whose
// clipped gradient is the same vector c of norm `contribution` at every step (its margin does not
// move: steps are 1e-9). Scores are those of TranscriptScore, the optimal statistic of the
// white-box adversary who sees every release; twice as large for a replaced record. Without
// sampling they are normal with variance mu^2
// and means mu^2 apart, mu = sqrt(steps) / noise_multiplier, if and only if the trainer adds the
// correct noise to sums of the correct sensitivity. `release` draws the noise for a contribution of
// 1, whatever argument it gets.
absl::StatusOr<TrialScores> SoundLoopScores(const LoopAuditOptions& options,
                                            GradientRelease& release);

// The same for TrainSoundLineSearch, with `noise` in place of options.noise_multiplier. Every
// candidate is on one side of theta, so the canary's comparisons are all 1 or all -1, depending on
// the released gradient: the comparison moves by all of sqrt(candidates). Without sampling mu is
// sqrt(steps) times the square root of 1/gradient^2 + 1/comparison^2. `comparisons` draws the noise
// for the contribution that is passed to it. INVALID_ARGUMENT also unless the direction is one
// positive number.
absl::StatusOr<TrialScores> SoundLineSearchLoopScores(const LoopAuditOptions& options,
                                                      const LineSearchOptions& line_search,
                                                      const LineSearchNoise& noise,
                                                      GradientRelease& gradients,
                                                      GradientRelease& comparisons);

}  // namespace epsledger::trainers::istdp

#endif  // EPSLEDGER_CLIENT_TRAINERS_ISTDP_LOOP_AUDIT_H_
