#ifndef EPSLEDGER_ACCOUNTING_PROFILE_PROFILES_OF_H_
#define EPSLEDGER_ACCOUNTING_PROFILE_PROFILES_OF_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "accounting/event/history.h"
#include "accounting/profile/privacy_profile.h"

namespace epsledger::accounting {

// Returns profiles that no pair of data sets at distance group_size exceeds, at any epsilon, for
// one use of `event`. Composing them bounds the composition, adaptive or not ([ZDW22] Thm 10).
//
// UNIMPLEMENTED with the reason for an event, relation or group whose mathematics is not proved or
// cited here; the message names `asked_by`. The result does not borrow from `event`. REQUIRES:
// `event` is valid and neither composed, selfComposed nor nonPrivate; group_size >= 1.
absl::StatusOr<DirectedProfiles> ProfilesOf(const MechanismEvent& event, const Setting& setting,
                                            int64_t group_size, Accountant asked_by);

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_PROFILE_PROFILES_OF_H_
