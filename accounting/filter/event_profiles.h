#ifndef EPSLEDGER_ACCOUNTING_FILTER_EVENT_PROFILES_H_
#define EPSLEDGER_ACCOUNTING_FILTER_EVENT_PROFILES_H_

#include <vector>

#include "absl/status/statusor.h"
#include "accounting/event/history.h"
#include "accounting/event/mechanism_event.h"
#include "accounting/event/neighboring_relation.h"
#include "accounting/profile/privacy_profile.h"

namespace epsledger::accounting {

// Returns the elementary uses as which an event is charged. The result borrows from `event`.
std::vector<Use> UsesOf(const MechanismEvent& event, NeighboringRelation relation);

// As ProfilesOf, for one privacy unit.
absl::StatusOr<DirectedProfiles> ProfilesOfUse(const Use& use, NeighboringRelation relation);

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_FILTER_EVENT_PROFILES_H_
