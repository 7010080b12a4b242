#include "accounting/filter/event_profiles.h"

#include "absl/strings/str_cat.h"
#include "accounting/profile/profiles_of.h"

namespace epsledger::accounting {
namespace {

// Poisson sampling is proved under replace-special only where the output without the record is that
// with "nothing" in its place: noise added to a sum.
bool AddsNoise(const MechanismEvent& event) {
  return event.As<Gaussian>() != nullptr || event.As<Laplace>() != nullptr ||
         event.As<DiscreteGaussian>() != nullptr || event.As<DiscreteLaplace>() != nullptr ||
         event.As<MixtureOfGaussians>() != nullptr;
}

absl::Status CheckSampling(const MechanismEvent& event, NeighboringRelation relation) {
  const auto* sampled = event.As<PoissonSampled>();
  if (sampled == nullptr || relation != NeighboringRelation::kReplaceSpecial) {
    return absl::OkStatus();
  }
  for (const Use& use : Flatten(*sampled->event)) {
    if (AddsNoise(*use.event)) continue;
    return absl::UnimplementedError(absl::StrCat(
        "sampling of ", KindName(*use.event),
        " under replace-special: the mechanism may tell whether the record was drawn"));
  }
  return absl::OkStatus();
}

Setting SettingOf(NeighboringRelation relation) {
  Setting setting;
  setting.relation = relation;
  return setting;
}

}  // namespace

std::vector<Use> UsesOf(const MechanismEvent& event, NeighboringRelation relation) {
  return OpenBandedMatrixFactorizations(Flatten(event), SettingOf(relation));
}

absl::StatusOr<DirectedProfiles> ProfilesOfUse(const Use& use, NeighboringRelation relation) {
  if (absl::Status status = CheckSampling(*use.event, relation); !status.ok()) return status;
  return ProfilesOf(*use.event, SettingOf(relation), 1, Accountant::kPld);
}

}  // namespace epsledger::accounting
