#include "client/trainers/istdp/two_phase.h"

#include <cmath>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "accounting/event/status_macros.h"
#include "client/trainers/istdp/sound.h"

namespace epsledger::trainers::istdp {
namespace {

// Passes on the released values on the support, and 0 elsewhere: a step does not leave the support.
class OnSupport : public GradientRelease {
 public:
  OnSupport(GradientRelease& inner, const std::vector<int>& support)
      : inner_(inner), support_(support) {}

  absl::StatusOr<Eigen::VectorXd> Release(const Eigen::VectorXd& exact_sum,
                                          double contribution) override {
    absl::StatusOr<Eigen::VectorXd> released = inner_.Release(exact_sum, contribution);
    if (!released.ok() || released->size() != exact_sum.size()) return released;
    Eigen::VectorXd kept = Eigen::VectorXd::Zero(released->size());
    for (const int j : support_) kept[j] = (*released)[j];
    return kept;
  }

 private:
  GradientRelease& inner_;
  const std::vector<int>& support_;
};

absl::Status Check(const TrainingOptions& options, const TwoPhaseOptions& two_phase) {
  RETURN_IF_ERROR(CheckTwoPhase(two_phase, options.max_steps));
  if (!std::holds_alternative<McpPenalty>(options.regularizer)) {
    return absl::InvalidArgumentError(
        "TrainingOptions.regularizer: got another penalty, want MCP: it says what the support is");
  }
  if (options.resumed.step != 0) {
    return absl::InvalidArgumentError(absl::StrCat("TrainingOptions.resumed: got step ",
                                                   options.resumed.step,
                                                   ", want none: the phases are one run"));
  }
  return absl::OkStatus();
}

}  // namespace

TwoPhaseNoise TwoPhaseNoiseFor(double noise_multiplier, const TwoPhaseOptions& options,
                               int max_steps) {
  const double first_steps = options.first_steps;
  const double second_steps = max_steps - first_steps;
  return {.first = noise_multiplier * std::sqrt(first_steps / (options.first_share * max_steps)),
          .second =
              noise_multiplier * std::sqrt(second_steps / ((1 - options.first_share) * max_steps))};
}

absl::Status CheckTwoPhase(const TwoPhaseOptions& options, int max_steps) {
  if (options.first_steps < 1 || options.first_steps >= max_steps) {
    return absl::InvalidArgumentError(absl::StrCat("TwoPhaseOptions.first_steps: got ",
                                                   options.first_steps, ", want 1 to ",
                                                   max_steps - 1, ", so that steps are left"));
  }
  if (!(options.first_share > 0 && options.first_share < 1)) {
    return absl::InvalidArgumentError(
        absl::StrCat("TwoPhaseOptions.first_share: got ", options.first_share, ", want in (0, 1)"));
  }
  if (!(std::isfinite(options.contribution) && options.contribution > 0)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "TwoPhaseOptions.contribution: got ", options.contribution, ", want a finite number > 0"));
  }
  return absl::OkStatus();
}

absl::StatusOr<TrainingResult> TrainTwoPhase(const LinearLoss& loss, const TrainingOptions& options,
                                             const TwoPhaseOptions& two_phase,
                                             GradientRelease& first, GradientRelease& second,
                                             const StepObserver& observer) {
  RETURN_IF_ERROR(Check(options, two_phase));
  TrainingOptions phase = options;
  phase.max_steps = two_phase.first_steps;
  absl::StatusOr<TrainingResult> found = TrainSound(loss, phase, first, observer);
  if (!found.ok() || !found->release_status.ok()) return found;

  // From here to the next release only public and released values are read.
  const auto& penalty = std::get<McpPenalty>(options.regularizer);
  const Eigen::VectorXd start =
      (found->last.array().abs() >= penalty.shape * penalty.lambda).select(found->last, 0);
  const std::vector<int> support = Support(start);
  ASSIGN_OR_RETURN(const LinearLoss on_support, loss.OnColumns(support, two_phase.contribution));
  phase.max_steps = options.max_steps - two_phase.first_steps;
  phase.initial = start;
  phase.regularizer = L2Penalty{.lambda = 0};
  OnSupport release(second, support);
  const auto count_through = [&](const StepReport& step) {
    if (!observer) return;
    TrainingState state = step.state;
    state.step += found->steps;
    observer({.step = state.step,
              .step_size = step.step_size,
              .released_gradient_norm = step.released_gradient_norm,
              .step_residual = step.step_residual,
              .backtracks = step.backtracks,
              .theta = state.theta,
              .state = state});
  };
  absl::StatusOr<TrainingResult> fitted = TrainSound(on_support, phase, release, count_through);
  if (!fitted.ok()) return fitted;
  fitted->steps += found->steps;
  fitted->releases += found->releases;
  return fitted;
}

}  // namespace epsledger::trainers::istdp
