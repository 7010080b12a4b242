#ifndef EPSLEDGER_CLIENT_TRAINERS_ISTDP_PUBLISHED_NOISE_H_
#define EPSLEDGER_CLIENT_TRAINERS_ISTDP_PUBLISHED_NOISE_H_

#include "absl/status/statusor.h"
#include "client/trainers/istdp/linear_loss.h"
#include "client/trainers/istdp/training.h"
#include "client/trainers/run/gradient_release.h"

namespace epsledger::trainers::istdp {

// The paper's claim for T iterations.
struct PublishedClaim {
  double epsilon = 1;   // in (0, 4 iterations]
  double delta = 1e-5;  // in (0, 1)
  int iterations = 0;   // "T", >= 2; the algorithm makes T - 1 updates
};

// The numbers of Theorem 3.3 of the paper.
struct PublishedCalibration {
  double delta_k = 0;      // delta / (2 T)
  double delta_prime = 0;  // delta / 2
  double epsilon_k = 0;    // min(epsilon / (2 sqrt(2 T ln(2 / delta))), sqrt(epsilon / T) / 2)
  // sqrt(2 ln(1.25 / delta_k)) / epsilon_k: standard deviation of the noise / sensitivity.
  double noise_over_sensitivity = 0;
  // The same in the ledger's units, noise / contribution of one record. The paper's sensitivity of
  // the mean gradient is 2 U, where U bounds its norm, "vacuous by a factor n". Read as 2 U / n,
  // where U bounds the norm of one record's gradient, it is twice the contribution.
  double noise_multiplier = 0;
};

// Returns Theorem 3.3's calibration. Its proof needs epsilon_k <= 1 (the classical Gaussian
// mechanism), which holds if epsilon <= 4 T. INVALID_ARGUMENT outside the domain above.
absl::StatusOr<PublishedCalibration> CalibrateAsPublished(const PublishedClaim& claim);

// Trains by ISTDP with the published noise, a fixed step and no line search. Label: proven, with
// epsilon from the ledger, which is 15 to 20 times below the paper's claim. It is TrainSound with
// fixed options.steps; `release` must have noise of CalibrateAsPublished(...).noise_multiplier. No
// part of the paper that reads exact private values remains. INVALID_ARGUMENT for another step
// rule.
absl::StatusOr<TrainingResult> TrainPublishedNoise(const LinearLoss& loss,
                                                   const TrainingOptions& options,
                                                   GradientRelease& release,
                                                   const StepObserver& observer = {});

}  // namespace epsledger::trainers::istdp

#endif  // EPSLEDGER_CLIENT_TRAINERS_ISTDP_PUBLISHED_NOISE_H_
