#include "accounting/accountants/allocation_instances.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "accounting/numeric/rounding.h"

namespace epsledger::accounting {
namespace {

enum class Shown { kOneRound, kSumOfRounds };

MechanismEvent InstanceOf(const RandomAllocation& allocation, Shown shown) {
  const double rounds = static_cast<double>(allocation.rounds);
  const double selected = static_cast<double>(allocation.selected);
  const std::vector<Use> inner = Flatten(*allocation.event);
  const auto* gaussian =
      inner.size() == 1 && inner[0].count == 1 ? inner[0].event->As<Gaussian>() : nullptr;
  if (shown == Shown::kSumOfRounds && gaussian != nullptr) {
    return Gaussian{RoundUp(gaussian->noise_multiplier * std::sqrt(rounds) / selected, 3)};
  }
  return PoissonSampled{RoundDownNonNegative(selected / rounds), allocation.event};
}

}  // namespace

std::vector<std::vector<Use>> AllocationInstances(const std::vector<Use>& uses) {
  const bool some = std::any_of(uses.begin(), uses.end(), [](const Use& use) {
    return use.event->As<RandomAllocation>() != nullptr;
  });
  if (!some) return {};
  std::vector<std::vector<Use>> instances;
  for (const Shown shown : {Shown::kOneRound, Shown::kSumOfRounds}) {
    std::vector<Use> instance = uses;
    for (Use& use : instance) {
      const auto* allocation = use.event->As<RandomAllocation>();
      if (allocation == nullptr) continue;
      // The new event holds what it needs of the allocation's.
      NestedEvent replaced = InstanceOf(*allocation, shown);
      use.opened = std::move(replaced);
      use.event = &*use.opened;
    }
    instances.push_back(std::move(instance));
  }
  return instances;
}

}  // namespace epsledger::accounting
