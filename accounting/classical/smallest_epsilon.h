#ifndef EPSLEDGER_ACCOUNTING_CLASSICAL_SMALLEST_EPSILON_H_
#define EPSLEDGER_ACCOUNTING_CLASSICAL_SMALLEST_EPSILON_H_

#include "absl/functional/function_ref.h"
#include "accounting/numeric/bounds.h"

namespace epsledger::accounting {

// Returns lower <= the smallest epsilon >= 0 with delta(epsilon) <= e^log_delta <= upper, for a
// non-increasing profile: log_delta_at(upper).upper <= log_delta, and, where lower > 0,
// log_delta_at(lower).lower > log_delta. Both ends are verified by log_delta_at, which is
// certified; rough_log_delta_at, which is fast, only chooses the points. {inf, inf} if the profile
// is proved to stay above log_delta up to `largest`, beyond which it is constant; upper = inf if
// that is not decided.
Bounds SmallestEpsilon(absl::FunctionRef<Bounds(double)> log_delta_at,
                       absl::FunctionRef<Bounds(double)> rough_log_delta_at, double largest,
                       double log_delta);

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_CLASSICAL_SMALLEST_EPSILON_H_
