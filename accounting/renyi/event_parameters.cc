#include "accounting/renyi/event_parameters.h"

#include "accounting/analytics/selection.h"
#include "accounting/gaussian/mu.h"
#include "accounting/numeric/bounds.h"
#include "accounting/numeric/rounding.h"

namespace epsledger::accounting {

std::optional<double> JointNoiseMultiplier(const std::vector<Use>& uses, double shift) {
  Setting setting;
  setting.sensitivity_relation = SensitivityRelation::kReplaceOne;  // shift 1: scaled below
  for (const Use& use : uses) {
    if (use.event->As<Gaussian>() == nullptr) return std::nullopt;
  }
  if (uses.size() == 1 && uses[0].count == 1) {
    return uses[0].event->As<Gaussian>()->noise_multiplier / shift;  // shift is 1 or 2: exact
  }
  const absl::StatusOr<Bounds> mu = ComposeGaussianMu(uses, setting);
  if (!mu.ok() || !(mu->upper > 0)) return std::nullopt;
  return RoundDownNonNegative(1 / mu->upper / shift, 2);
}

std::optional<double> PureEpsilon(const MechanismEvent& event, const Setting& setting) {
  if (const auto* discrete = event.As<DiscreteLaplace>()) {
    return RoundUp(discrete->noise_parameter * setting.shift() *
                   static_cast<double>(discrete->sensitivity));
  }
  if (const auto* noisy_max = event.As<ReportNoisyMax>();
      noisy_max != nullptr && noisy_max->noise != Noise::kGumbel) {
    return NoisyMaxEpsilon(*noisy_max, setting);
  }
  if (const auto* sparse = event.As<AboveThreshold>()) {
    return AboveThresholdEpsilon(*sparse, setting);
  }
  if (const auto* flip = event.As<PermuteAndFlip>()) return flip->epsilon;  // [MS20] Thm 1
  if (const auto* pure = event.As<PureDp>()) return pure->epsilon;
  return std::nullopt;
}

bool IsNoisyMax(const MechanismEvent& event) {
  const auto* noisy_max = event.As<ReportNoisyMax>();
  return event.As<PermuteAndFlip>() != nullptr ||
         (noisy_max != nullptr && noisy_max->noise != Noise::kGumbel);
}

std::optional<double> BoundedRange(const MechanismEvent& event, const Setting& setting) {
  if (const auto* exponential = event.As<ExponentialMechanism>()) return exponential->epsilon;
  if (const auto* noisy_max = event.As<ReportNoisyMax>();
      noisy_max != nullptr && noisy_max->noise == Noise::kGumbel) {
    return NoisyMaxEpsilon(*noisy_max, setting);
  }
  return std::nullopt;
}

std::optional<ApproximateDpParameters> ApproximatePair(const MechanismEvent& event) {
  if (const auto* approximate = event.As<ApproximateDp>()) {
    return ApproximateDpParameters{approximate->epsilon, approximate->delta};
  }
  if (const auto* claim = event.As<UnverifiedClaim>()) {
    return ApproximateDpParameters{claim->epsilon, claim->delta};
  }
  return std::nullopt;
}

bool IsSymmetricNoise(const MechanismEvent& event) {
  return event.As<Laplace>() != nullptr || event.As<DiscreteLaplace>() != nullptr ||
         event.As<DiscreteGaussian>() != nullptr;
}

}  // namespace epsledger::accounting
