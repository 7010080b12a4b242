#ifndef EPSLEDGER_ACCOUNTING_TRADE_OFF_TYPE_TWO_ERROR_H_
#define EPSLEDGER_ACCOUNTING_TRADE_OFF_TYPE_TWO_ERROR_H_

// From privacy profiles to trade-off functions and back: the two are convex conjugates.

#include "absl/functional/function_ref.h"
#include "accounting/numeric/bounds.h"
#include "accounting/trade_off/concave_maximum.h"

namespace epsledger::accounting {

// Returns bounds on f(alpha) = sup over x = e^epsilon of 1 - delta(epsilon) - x alpha, the smallest
// type II error that a test of type I error alpha can have ([DRS19] Prop 2.12, conjugated).
//
// `delta` returns lower <= delta(epsilon) <= upper for every finite epsilon of either sign:
//   of one ordered pair (P, Q), delta = E_P[(1 - e^epsilon dQ/dP)_+]: then f = T(Q, P);
//   or the larger of both orders at each epsilon: then f is the lower convex envelope of
//   min{T(P, Q), T(Q, P)}, which is the guarantee under an unordered relation. The larger of the
//   two *trade-off functions* is not: see accounting/trade_off/README.md.
// delta must be non-increasing and convex in x. `upper` need only be above delta; wherever it is,
// the lower bound on f remains valid.
//
// alpha in [0, 1]; NaN gives {0, 1}. f(1) = 0. At alpha = 0 the upper end is 1: an infinite loss
// cannot be distinguished from a large one. 0 <= lower <= upper <= 1 - alpha (rounded up). The
// lower bound is the safe side. Error of the lower bound: max(1e-9 f, 1e-12), the rounding of 1 -
// delta (1e-14), and that of `delta.upper` where the maximum is. The upper bound is up to 1e-9
// wider, since secants amplify rounding; they amplify the width of `delta` as well (seen: 1e-9
// becoming 1e-3). Cost: at most 40 evaluations, 15 to 27 on average.
Bounds TypeTwoError(absl::FunctionRef<Bounds(double epsilon)> delta, double alpha,
                    const ConcaveOptions& options = {});

// Returns bounds on delta(epsilon) = 1 + f*(-e^epsilon) = sup over a of 1 - f(a) - e^epsilon a
// ([DRS19] Prop 2.12) for f convex, non-increasing, f(a) <= 1 - a, given by bounds on (0, 1).
// `at_zero` bounds f(0). Every finite epsilon. max(0, 1 - e^epsilon) <= lower <= upper <= 1, up to
// rounding. The upper bound is the safe side. Error and cost as above.
Bounds DeltaFromTradeOff(absl::FunctionRef<Bounds(double alpha)> f, Bounds at_zero, double epsilon,
                         const ConcaveOptions& options = {});

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_TRADE_OFF_TYPE_TWO_ERROR_H_
