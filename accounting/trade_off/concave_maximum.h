#ifndef EPSLEDGER_ACCOUNTING_TRADE_OFF_CONCAVE_MAXIMUM_H_
#define EPSLEDGER_ACCOUNTING_TRADE_OFF_CONCAVE_MAXIMUM_H_

#include <vector>

#include "absl/functional/function_ref.h"
#include "accounting/numeric/bounds.h"

namespace epsledger::accounting {

// A point at which a concave function is known: value.lower <= g(at) <= value.upper.
struct ConcaveSample {
  double at;
  Bounds value;
};

// A line: the function lies below value + slope * (t - at).
struct Majorant {
  double at;
  double value;
  double slope;
};

struct ConcaveProblem {
  // 0 <= low < high, both finite: the maximum is searched on [low, high].
  double low;
  double high;
  // Points that need no evaluation, in any order.
  std::vector<ConcaveSample> known;
  // Lines that are above g on all of [low, high].
  std::vector<Majorant> majorants;
  // The first point to try.
  double start;
};

struct ConcaveOptions {
  // The search ends when the maximum is known to within the larger of these two tolerances, as far
  // as the evaluations are exact.
  double relative_tolerance = 1e-9;
  double absolute_tolerance = 1e-12;
  int max_evaluations = 40;
};

// Returns lower <= max of g over [low, high] <= upper for a concave g; `evaluate` returns bounds on
// g.
//
// lower is a bound on g at an evaluated point, whatever the search did. upper follows from
// concavity alone: to the right of two points g lies below their secant, to the left of two points
// also, and between neighboring samples the smaller of such lines has its maximum at a crossing. A
// NaN from `evaluate` is no information. The search uses `lower` in place of g, so an `upper` that
// is far off only loosens the returned upper bound.
//
// The next point is the crossing of the two secants in the interval that can hold the largest
// value; every other time it is kept away from the ends, in logarithms. So a kink is hit exactly,
// and a smooth maximum is approached at least linearly (10 to 25 evaluations).
Bounds ConcaveMaximum(absl::FunctionRef<Bounds(double)> evaluate, const ConcaveProblem& problem,
                      const ConcaveOptions& options = {});

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_TRADE_OFF_CONCAVE_MAXIMUM_H_
