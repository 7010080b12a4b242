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
  // Wanted width of f, and of f^-1 at f(alpha): relative_width times f and times 1 - f, or
  // absolute_width where that product is smaller.
  double relative_width = 1.4e-4;
  double absolute_width = 1e-7;
  // No loss is larger: the profile is not evaluated beyond.
  double largest_epsilon = 700;
  int max_samples = 2000;
};

// Evaluates a privacy profile at increasing epsilons >= 0, close enough to each other that the
// bounds on the trade-off function computed from them are as narrow as wanted: with a step of h the
// bounds are (h^2 / 2) (density of the loss) apart. Ends where delta is below the absolute width. A
// profile whose own bounds are wider than the wanted width is evaluated at fewer points. Cost: 400
// to 1,000 evaluations for a smooth profile, some ten more for each kink.
std::vector<ProfileSample> SampleProfile(absl::FunctionRef<Bounds(double epsilon)> delta,
                                         const SamplingOptions& options);

// f = T(Q, P) between two convex, non-increasing, piecewise linear functions, from bounds on the
// profiles of (P, Q) and (Q, P) at finitely many epsilons: f(alpha) = sup over x of g(x) - x alpha,
// g(x) = 1 - delta(log x) concave ([DRS19] Prop 2.12). The lower bound is the supremum over the
// samples. The upper bound is the supremum over the crossings of the secants on both sides of each
// interval between samples, where g cannot rise above the secants (accounting/trade_off/README.md,
// "A curve from one table"). Immutable, safe to share.
class TabulatedTradeOff {
 public:
  // `pair` holds samples of (P, Q) and `reverse` of (Q, P), by increasing epsilon starting at 0.
  // Passing the same samples for both, or those of the larger profile at each epsilon, gives the
  // function of an unordered relation. 1 - delta <= `finite_mass` and `reverse_finite_mass` at
  // every epsilon: 1, or less where a loss may be infinite.
  TabulatedTradeOff(const std::vector<ProfileSample>& pair,
                    const std::vector<ProfileSample>& reverse, double finite_mass = 1,
                    double reverse_finite_mass = 1);

  // Bounds on f(alpha), alpha in [0, 1]: 0 <= lower <= upper <= 1 - alpha, rounded up. NaN gives
  // {0, 1}. Cost: two binary searches.
  Bounds At(double alpha) const;
  // Bounds on the delta of (P, Q) between the samples, to 1e-11 or so; epsilon finite.
  Bounds Delta(double epsilon) const;
  // Returns g <= 1 - delta(log x): f(alpha) >= g - x alpha for every alpha. x >= 0.
  double InterceptBelow(double x) const;

 private:
  struct Point {
    double x;
    double g;
  };
  // Returns the vertices of the smallest concave function above points of increasing x.
  static std::vector<Point> ConcaveHull(const std::vector<Point>& points);
  // Returns max of g - x alpha over a hull; the vertex found may be off by one.
  static double Conjugate(const std::vector<Point>& hull, double alpha, double rounding);
  static double Interpolate(const std::vector<Point>& hull, double x);

  std::vector<Point> below_;
  std::vector<Point> above_;
};

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_TRADE_OFF_TABULATED_TRADE_OFF_H_
