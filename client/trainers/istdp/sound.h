#ifndef EPSLEDGER_CLIENT_TRAINERS_ISTDP_SOUND_H_
#define EPSLEDGER_CLIENT_TRAINERS_ISTDP_SOUND_H_

#include "absl/status/statusor.h"
#include "client/trainers/istdp/linear_loss.h"
#include "client/trainers/istdp/training.h"
#include "client/trainers/run/gradient_release.h"

namespace epsledger::trainers::istdp {

// Trains by sound ISTDP: proximal gradient steps on charged, noised gradients. Label: proven.
//
//   released_k = release.Release(loss.GradientSum(theta_k), loss.contribution()) / n0
//   theta_{k+1} = Prox(regularizer, gamma_k, theta_k - gamma_k released_k)
//
// Privacy: each field of the result, each StepReport and the stopping time are functions of the
// options and of the vectors that `release` returned. With Gaussian noise of multiplier z per
// release and at most `max_steps` releases the whole transcript is sqrt(max_steps)/z-GDP under
// add-or-remove-one (README, theorem 1), whether or not training converges. With Poisson batches
// each release is poissonSampled{gaussian{z}}, and sums are divided by the sampling probability
// times n0. There is no line search: the published one compares exact losses of private records.
//
// Unless options.average_last says otherwise, `averaged` starts as theta_2 and then moves by 4 / (k
// + 3) of the way to the iterate of step k
// ([SZ13] with eta = 3): the last iterates have the largest weights, and no horizon is needed.
//
// A release that is refused or fails ends training without an error here: the result holds the
// iterate so far, and release_status says why. A released vector of the wrong size or with a NaN or
// an infinity counts as a release and ends training with kReleaseFailed and an INTERNAL status.
// INVALID_ARGUMENT, before any release, if an option is outside its domain.
//
// `observer` may be empty; it is called after each step, on the calling thread. Cost of a step: one
// GradientSum, one Release, O(size).
absl::StatusOr<TrainingResult> TrainSound(const LinearLoss& loss, const TrainingOptions& options,
                                          GradientRelease& release,
                                          const StepObserver& observer = {});

}  // namespace epsledger::trainers::istdp

#endif  // EPSLEDGER_CLIENT_TRAINERS_ISTDP_SOUND_H_
