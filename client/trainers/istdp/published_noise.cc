#include "client/trainers/istdp/published_noise.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "client/trainers/istdp/sound.h"

namespace epsledger::trainers::istdp {

absl::StatusOr<PublishedCalibration> CalibrateAsPublished(const PublishedClaim& claim) {
  if (claim.iterations < 2) {
    return absl::InvalidArgumentError(
        absl::StrCat("PublishedClaim.iterations: got ", claim.iterations, ", want >= 2"));
  }
  const double iterations = claim.iterations;
  if (!(claim.epsilon > 0 && claim.epsilon <= 4 * iterations)) {
    return absl::InvalidArgumentError(absl::StrCat("PublishedClaim.epsilon: got ", claim.epsilon,
                                                   ", want in (0, ", 4 * iterations,
                                                   "], where the paper's theorem 3.3 applies"));
  }
  if (!(claim.delta > 0 && claim.delta < 1)) {
    return absl::InvalidArgumentError(
        absl::StrCat("PublishedClaim.delta: got ", claim.delta, ", want in (0, 1)"));
  }
  PublishedCalibration calibration;
  calibration.delta_k = claim.delta / (2 * iterations);
  calibration.delta_prime = claim.delta / 2;
  calibration.epsilon_k =
      std::min(claim.epsilon / (2 * std::sqrt(2 * iterations * std::log(2 / claim.delta))),
               0.5 * std::sqrt(claim.epsilon / iterations));
  calibration.noise_over_sensitivity =
      std::sqrt(2 * std::log(1.25 / calibration.delta_k)) / calibration.epsilon_k;
  calibration.noise_multiplier = 2 * calibration.noise_over_sensitivity;
  return calibration;
}

absl::StatusOr<TrainingResult> TrainPublishedNoise(const LinearLoss& loss,
                                                   const TrainingOptions& options,
                                                   GradientRelease& release,
                                                   const StepObserver& observer) {
  if (options.steps.rule != StepRule::kFixed) {
    return absl::InvalidArgumentError(
        "StepOptions.rule: got another than kFixed, want kFixed with the published noise");
  }
  return TrainSound(loss, options, release, observer);
}

}  // namespace epsledger::trainers::istdp
