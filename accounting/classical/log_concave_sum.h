#ifndef EPSLEDGER_ACCOUNTING_CLASSICAL_LOG_CONCAVE_SUM_H_
#define EPSLEDGER_ACCOUNTING_CLASSICAL_LOG_CONCAVE_SUM_H_

#include "absl/functional/function_ref.h"
#include "accounting/classical/binomial_mass.h"
#include "accounting/numeric/bounds.h"

namespace epsledger::accounting {

// Returns lower <= log sum_{j = first}^{last} f(j) <= upper, where f > 0 on the reals of
// [first, last] is log-concave and known at integers by its logarithm.
//
// Summed outward from `start` in blocks. Inside a block of width w the logarithm lies above its
// chord, and by at most `curvature` w^2 / 8: the chord's geometric sum is a lower bound; this sum
// times e^{curvature w^2 / 8} is an upper bound. w is the largest width that keeps curvature w^2
// below `tolerance` (or 1, which makes no error at all, if none does). Beyond the last block f
// falls at least as fast as over it. So the relative width of the answer is about tolerance / 8
// plus the error of log_f, and the cost is O(min(spread, 1 / sqrt(tolerance))) evaluations,
// whatever the number of terms.
//
// log_f(j) is called at integers j. curvature(a, b) is at least -(log f)'' on the reals of [a, b].
// `start` is best at the mode; where f(start) is below e^-700 of the largest term, upper is +inf.
// When kLargestBlockCount blocks do not suffice, or the error of log_f exceeds 1/4, upper is +inf.
// REQUIRES: integers first <= start <= last <= 2^53.
Bounds LogConcaveSum(absl::FunctionRef<Approximation(double)> log_f,
                     absl::FunctionRef<double(double, double)> curvature, double first, double last,
                     double start, double tolerance);

inline constexpr int kLargestBlockCount = 1 << 21;

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_CLASSICAL_LOG_CONCAVE_SUM_H_
