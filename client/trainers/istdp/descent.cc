#include "client/trainers/istdp/descent.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "absl/strings/str_cat.h"
#include "accounting/event/status_macros.h"

namespace epsledger::trainers::istdp {
namespace {

constexpr double kAveragingEta = 3;

}  // namespace

Descent::Descent(const LinearLoss& loss, const TrainingOptions& options,
                 const StepObserver& observer)
    : loss_(loss), options_(options), observer_(observer), state_(options.resumed) {
  if (state_.step > 0) return;
  state_ = {};
  state_.theta = options.initial.size() == 0 ? Eigen::VectorXd::Zero(loss.feature_count()).eval()
                                             : options.initial;
  state_.averaged = state_.theta;
  state_.step_size = options.steps.first;
}

bool Descent::Continues() const {
  return !stop_reason_.has_value() && state_.step < options_.max_steps;
}

double Descent::expected_count() const {
  return options_.batches.sampling_probability * static_cast<double>(options_.public_record_count);
}

absl::StatusOr<std::optional<Batch>> Descent::DrawBatch() const {
  if (options_.batches.draw == nullptr) return std::optional<Batch>();
  ASSIGN_OR_RETURN(Batch batch, options_.batches.draw());
  return std::optional<Batch>(std::move(batch));
}

std::optional<Eigen::VectorXd> Descent::ReleaseGradient(GradientRelease& release) {
  const absl::StatusOr<std::optional<Batch>> batch = DrawBatch();
  if (!batch.ok()) {
    Stop(batch.status());
    return std::nullopt;
  }
  std::optional<Eigen::VectorXd> released =
      Release(batch->has_value() ? loss_.GradientSum(state_.theta, **batch)
                                 : loss_.GradientSum(state_.theta),
              loss_.contribution(), release);
  if (released.has_value()) *released /= expected_count();
  return released;
}

std::optional<Eigen::VectorXd> Descent::Release(const Eigen::VectorXd& exact_sum,
                                                double contribution, GradientRelease& release) {
  absl::StatusOr<Eigen::VectorXd> released = release.Release(exact_sum, contribution);
  if (!released.ok()) {
    Stop(released.status());
    return std::nullopt;
  }
  ++releases_;
  if (released->size() != exact_sum.size() || !released->allFinite()) {
    Stop(absl::InternalError(absl::StrCat("released vector: got ", released->size(),
                                          " coordinates, want ", exact_sum.size(),
                                          " that are all finite")));
    return std::nullopt;
  }
  return *std::move(released);
}

double Descent::StepSize(const Eigen::VectorXd& gradient) const {
  if (options_.steps.rule == StepRule::kFixed || state_.step == 0) return options_.steps.first;
  return BarzilaiBorweinStep({.theta = state_.theta - state_.previous_theta,
                              .released_gradient = gradient - state_.previous_gradient},
                             options_.steps.bounds);
}

Eigen::VectorXd Descent::ProxStep(double step_size, const Eigen::VectorXd& gradient) const {
  return Prox(options_.regularizer, step_size, state_.theta - step_size * gradient);
}

void Descent::MoveTo(Point point) {
  if (!point.theta.allFinite()) {
    Stop(absl::InternalError("released gradient: got one so large that the step overflows"));
    return;
  }
  ++state_.step;
  state_.previous_theta = std::exchange(state_.theta, std::move(point.theta));
  state_.previous_gradient = point.gradient;
  state_.step_size = point.step_size;
  const double weight = AveragingWeight();
  state_.averaged += weight * (state_.theta - state_.averaged);

  const double residual = (state_.theta - state_.previous_theta).norm() / point.step_size;
  if (observer_) {
    observer_({.step = state_.step,
               .step_size = point.step_size,
               .released_gradient_norm = point.gradient.norm(),
               .step_residual = residual,
               .backtracks = point.backtracks,
               .theta = state_.theta,
               .state = state_});
  }
  if (MeetsTolerance(residual)) stop_reason_ = StopReason::kConverged;
}

double Descent::AveragingWeight() const {
  if (!options_.average_last.has_value()) {
    return state_.step == 1 ? 1 : (kAveragingEta + 1) / (state_.step + kAveragingEta);
  }
  const int in_tail = state_.step - (options_.max_steps - *options_.average_last);
  return 1.0 / std::max(in_tail, 1);
}

bool Descent::MeetsTolerance(double residual) {
  const auto window = static_cast<size_t>(options_.tolerance_window);
  residuals_.push_back(residual);
  if (residuals_.size() > window) residuals_.pop_front();
  if (options_.tolerance <= 0 || residuals_.size() < window) return false;
  const double sum = std::accumulate(residuals_.begin(), residuals_.end(), 0.0);
  return sum <= options_.tolerance * static_cast<double>(window);
}

void Descent::Stop(const absl::Status& status) {
  stop_reason_ =
      absl::IsFailedPrecondition(status) ? StopReason::kRefused : StopReason::kReleaseFailed;
  release_status_ = status;
}

TrainingResult Descent::Result() const {
  return {.stop_reason = stop_reason_.value_or(StopReason::kStepLimit),
          .release_status = release_status_,
          .steps = state_.step,
          .releases = releases_,
          .last = state_.theta,
          .averaged = state_.averaged,
          .support = Support(state_.theta),
          .last_step_size = state_.step_size};
}

}  // namespace epsledger::trainers::istdp
