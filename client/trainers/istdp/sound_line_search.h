#ifndef EPSLEDGER_CLIENT_TRAINERS_ISTDP_SOUND_LINE_SEARCH_H_
#define EPSLEDGER_CLIENT_TRAINERS_ISTDP_SOUND_LINE_SEARCH_H_

#include "absl/status/statusor.h"
#include "client/trainers/istdp/linear_loss.h"
#include "client/trainers/istdp/training.h"
#include "client/trainers/run/gradient_release.h"

namespace epsledger::trainers::istdp {

// A line search over `candidates` steps gamma, gamma * shrink, gamma * shrink^2, ...; public.
struct LineSearchOptions {
  int candidates = 4;                // in [2, 64]
  double shrink = 0.25;              // in (0, 1); "eta"
  double sufficient_decrease = 0.1;  // in (0, 1); "beta"
};

// How the noise of one step is split. If z is the noise multiplier of a step without line search,
// the two events below together cost as much: 1/gradient^2 + 1/comparison^2 = 1/z^2 [DRS19, Cor.
// 3.3].
struct LineSearchNoise {
  double gradient = 0;    // z / sqrt(1 - share)
  double comparison = 0;  // z / sqrt(share)
};

// REQUIRES: noise_multiplier > 0, comparison_share in (0, 1).
LineSearchNoise LineSearchNoiseFor(double noise_multiplier, double comparison_share);

// Trains by sound ISTDP with a private line search. Label: proven.
//
// After each released gradient the m candidate iterates are public, and so are their distances from
// theta. Their losses are compared with the loss at theta by one more release,
//
//   comparisons.Release(loss.ComparisonSum(theta, candidates), sqrt(m)),
//
// in which one record moves the vector by at most sqrt(m): m answers are one Gaussian event, of
// multiplier z_ls / sqrt(m) if z_ls is the noise of each. The first candidate whose estimated
// decrease of F reaches (beta / (2 gamma)) ||candidate - theta||^2 is used, else the last. Each
// step has two releases and so two charges. A comparison that is refused ends training before the
// step.
//
// With Poisson batches, gradient and comparison each draw a batch and are two poissonSampled
// events. (On one batch they would be one event with 1/z^2 + m/z_ls^2, and one permit allows one
// draw of noise.)
//
// All else is as TrainSound. INVALID_ARGUMENT also for invalid options of the line search.
absl::StatusOr<TrainingResult> TrainSoundLineSearch(
    const LinearLoss& loss, const TrainingOptions& options, const LineSearchOptions& line_search,
    GradientRelease& gradients, GradientRelease& comparisons, const StepObserver& observer = {});

}  // namespace epsledger::trainers::istdp

#endif  // EPSLEDGER_CLIENT_TRAINERS_ISTDP_SOUND_LINE_SEARCH_H_
