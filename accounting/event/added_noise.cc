#include "accounting/event/added_noise.h"

#include <algorithm>
#include <vector>

#include "accounting/event/history.h"

namespace epsledger::accounting {

bool IsAddedNoise(const MechanismEvent& event) {
  return event.As<Gaussian>() != nullptr || event.As<Laplace>() != nullptr ||
         event.As<DiscreteGaussian>() != nullptr || event.As<DiscreteLaplace>() != nullptr ||
         event.As<MixtureOfGaussians>() != nullptr;
}

bool HasKnownContribution(const MechanismEvent& event) {
  return IsAddedNoise(event) || event.As<TreeAggregation>() != nullptr ||
         event.As<MatrixMechanism>() != nullptr;
}

bool IsMadeOfAddedNoise(const MechanismEvent& event) {
  const std::vector<Use> uses = Flatten(event);
  return std::all_of(uses.begin(), uses.end(), [](const Use& use) {
    const auto* sampled = use.event->As<PoissonSampled>();
    return sampled != nullptr ? IsMadeOfAddedNoise(*sampled->event) : IsAddedNoise(*use.event);
  });
}

}  // namespace epsledger::accounting
