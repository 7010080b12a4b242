#include "client/trainers/istdp/as_published.h"

#include <cmath>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "accounting/event/status_macros.h"
#include "client/trainers/istdp/descent.h"

namespace epsledger::trainers::istdp {
namespace {

absl::Status Validate(const AsPublishedOptions& options, Eigen::Index feature_count) {
  const TrainingOptions& training = options.training;
  RETURN_IF_ERROR(ValidateTraining(training, feature_count));
  if (training.steps.rule != StepRule::kBarzilaiBorwein) {
    return absl::InvalidArgumentError(
        "StepOptions.rule: got kFixed, want kBarzilaiBorwein as published");
  }
  if (training.batches.draw != nullptr) {
    return absl::InvalidArgumentError(
        "Batches.draw: got one, want none: the published algorithm reads all records");
  }
  if (training.resumed.step != 0) {
    return absl::InvalidArgumentError(
        "TrainingOptions.resumed: got a state, want none: the published algorithm's holds exact "
        "gradients of private records");
  }
  const PublishedLineSearch& line_search = options.line_search;
  if (!(line_search.shrink > 0 && line_search.shrink < 1)) {
    return absl::InvalidArgumentError(
        absl::StrCat("PublishedLineSearch.shrink: got ", line_search.shrink, ", want in (0, 1)"));
  }
  if (!(line_search.sufficient_decrease > 0 && line_search.sufficient_decrease < 1)) {
    return absl::InvalidArgumentError(absl::StrCat("PublishedLineSearch.sufficient_decrease: got ",
                                                   line_search.sufficient_decrease,
                                                   ", want in (0, 1)"));
  }
  if (line_search.max_backtracks < 0) {
    return absl::InvalidArgumentError(absl::StrCat("PublishedLineSearch.max_backtracks: got ",
                                                   line_search.max_backtracks, ", want >= 0"));
  }
  if (options.before_initial.size() != feature_count || !options.before_initial.allFinite()) {
    return absl::InvalidArgumentError(
        absl::StrCat("AsPublishedOptions.before_initial: got ", options.before_initial.size(),
                     " coordinates, want ", feature_count, " that are finite"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<TrainingResult> TrainAsPublished(
    const LinearLoss& loss, const AsPublishedOptions& options,
    const std::function<absl::Status()>& charge_exact_access, GradientRelease& release,
    const StepObserver& observer) {
  RETURN_IF_ERROR(Validate(options, loss.feature_count()));
  const TrainingOptions& training = options.training;
  Descent descent(loss, training, observer);
  if (absl::Status charged = charge_exact_access(); !charged.ok()) {
    descent.Stop(charged);
    return descent.Result();
  }
  const double count = descent.expected_count();
  const auto objective = [&](const Eigen::VectorXd& theta) {
    return loss.ExactLossSum(theta) / count + Penalty(training.regularizer, theta);
  };
  Eigen::VectorXd previous_theta = options.before_initial;
  Eigen::VectorXd previous_exact = loss.GradientSum(previous_theta) / count;
  while (descent.Continues()) {
    const Eigen::VectorXd theta = descent.theta();
    const Eigen::VectorXd exact_sum = loss.GradientSum(theta);
    std::optional<Eigen::VectorXd> noisy = descent.Release(exact_sum, loss.contribution(), release);
    if (!noisy.has_value()) break;
    *noisy /= count;
    const Eigen::VectorXd exact = exact_sum / count;
    // The leak of the step size: the gradient passed as "released" is exact.
    double step_size = BarzilaiBorweinStep(
        {.theta = theta - previous_theta, .released_gradient = exact - previous_exact},
        training.steps.bounds);
    Eigen::VectorXd candidate = descent.ProxStep(step_size, *noisy);
    int backtracks = 0;
    // The leak of the line search: whether it accepts depends on exact objectives.
    if (options.line_search.max_backtracks > 0) {
      const double here = objective(theta);
      const auto accepted = [&] {
        return here - objective(candidate) >= options.line_search.sufficient_decrease * step_size /
                                                  2 * (candidate - theta).squaredNorm();
      };
      while (backtracks < options.line_search.max_backtracks && !accepted()) {
        ++backtracks;
        step_size *= options.line_search.shrink;
        candidate = descent.ProxStep(step_size, *noisy);
      }
    }
    previous_theta = theta;
    previous_exact = exact;
    descent.MoveTo({.step_size = step_size,
                    .gradient = *noisy,
                    .theta = std::move(candidate),
                    .backtracks = backtracks});
  }
  return descent.Result();
}

}  // namespace epsledger::trainers::istdp
