#include "client/trainers/istdp/sound.h"

#include <optional>

#include "accounting/event/status_macros.h"
#include "client/trainers/istdp/descent.h"

namespace epsledger::trainers::istdp {

absl::StatusOr<TrainingResult> TrainSound(const LinearLoss& loss, const TrainingOptions& options,
                                          GradientRelease& release, const StepObserver& observer) {
  RETURN_IF_ERROR(ValidateTraining(options, loss.feature_count()));
  Descent descent(loss, options, observer);
  while (descent.Continues()) {
    const std::optional<Eigen::VectorXd> gradient = descent.ReleaseGradient(release);
    if (!gradient.has_value()) break;
    // From here to the end of the loop only public and released values are read.
    const double step_size = descent.StepSize(*gradient);
    descent.MoveTo({.step_size = step_size,
                    .gradient = *gradient,
                    .theta = descent.ProxStep(step_size, *gradient)});
  }
  return descent.Result();
}

}  // namespace epsledger::trainers::istdp
