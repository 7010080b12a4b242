#ifndef EPSLEDGER_ACCOUNTING_PROFILE_UNCERTAIN_EPSILON_H_
#define EPSLEDGER_ACCOUNTING_PROFILE_UNCERTAIN_EPSILON_H_

#include "accounting/numeric/bounds.h"
#include "accounting/profile/privacy_profile.h"

namespace epsledger::accounting {

// Returns bounds on log delta over every real epsilon in [value - error, value + error]. Calls
// LogDelta and TailUnderQ once each: the tail bounds the slope. error >= 0, may be +inf; value
// finite or infinite.
Bounds LogDeltaAround(const PrivacyProfile& profile, double value, double error);

// The same for Q[L > epsilon], Q[L >= epsilon].
Bounds TailAround(const PrivacyProfile& profile, double value, double error);

// log delta of a loss that is 0: log max(0, 1 - e^epsilon). Every profile is at least this.
Bounds LogDeltaFloor(double epsilon);

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_PROFILE_UNCERTAIN_EPSILON_H_
