#include "client/trainers/istdp/baselines.h"

#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <variant>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "accounting/event/status_macros.h"
#include "client/trainers/istdp/sound.h"

namespace epsledger::trainers::istdp {
namespace {

// A term of GradientSum is rounded by at most 3e-11 C a coordinate; there are at most 2 n0 of them.
constexpr double kGridRounding = 2 * 3e-11;
// P[||b|| > s (sqrt(d) + 10)] < e^-50: a norm is 1-Lipschitz and its mean is at most s sqrt(d).
constexpr double kNoiseTail = 10;
// Covers the rounding of the last operations on a bound.
constexpr double kRoundUp = 1 + 1e-6;
// A minimization that takes more steps has failed.
constexpr int kMostIterations = 1'000'000;
// The blur of objective perturbation is a Gaussian mechanism of this noise multiplier, mu = 1/1000,
// which is (8.5 mu, Phi(-8.5 + mu / 2) < 1e-15)-DP.
constexpr double kBlurMultiplier = 1000;
constexpr double kBlurEpsilon = 0.0085;
constexpr double kBlurDelta = 1e-15;
constexpr double kSmallestDelta = 1e-12;
// Rows this much shorter than the clip norm are never clipped, rounding included.
constexpr double kUnclippedMargin = 1.000001;

// Returns b of GradientRounding: the error of the gradient per unit of the norm of theta.
double MarginRounding(const LinearLoss& loss, const PerturbationOptions& options) {
  return 2 * std::ldexp(static_cast<double>(loss.feature_count() + 1), -52) *
         LipschitzConstant(loss.margin_loss(), options.row_norm_bound);
}

absl::Status Validate(const LinearLoss& loss, const PerturbationOptions& options) {
  const struct {
    const char* field;
    double value;
  } fields[] = {{"l2", options.l2}, {"row_norm_bound", options.row_norm_bound}};
  for (const auto& each : fields) {
    if (!(std::isfinite(each.value) && each.value > 0)) {
      return absl::InvalidArgumentError(absl::StrCat("PerturbationOptions.", each.field, ": got ",
                                                     each.value, ", want a finite number > 0"));
    }
  }
  if (options.public_record_count < 1) {
    return absl::InvalidArgumentError(absl::StrCat("PerturbationOptions.public_record_count: got ",
                                                   options.public_record_count, ", want >= 1"));
  }
  if ((loss.record_count() - 1) / 2 >= options.public_record_count) {  // more than twice as many
    return absl::FailedPreconditionError(
        absl::StrCat("PerturbationOptions.public_record_count: got ", options.public_record_count,
                     ", want at least half of the records there are"));
  }
  if (!std::isfinite(GradientRounding(loss, options))) {
    return absl::InvalidArgumentError(
        absl::StrCat("PerturbationOptions.l2: got ", options.l2, ", want more than ",
                     2 * MarginRounding(loss, options), " for rows of norm ",
                     options.row_norm_bound, " with ", loss.feature_count(),
                     " features: the minimizer cannot be computed to any known precision"));
  }
  return absl::OkStatus();
}

// Returns a point where the computed gradient of J + linear . theta has norm <= `tolerance`:
// Nesterov's method for strongly convex functions, which converges from every start. Private.
absl::StatusOr<Eigen::VectorXd> Minimize(const LinearLoss& loss, const PerturbationOptions& options,
                                         const Eigen::VectorXd& linear, double tolerance) {
  const double count = static_cast<double>(options.public_record_count);
  const double lipschitz = LipschitzConstant(loss.margin_loss(), options.row_norm_bound) *
                               static_cast<double>(loss.record_count()) / count +
                           options.l2;
  const double root = std::sqrt(options.l2 / lipschitz);
  const double momentum = (1 - root) / (1 + root);
  Eigen::VectorXd theta = Eigen::VectorXd::Zero(loss.feature_count());
  Eigen::VectorXd ahead = theta;
  for (int iteration = 0; iteration < kMostIterations; ++iteration) {
    const Eigen::VectorXd gradient = loss.GradientSum(ahead) / count + options.l2 * ahead + linear;
    if (gradient.norm() <= tolerance) return ahead;
    Eigen::VectorXd next = ahead - gradient / lipschitz;
    ahead = next + momentum * (next - theta);
    theta = std::move(next);
  }
  return absl::InternalError("minimization: it did not end, so nothing can be released");
}

TrainingResult Ended(const absl::Status& status, Eigen::Index feature_count) {
  TrainingResult result;
  result.stop_reason =
      absl::IsFailedPrecondition(status) ? StopReason::kRefused : StopReason::kReleaseFailed;
  result.release_status = status;
  result.last = Eigen::VectorXd::Zero(feature_count);
  result.averaged = result.last;
  return result;
}

TrainingResult Released(Eigen::VectorXd theta) {
  TrainingResult result;
  result.steps = 1;
  result.releases = 1;
  result.averaged = theta;
  result.last = std::move(theta);
  result.support = Support(result.last);
  return result;
}

struct Strength {
  double operator()(const McpPenalty& penalty) const { return penalty.lambda; }
  double operator()(const L1Penalty& penalty) const { return penalty.lambda; }
  double operator()(const L2Penalty& penalty) const { return penalty.lambda; }
  double operator()(const ScadPenalty& penalty) const { return penalty.lambda; }
  double operator()(const CappedL1Penalty& penalty) const { return penalty.lambda; }
};

}  // namespace

double GradientRounding(const LinearLoss& loss, const PerturbationOptions& options,
                        double linear_norm) {
  const double margins = MarginRounding(loss, options) / options.l2;
  if (!(2 * margins < 1)) return std::numeric_limits<double>::infinity();
  const double largest = 2 * loss.contribution() + linear_norm;
  return (kGridRounding * loss.contribution() *
              std::sqrt(static_cast<double>(loss.feature_count())) +
          (std::ldexp(1.0, -48) + margins) * largest) /
         (1 - 2 * margins) * kRoundUp;
}

double GradientTolerance(const LinearLoss& loss, const PerturbationOptions& options,
                         double linear_norm) {
  return 2 * GradientRounding(loss, options, linear_norm);
}

double MinimizerContribution(const LinearLoss& loss, const PerturbationOptions& options) {
  return (loss.contribution() / static_cast<double>(options.public_record_count) +
          2 * (GradientTolerance(loss, options) + GradientRounding(loss, options))) /
         options.l2 * kRoundUp;
}

absl::StatusOr<TrainingResult> TrainOutputPerturbation(const LinearLoss& loss,
                                                       const PerturbationOptions& options,
                                                       GradientRelease& release) {
  RETURN_IF_ERROR(Validate(loss, options));
  ASSIGN_OR_RETURN(const Eigen::VectorXd minimizer,
                   Minimize(loss, options, Eigen::VectorXd::Zero(loss.feature_count()),
                            GradientTolerance(loss, options)));
  absl::StatusOr<Eigen::VectorXd> released =
      release.Release(minimizer, MinimizerContribution(loss, options));
  if (!released.ok()) return Ended(released.status(), loss.feature_count());
  return Released(*std::move(released));
}

absl::StatusOr<double> ObjectivePerturbationNoise(const LinearLoss& loss,
                                                  const PerturbationOptions& options,
                                                  const ObjectivePerturbationTarget& target) {
  RETURN_IF_ERROR(Validate(loss, options));
  const double contribution = loss.contribution();
  if (!std::holds_alternative<LogisticMargin>(loss.margin_loss()) ||
      !(options.row_norm_bound * kUnclippedMargin <= contribution)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "loss: got ", std::string(MarginLossName(loss.margin_loss())), " clipped to ", contribution,
        ", want logistic, clipped to at least 1.000001 times the row norm bound ",
        options.row_norm_bound, ": the proof needs two derivatives"));
  }
  if (!(target.delta >= kSmallestDelta && target.delta < 1)) {
    return absl::InvalidArgumentError(absl::StrCat("ObjectivePerturbationTarget.delta: got ",
                                                   target.delta, ", want in [1e-12, 1)"));
  }
  // README, "Baselines": delta = P[(G / s) |Z| > epsilon - log det ratio - (G / s)^2 / 2].
  const double determinant =
      std::log1p(contribution * contribution / 4 /
                 (static_cast<double>(options.public_record_count) * options.l2));
  const double room = target.epsilon - kBlurEpsilon - determinant;
  if (!(std::isfinite(room) && room > 0)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "ObjectivePerturbationTarget.epsilon: got ", target.epsilon, ", want more than ",
        determinant + kBlurEpsilon, " for l2 = ", options.l2, " and that record count"));
  }
  const double delta = target.delta - kBlurDelta;
  const auto suffices = [&](double ratio) {  // ratio = s / G
    return std::erfc((room * ratio - 0.5 / ratio) / std::sqrt(2.0)) <= delta;
  };
  double low = 0;
  double high = 1;
  while (!suffices(high)) {
    low = high;
    high *= 2;
    if (!(high < 1e15)) return absl::InvalidArgumentError("epsilon: too small for any noise");
  }
  for (int k = 0; k < 100; ++k) {
    const double middle = low + (high - low) / 2;
    (suffices(middle) ? high : low) = middle;
  }
  // The margin covers the rounding of erfc.
  return contribution * high * (1 + 1e-9);
}

absl::StatusOr<TrainingResult> TrainObjectivePerturbation(
    const LinearLoss& loss, const PerturbationOptions& options,
    const ObjectivePerturbationTarget& target,
    const std::function<absl::StatusOr<Eigen::VectorXd>()>& draw_noise) {
  ASSIGN_OR_RETURN(const double noise, ObjectivePerturbationNoise(loss, options, target));
  const Eigen::Index size = loss.feature_count();
  const absl::StatusOr<Eigen::VectorXd> draws = draw_noise();
  if (!draws.ok()) return Ended(draws.status(), size);
  if (draws->size() != 2 * size || !draws->allFinite()) {
    return absl::InternalError("noise: got other draws than asked for");
  }
  const double longest = std::sqrt(static_cast<double>(size)) + kNoiseTail;
  if (draws->head(size).norm() > longest) {
    return absl::InternalError("noise: longer than what the minimization is bounded for");
  }
  const double scale = noise / static_cast<double>(options.public_record_count);
  const double tolerance = GradientTolerance(loss, options, scale * longest);
  ASSIGN_OR_RETURN(const Eigen::VectorXd minimizer,
                   Minimize(loss, options, draws->head(size) * scale, tolerance));
  const double distance =
      2 * (tolerance + GradientRounding(loss, options, scale * longest)) / options.l2 * kRoundUp;
  return Released(minimizer + draws->tail(size) * (kBlurMultiplier * distance));
}

absl::StatusOr<TrainingResult> TrainDpSgd(const LinearLoss& loss, const TrainingOptions& options,
                                          GradientRelease& release, const StepObserver& observer) {
  if (options.batches.draw == nullptr) {
    return absl::InvalidArgumentError("Batches.draw: got none, want Poisson batches for DP-SGD");
  }
  if (options.steps.rule != StepRule::kFixed) {
    return absl::InvalidArgumentError("StepOptions.rule: want kFixed for DP-SGD");
  }
  if (std::visit(Strength{}, options.regularizer) != 0) {
    return absl::InvalidArgumentError("Regularizer.lambda: want 0 for DP-SGD");
  }
  return TrainSound(loss, options, release, observer);
}

}  // namespace epsledger::trainers::istdp
