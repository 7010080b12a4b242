#ifndef EPSLEDGER_ACCOUNTING_CLASSICAL_OPTIMAL_HOMOGENEOUS_H_
#define EPSLEDGER_ACCOUNTING_CLASSICAL_OPTIMAL_HOMOGENEOUS_H_

// Optimal composition of `count` mechanisms of the same (epsilon0, delta0) ([KOV15] Thm 3.3,
// between and beyond its grid points): no better promise holds for all of them, and the randomized
// response of [KOV15] Thm 3.1 attains it. With B ~ Binomial(count, e^epsilon0 / (1 + e^epsilon0))
// the loss is epsilon0 (2B - count) with probability (1 - delta0)^count and infinite otherwise.

#include "accounting/classical/approximate_dp.h"
#include "accounting/classical/reveal.h"
#include "accounting/numeric/bounds.h"

namespace epsledger::accounting {

// Bounds on log delta(epsilon) of the composition, for every finite epsilon of either sign; -inf
// exactly where delta is 0. lower <= truth <= upper <= 0.
//
// Relative width of delta where |log delta| < 50: some 1e-11 at count <= 1e6, 1e-9 at 1e9, 3e-8 at
// 1e12, 2e-6 at 2^53; further out some 1e-11 |log delta| at most, as the mass of one outcome has
// it. Where no bound can be computed, lower is -inf and upper is that of (count epsilon0, 1 - (1 -
// delta0)^count)-DP: count > 2^53 (lower: at 2^53), epsilon0 > 700 (lower: at 700). NaN, negative
// parameters, count below 1 or not an integer: {-inf, 0}.
//
// Cost: O(sqrt(count)) terms to count = 1e9 (some 1e5, 10 ms), then constant.
Bounds OptimalLogDelta(const ApproximateDpParameters& each, double count, double epsilon);

// Bounds on the smallest epsilon >= 0 with delta(epsilon) <= e^log_delta. Both ends are
// evaluations: OptimalLogDelta(upper).upper <= log_delta and, where 0 < lower < inf,
// OptimalLogDelta(lower).lower > log_delta. {0, 0} for log_delta >= 0; +inf where the deltas alone
// exceed the target; count epsilon0 for log_delta = -inf without deltas; {0, inf} for invalid
// input. Relative width below 1e-10 in most cases. Cost: some 15 profiles.
Bounds OptimalEpsilon(const ApproximateDpParameters& each, double count, double log_delta);

// The profile of `count` runs of pure randomized response of epsilon0 at one epsilon. `tolerance`
// trades width for time (see LogConcaveSum).
ProfileValue RandomizedResponseProfile(double epsilon0, double count, double epsilon,
                                       double tolerance);

// The same two functions for runs of epsilon0 whose deltas are already collected in log_keep.
Bounds OptimalLogDelta(double epsilon0, double count, Bounds log_keep, double epsilon);
Bounds OptimalEpsilon(double epsilon0, double count, Bounds log_keep, double log_delta);

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_CLASSICAL_OPTIMAL_HOMOGENEOUS_H_
