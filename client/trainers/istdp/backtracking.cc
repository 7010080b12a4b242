#include "client/trainers/istdp/backtracking.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "absl/strings/str_cat.h"
#include "accounting/event/status_macros.h"
#include "client/trainers/istdp/descent.h"

namespace epsledger::trainers::istdp {
namespace {

constexpr int kMostBacktracks = 10'000;

}  // namespace

double SufficientStep(double sufficient_decrease, double lipschitz_constant) {
  // (sqrt(L^2 + 4 b) - L) / (2 b), without cancellation.
  const double root = std::hypot(lipschitz_constant, 2 * std::sqrt(sufficient_decrease));
  return 1 / (0.5 * root + 0.5 * lipschitz_constant);  // halves, so that the sum cannot overflow
}

int BacktrackBound(const Backtracking& backtracking, double largest_step) {
  const double ratio = largest_step * (backtracking.sufficient_decrease * largest_step +
                                       backtracking.lipschitz_constant);
  const double printed = std::ceil(std::log(ratio) / -std::log(backtracking.shrink) + 1);
  return printed > 0 ? static_cast<int>(std::min(printed, 1e9)) : 0;
}

absl::Status ValidateBacktracking(const Backtracking& backtracking, double largest_step) {
  if (!(backtracking.shrink > 0 && backtracking.shrink < 1)) {
    return absl::InvalidArgumentError(
        absl::StrCat("Backtracking.shrink: got ", backtracking.shrink, ", want in (0, 1)"));
  }
  if (!(backtracking.sufficient_decrease > 0 && backtracking.sufficient_decrease < 1)) {
    return absl::InvalidArgumentError(absl::StrCat("Backtracking.sufficient_decrease: got ",
                                                   backtracking.sufficient_decrease,
                                                   ", want in (0, 1)"));
  }
  if (!(std::isfinite(backtracking.lipschitz_constant) && backtracking.lipschitz_constant > 0)) {
    return absl::InvalidArgumentError(absl::StrCat("Backtracking.lipschitz_constant: got ",
                                                   backtracking.lipschitz_constant,
                                                   ", want a finite number > 0"));
  }
  if (const int most = BacktrackBound(backtracking, largest_step); most > kMostBacktracks) {
    return absl::InvalidArgumentError(absl::StrCat(
        "Backtracking.shrink: got ", backtracking.shrink, ", which needs up to ", most,
        " back-tracks of a step of ", largest_step, ", want at most ", kMostBacktracks));
  }
  return absl::OkStatus();
}

BacktrackedStep Backtrack(const Backtracking& backtracking, double step) {
  const double sufficient =
      SufficientStep(backtracking.sufficient_decrease, backtracking.lipschitz_constant);
  BacktrackedStep result{.step_size = step, .backtracks = 0};
  while (result.step_size > sufficient) {
    result.step_size *= backtracking.shrink;
    ++result.backtracks;
  }
  return result;
}

absl::StatusOr<TrainingResult> TrainBacktracking(const LinearLoss& loss,
                                                 const TrainingOptions& options,
                                                 const Backtracking& backtracking,
                                                 GradientRelease& release,
                                                 const StepObserver& observer) {
  RETURN_IF_ERROR(ValidateTraining(options, loss.feature_count()));
  if (options.steps.rule != StepRule::kBarzilaiBorwein) {
    return absl::InvalidArgumentError(
        "StepOptions.rule: got kFixed, want kBarzilaiBorwein: a fixed step needs no back-tracking");
  }
  RETURN_IF_ERROR(ValidateBacktracking(backtracking, options.steps.bounds.largest));
  Descent descent(loss, options, observer);
  while (descent.Continues()) {
    const std::optional<Eigen::VectorXd> gradient = descent.ReleaseGradient(release);
    if (!gradient.has_value()) break;
    // From here to the end of the loop only public and released values are read.
    const BacktrackedStep step = Backtrack(backtracking, descent.StepSize(*gradient));
    descent.MoveTo({.step_size = step.step_size,
                    .gradient = *gradient,
                    .theta = descent.ProxStep(step.step_size, *gradient),
                    .backtracks = step.backtracks});
  }
  return descent.Result();
}

}  // namespace epsledger::trainers::istdp
