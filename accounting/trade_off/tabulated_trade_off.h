#ifndef EPSLEDGER_ACCOUNTING_TRADE_OFF_TABULATED_TRADE_OFF_H_
#define EPSLEDGER_ACCOUNTING_TRADE_OFF_TABULATED_TRADE_OFF_H_

#include <vector>

#include "absl/functional/function_ref.h"
#include "accounting/numeric/bounds.h"

namespace epsledger::accounting {

// delta.lower <= delta(epsilon) <= delta.upper, epsilon in [0, 700].
struct ProfileSample {
  double epsilon;
  Bounds delta;
};

struct SamplingOptions {
  // Wanted width of f, and of f^-1 at f(alpha): this share of it and of 1 - f, or this much where
  // that is less.
  double relative_width = 1.4e-4;
  double absolute_width = 1e-7;
  // No loss is larger: nothing is asked beyond.
  double largest_epsilon = 700;
  int max_samples = 2000;
};

// Asks a privacy profile at increasing epsilons >= 0, near enough to each other that the trade-off
// function read off them is as narrow as wanted: with a step of h it lies between bounds
// (h^2 / 2) (density of the loss) apart. Ends where delta is below the absolute width. A profile
// whose own bounds are wider than what is wanted is asked at fewer points. Cost: 400 to 1,000
// evaluations for a smooth profile, some ten more for each of its kinks.
std::vector<ProfileSample> SampleProfile(absl::FunctionRef<Bounds(double epsilon)> delta,
                                         const SamplingOptions& options);

// f = T(Q, P) between two convex, non-increasing, piecewise linear functions, from bounds on the
// profiles of (P, Q) and (Q, P) at finitely many epsilons: f(alpha) = sup over x of g(x) - x alpha,
// g(x) = 1 - delta(log x) concave ([DRS19] Prop 2.12). From below, the supremum over the samples;
// from above, over the crossings of the secants on both sides of each of their intervals, between
// which g cannot rise above the secants (accounting/trade_off/README.md, "A curve from one table").
// Immutable, safe to share.
class TabulatedTradeOff {
 public:
  // `pair` holds samples of (P, Q) and `reverse` of (Q, P), by increasing epsilon from 0 on; the
  // same of both, or the larger profile at each epsilon, gives the function of an unordered
  // relation. 1 - delta <= `finite_mass` and `reverse_finite_mass` at every epsilon: 1, or less
  // where a loss may be infinite.
  TabulatedTradeOff(const std::vector<ProfileSample>& pair,
                    const std::vector<ProfileSample>& reverse, double finite_mass = 1,
                    double reverse_finite_mass = 1);

  // Bounds on f(alpha), alpha in [0, 1]: 0 <= lower <= upper <= 1 - alpha, rounded up. NaN gives
  // {0, 1}. Cost: two binary searches.
  Bounds At(double alpha) const;
  // Bounds on the delta of (P, Q) between the samples, to 1e-11 or so; epsilon finite.
  Bounds Delta(double epsilon) const;

 private:
  struct Point {
    double x;
    double g;
  };
  // The vertices of the smallest concave function above points of increasing x.
  static std::vector<Point> ConcaveHull(const std::vector<Point>& points);
  // max of g - x alpha over a hull: the vertex, give or take one.
  static double Conjugate(const std::vector<Point>& hull, double alpha, double rounding);
  static double Interpolate(const std::vector<Point>& hull, double x);

  std::vector<Point> below_;
  std::vector<Point> above_;
};

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_TRADE_OFF_TABULATED_TRADE_OFF_H_
