#ifndef EPSLEDGER_CLIENT_TRAINERS_ISTDP_ATTACKS_H_
#define EPSLEDGER_CLIENT_TRAINERS_ISTDP_ATTACKS_H_

#include <vector>

#include "absl/status/statusor.h"
#include "client/trainers/istdp/published_noise.h"
#include "client/trainers/run/gradient_release.h"

namespace epsledger::trainers::istdp {

// Demonstrations against ISTDP as published: two neighboring data sets, chosen by the attacker as
// differential privacy allows, and a score of each run's OUTPUT that tells them apart. Nobody's
// records are in them. What they show is that the published guarantee is false, whatever the noise:
// they say nothing of an average record.

// One score a run for each of two neighboring data sets; larger means more likely with the record.
struct TrialScores {
  std::vector<double> without_record;
  std::vector<double> with_record;
};

struct AttackOptions {
  PublishedClaim claim{.epsilon = 0.1, .delta = 1e-5, .iterations = 10};
  int trials = 1000;  // of each data set; >= 1
};

// A1, the step size. 24 records that are orthogonal to theta^1 - theta^0, and one more along it.
// Without that one the exact gradients do not change, so that the published step is the largest
// allowed; with it the step is four times smaller. The first iterate moves by step * noise, whose
// norm in 100 dimensions is known to 7%: the length of the move shows the step, however large the
// noise. Line search is off (no back-track), so that the step size alone is attacked. The score is
// ln(step seen / the two steps' geometric mean), negated.
//
// `release` must add the noise that `options.claim` asks for, of multiplier
// CalibrateAsPublished(claim).noise_multiplier. One step, and one release, a run.
absl::StatusOr<TrialScores> StepSizeAttack(const AttackOptions& options, GradientRelease& release);

// A2, the line search. No records at all, and one. Without it the objective is constant and no
// candidate is ever accepted; with it a candidate is accepted whenever noise points downhill, half
// of the time. Whether one was accepted is seen from the length of the move. The score is 1 if so,
// else 0. `release` as above.
absl::StatusOr<TrialScores> LineSearchAttack(const AttackOptions& options,
                                             GradientRelease& release);

}  // namespace epsledger::trainers::istdp

#endif  // EPSLEDGER_CLIENT_TRAINERS_ISTDP_ATTACKS_H_
