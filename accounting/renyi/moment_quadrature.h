#ifndef EPSLEDGER_ACCOUNTING_RENYI_MOMENT_QUADRATURE_H_
#define EPSLEDGER_ACCOUNTING_RENYI_MOMENT_QUADRATURE_H_

#include "absl/functional/function_ref.h"
#include "accounting/numeric/computed.h"

namespace epsledger::accounting {

// A pair of laws on the line whose densities over that of N(0, 1) are sums of exponentials
// w e^{s t} with w > 0 and |s| <= `largest_shift`, and what bounds the moments of r = dP/dQ beyond
// a grid.
struct MomentPair {
  struct Point {
    Computed log_ratio;    // log r
    Computed log_density;  // log dQ, without -log sqrt(2 pi)
  };
  absl::FunctionRef<Point(double t)> at;
  double largest_shift;
  // True if r^order dQ has a density in its denominator.
  bool divides;

  // For u >= 0: (r^a - 1 - a (r - 1)) dQ at T + u, and at -T - u, is at most
  // e^{log_bound(T) + slope u - (T + u)^2 / 2} / sqrt(2 pi), for every T > 0.
  struct Tail {
    absl::FunctionRef<double(double t)> log_bound;
    double slope;
  };
  Tail right;
  Tail left;
};

// Returns D >= D_order(P || Q) = log E_Q[r^a] / (a - 1) by a trapezoid rule on (r^a - 1 - a (r -
// 1)) dQ, which is never negative: aliasing, truncation and rounding are added. +inf where the rule
// would take more than `most_points`, or has no digits. `log_least`: a guess at the log of
// E_Q[r^a] - 1, from which the step is chosen; a wrong one loosens the bound.
// order >= 1 + 1e-6. Source: README, "The sampled Gaussian under replace-one".
double MomentQuadrature(const MomentPair& pair, double order, double log_least, double most_points);

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_RENYI_MOMENT_QUADRATURE_H_
