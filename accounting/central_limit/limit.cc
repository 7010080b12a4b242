#include "accounting/central_limit/limit.h"

#include <cmath>
#include <optional>

#include "accounting/event/domain.h"
#include "accounting/gaussian/mu.h"

namespace epsledger::accounting {

double PoissonLimitMu(const SampledGaussianSteps& steps) {
  const double s = 1 / steps.noise_multiplier;
  const double mu =
      steps.sampling_probability * std::sqrt(steps.steps) * std::sqrt(std::expm1(s * s));
  return std::isnan(mu) ? kInfinity : mu;
}

double UniformLimitMu(const SampledGaussianSteps& steps) {
  const double s = 1 / steps.noise_multiplier;
  // With c(x) = Phi(x) - 1/2 = erf(x / sqrt 2) / 2, e^{s^2} Phi(3s/2) + 3 Phi(-s/2) - 2
  // = (e^{s^2} - 1) Phi(3s/2) + c(3s/2) - 3 c(s/2): only the last two, of third order in s, are
  // subtracted.
  const double root = std::sqrt(0.5);
  const double long_side = 0.5 * std::erf(1.5 * s * root);
  const double short_side = 0.5 * std::erf(0.5 * s * root);
  const double inner = std::expm1(s * s) * (0.5 + long_side) + (long_side - 3 * short_side);
  const double mu = steps.sampling_probability * std::sqrt(steps.steps) * std::sqrt(2 * inner);
  return std::isnan(mu) ? kInfinity : mu;
}

absl::StatusOr<double> CentralLimitMu(const std::vector<Use>& uses, const Setting& setting) {
  double mu = 0;
  for (const Use& use : uses) {
    const MechanismEvent& event = *use.event;
    double next = 0;
    if (const std::optional<Bounds> own = GaussianMu(event, setting)) {
      next = own->upper * std::sqrt(use.count);
    } else if (const auto* poisson = event.As<PoissonSampled>()) {
      const auto* gaussian = poisson->event->As<Gaussian>();
      if (gaussian == nullptr || setting.relation == NeighboringRelation::kReplaceOne) {
        return UnknownEvent(Accountant::kClt, event,
                            "the limit is known for Poisson-sampled Gaussians, when a record is "
                            "added, removed or zeroed");
      }
      next = PoissonLimitMu(
          {poisson->sampling_probability, gaussian->noise_multiplier / setting.shift(), use.count});
    } else if (const auto* subset = event.As<SampledWithoutReplacement>()) {
      const auto* gaussian = subset->event->As<Gaussian>();
      if (gaussian == nullptr || setting.relation != NeighboringRelation::kReplaceOne) {
        return UnknownEvent(Accountant::kClt, event,
                            "the limit is known for Gaussians on subsets of fixed size, when a "
                            "record is replaced");
      }
      next = UniformLimitMu(
          {static_cast<double>(subset->sample_size) / static_cast<double>(subset->dataset_size),
           gaussian->noise_multiplier / setting.shift(), use.count});
    } else {
      return UnknownEvent(Accountant::kClt, event, "no limit is known for it here");
    }
    mu = std::hypot(mu, next);
  }
  return mu;
}

}  // namespace epsledger::accounting
