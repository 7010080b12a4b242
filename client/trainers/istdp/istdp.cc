#include "client/trainers/istdp/istdp.h"

#include <cmath>
#include <deque>
#include <numeric>
#include <utility>

#include "absl/strings/str_cat.h"

namespace epsledger::trainers::istdp {
namespace {

constexpr double kAveragingEta = 3;

absl::Status ValidateSteps(const StepOptions& steps) {
  if (!(std::isfinite(steps.first) && steps.first > 0)) {
    return absl::InvalidArgumentError(
        absl::StrCat("StepOptions.first: got ", steps.first, ", want a finite number > 0"));
  }
  switch (steps.rule) {
    case StepRule::kFixed:
      return absl::OkStatus();
    case StepRule::kBarzilaiBorwein:
      if (absl::Status status = ValidateStepBounds(steps.bounds); !status.ok()) return status;
      if (steps.first < steps.bounds.smallest || steps.first > steps.bounds.largest) {
        return absl::InvalidArgumentError(
            absl::StrCat("StepOptions.first: got ", steps.first, ", want a number in [",
                         steps.bounds.smallest, ", ", steps.bounds.largest, "]"));
      }
      return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("StepOptions.rule: got ", static_cast<int>(steps.rule), ", want a known rule"));
}

absl::Status Validate(const TrainingOptions& options, Eigen::Index feature_count) {
  if (options.max_steps < 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("TrainingOptions.max_steps: got ", options.max_steps, ", want >= 1"));
  }
  if (options.public_record_count < 1) {
    return absl::InvalidArgumentError(absl::StrCat("TrainingOptions.public_record_count: got ",
                                                   options.public_record_count, ", want >= 1"));
  }
  if (!(std::isfinite(options.tolerance) && options.tolerance >= 0)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "TrainingOptions.tolerance: got ", options.tolerance, ", want a finite number >= 0"));
  }
  if (options.tolerance_window < 1) {
    return absl::InvalidArgumentError(absl::StrCat("TrainingOptions.tolerance_window: got ",
                                                   options.tolerance_window, ", want >= 1"));
  }
  if (options.initial.size() != 0 && options.initial.size() != feature_count) {
    return absl::InvalidArgumentError(absl::StrCat("TrainingOptions.initial: got ",
                                                   options.initial.size(),
                                                   " coordinates, want none or ", feature_count));
  }
  if (!options.initial.allFinite()) {
    return absl::InvalidArgumentError(
        "TrainingOptions.initial: got a NaN or an infinity, want finite coordinates");
  }
  if (absl::Status status = ValidateSteps(options.steps); !status.ok()) return status;
  return ValidateRegularizer(options.regularizer);
}

std::vector<int> Support(const Eigen::VectorXd& theta) {
  std::vector<int> support;
  for (Eigen::Index j = 0; j < theta.size(); ++j) {
    if (theta[j] != 0) support.push_back(static_cast<int>(j));
  }
  return support;
}

// The mean of the last `window` residuals, once there are as many.
class ResidualWindow {
 public:
  explicit ResidualWindow(int window) : window_(static_cast<std::size_t>(window)) {}

  bool MeetsTolerance(double residual, double tolerance) {
    residuals_.push_back(residual);
    if (residuals_.size() > window_) residuals_.pop_front();
    if (tolerance <= 0 || residuals_.size() < window_) return false;
    const double sum = std::accumulate(residuals_.begin(), residuals_.end(), 0.0);
    return sum <= tolerance * static_cast<double>(window_);
  }

 private:
  std::size_t window_;
  std::deque<double> residuals_;
};

}  // namespace

StepOptions BarzilaiBorweinSteps(double lipschitz_constant) {
  return {.rule = StepRule::kBarzilaiBorwein,
          .first = 10 / lipschitz_constant,
          .bounds = DefaultStepBounds(lipschitz_constant)};
}

StepOptions FixedSteps(double lipschitz_constant) {
  return {.rule = StepRule::kFixed, .first = 0.25 / lipschitz_constant, .bounds = {}};
}

std::string_view StopReasonName(StopReason reason) {
  switch (reason) {
    case StopReason::kConverged:
      return "converged";
    case StopReason::kStepLimit:
      return "step limit";
    case StopReason::kRefused:
      return "refused";
    case StopReason::kReleaseFailed:
      return "release failed";
  }
  return "unknown";
}

absl::StatusOr<TrainingResult> TrainSound(const LogisticLoss& loss, const TrainingOptions& options,
                                          GradientRelease& release, const StepObserver& observer) {
  if (absl::Status status = Validate(options, loss.feature_count()); !status.ok()) return status;

  TrainingResult result;
  result.last = options.initial.size() == 0 ? Eigen::VectorXd::Zero(loss.feature_count()).eval()
                                            : options.initial;
  result.averaged = result.last;
  const auto fail = [&result](absl::Status status) {
    result.stop_reason =
        absl::IsFailedPrecondition(status) ? StopReason::kRefused : StopReason::kReleaseFailed;
    result.release_status = std::move(status);
  };

  ResidualWindow residuals(options.tolerance_window);
  Eigen::VectorXd previous_theta;
  Eigen::VectorXd previous_gradient;
  double step_size = options.steps.first;
  for (int step = 1; step <= options.max_steps; ++step) {
    absl::StatusOr<Eigen::VectorXd> released =
        release.Release(loss.GradientSum(result.last), loss.contribution());
    if (!released.ok()) {
      fail(released.status());
      break;
    }
    ++result.releases;
    if (released->size() != loss.feature_count() || !released->allFinite()) {
      fail(absl::InternalError(absl::StrCat("released gradient: got ", released->size(),
                                            " coordinates, want ", loss.feature_count(),
                                            " that are all finite")));
      break;
    }
    // From here to the end of the loop nothing but public and released values is read.
    const Eigen::VectorXd gradient = *released / static_cast<double>(options.public_record_count);
    if (step > 1 && options.steps.rule == StepRule::kBarzilaiBorwein) {
      step_size = BarzilaiBorweinStep({.theta = result.last - previous_theta,
                                       .released_gradient = gradient - previous_gradient},
                                      options.steps.bounds);
    }
    Eigen::VectorXd next = Prox(options.regularizer, step_size, result.last - step_size * gradient);
    if (!next.allFinite()) {
      fail(absl::InternalError("released gradient: got one so large that the step overflows"));
      break;
    }
    previous_theta = std::exchange(result.last, std::move(next));
    previous_gradient = gradient;
    result.last_step_size = step_size;
    const double weight = step == 1 ? 1 : (kAveragingEta + 1) / (step + kAveragingEta);
    result.averaged += weight * (result.last - result.averaged);

    const double residual = (result.last - previous_theta).norm() / step_size;
    if (observer) {
      observer({.step = step,
                .step_size = step_size,
                .released_gradient_norm = gradient.norm(),
                .step_residual = residual,
                .theta = result.last});
    }
    if (residuals.MeetsTolerance(residual, options.tolerance)) {
      result.stop_reason = StopReason::kConverged;
      break;
    }
  }
  result.support = Support(result.last);
  return result;
}

}  // namespace epsledger::trainers::istdp
