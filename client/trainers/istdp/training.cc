#include "client/trainers/istdp/training.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "accounting/event/status_macros.h"

namespace epsledger::trainers::istdp {
namespace {

absl::Status ValidateSteps(const StepOptions& steps) {
  if (!(std::isfinite(steps.first) && steps.first > 0)) {
    return absl::InvalidArgumentError(
        absl::StrCat("StepOptions.first: got ", steps.first, ", want a finite number > 0"));
  }
  switch (steps.rule) {
    case StepRule::kFixed:
      return absl::OkStatus();
    case StepRule::kBarzilaiBorwein:
      RETURN_IF_ERROR(ValidateStepBounds(steps.bounds));
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

absl::Status ValidateBatches(const Batches& batches) {
  const double probability = batches.sampling_probability;
  if (!(probability > 0 && probability <= 1)) {
    return absl::InvalidArgumentError(
        absl::StrCat("Batches.sampling_probability: got ", probability, ", want in (0, 1]"));
  }
  if ((batches.draw != nullptr) != (probability < 1)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "Batches.draw: got ", batches.draw == nullptr ? "none" : "one",
        " with sampling probability ", probability, ", want one if and only if that is below 1"));
  }
  return absl::OkStatus();
}

absl::Status ValidateVector(const char* field, const Eigen::VectorXd& vector,
                            Eigen::Index feature_count) {
  if (vector.size() != feature_count) {
    return absl::InvalidArgumentError(
        absl::StrCat(field, ": got ", vector.size(), " coordinates, want ", feature_count));
  }
  if (!vector.allFinite()) {
    return absl::InvalidArgumentError(
        absl::StrCat(field, ": got a NaN or an infinity, want finite coordinates"));
  }
  return absl::OkStatus();
}

absl::Status ValidateState(const TrainingState& state, Eigen::Index feature_count) {
  if (state.step == 0) return absl::OkStatus();
  if (state.step < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("TrainingState.step: got ", state.step, ", want >= 0"));
  }
  if (!(std::isfinite(state.step_size) && state.step_size > 0)) {
    return absl::InvalidArgumentError(absl::StrCat("TrainingState.step_size: got ", state.step_size,
                                                   ", want a finite number > 0"));
  }
  const struct {
    const char* field;
    const Eigen::VectorXd& vector;
  } vectors[] = {{"TrainingState.theta", state.theta},
                 {"TrainingState.previous_theta", state.previous_theta},
                 {"TrainingState.previous_gradient", state.previous_gradient},
                 {"TrainingState.averaged", state.averaged}};
  for (const auto& each : vectors) {
    RETURN_IF_ERROR(ValidateVector(each.field, each.vector, feature_count));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status ValidateTraining(const TrainingOptions& options, Eigen::Index feature_count) {
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
  if (options.average_last.value_or(1) < 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("TrainingOptions.average_last: got ", *options.average_last, ", want >= 1"));
  }
  if (options.initial.size() != 0) {
    RETURN_IF_ERROR(ValidateVector("TrainingOptions.initial", options.initial, feature_count));
  }
  RETURN_IF_ERROR(ValidateState(options.resumed, feature_count));
  RETURN_IF_ERROR(ValidateBatches(options.batches));
  RETURN_IF_ERROR(ValidateSteps(options.steps));
  return ValidateRegularizer(options.regularizer);
}

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

std::vector<int> Support(const Eigen::VectorXd& theta) {
  std::vector<int> support;
  for (Eigen::Index j = 0; j < theta.size(); ++j) {
    if (theta[j] != 0) support.push_back(static_cast<int>(j));
  }
  return support;
}

}  // namespace epsledger::trainers::istdp
