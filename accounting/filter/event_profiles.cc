#include "accounting/filter/event_profiles.h"

#include "accounting/profile/profiles_of.h"

namespace epsledger::accounting {
namespace {

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
  return ProfilesOf(*use.event, SettingOf(relation), 1, Accountant::kPld);
}

}  // namespace epsledger::accounting
