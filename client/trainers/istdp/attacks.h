#ifndef EPSLEDGER_CLIENT_TRAINERS_ISTDP_ATTACKS_H_
#define EPSLEDGER_CLIENT_TRAINERS_ISTDP_ATTACKS_H_

#include <vector>

#include "absl/status/statusor.h"
#include "client/trainers/istdp/published_noise.h"
#include "client/trainers/run/gradient_release.h"

namespace epsledger::trainers::istdp {

// Attacks on ISTDP as published. Each uses two neighboring data sets, chosen by the attacker as
// differential privacy allows, and a score of a run's OUTPUT that distinguishes them. The records
// are artificial. The attacks show that the published guarantee is false, whatever the noise; they
// say nothing about an average record.

// One score a run for each of two neighboring data sets; larger means more likely with the record.
struct TrialScores {
  std::vector<double> without_record;
  std::vector<double> with_record;
};

struct AttackOptions {
  PublishedClaim claim{.epsilon = 0.1, .delta = 1e-5, .iterations = 10};
  int trials = 1000;  // of each data set; >= 1
};

// A1, the step size. 24 records are orthogonal to theta^1 - theta^0, and one more record is along
// it. Without this record the exact gradients do not change, so the published step is the largest
// allowed; with it the step is four times smaller. The first iterate moves by step * noise, whose
// norm in 100 dimensions is known to 7%: the length of the move reveals the step, however large the
// noise. Line search is off (no back-track), so only the step size is attacked. The score is
// ln(observed step / geometric mean of the two steps), negated.
//
// `release` must add the noise that `options.claim` asks for, of multiplier
// CalibrateAsPublished(claim).noise_multiplier. One step, and one release, a run.
absl::StatusOr<TrialScores> StepSizeAttack(const AttackOptions& options, GradientRelease& release);

// A2, the line search. One data set is empty, the other has one record. Without the record the
// objective is constant and no candidate is ever accepted. With it a candidate is accepted whenever
// the noise points downhill, half of the time. The length of the move reveals whether a candidate
// was accepted. The score is 1 if so, else 0. `release` as above.
absl::StatusOr<TrialScores> LineSearchAttack(const AttackOptions& options,
                                             GradientRelease& release);

}  // namespace epsledger::trainers::istdp

#endif  // EPSLEDGER_CLIENT_TRAINERS_ISTDP_ATTACKS_H_
