#ifndef EPSLEDGER_ACCOUNTING_NUMERIC_SEARCH_H_
#define EPSLEDGER_ACCOUNTING_NUMERIC_SEARCH_H_

// Root finding and minimization for functions of one variable. Nothing here makes a bound: the
// caller evaluates its bound at the returned point, and that evaluation is certified. So a search
// that stops early costs tightness, never soundness. Nothing throws.

#include "absl/functional/function_ref.h"

namespace epsledger::accounting {

// An interval in which a monotone condition changes.
struct Crossing {
  double holds;  // the condition holds here
  double fails;  // the condition does not hold here
};

// Narrows [holds, fails] (either may be the larger) around the zero of f, which is <= 0 at `holds`
// and > 0 at `fails`, until |fails - holds| <= tolerance * max(|holds|, |fails|) or
// max_evaluations are spent. f is called only inside the interval; NaN counts as > 0. Uses TOMS 748
// where f is finite, bisection where it is not. f need not be continuous.
Crossing NarrowCrossing(absl::FunctionRef<double(double)> f, double holds, double fails,
                        double tolerance, int max_evaluations = 100);

struct Minimum {
  double at;
  double value;
};

// Returns the smallest value seen in a search from `start` for the minimum of f over [low, high]:
// steps outward until the minimum is bracketed, then Brent's method until the bracket is below
// `tolerance`. This is the global minimum if f is unimodal. NaN counts as +inf.
Minimum MinimizeFrom(absl::FunctionRef<double(double)> f, double start, double step, double low,
                     double high, double tolerance, int max_evaluations = 100);

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_NUMERIC_SEARCH_H_
