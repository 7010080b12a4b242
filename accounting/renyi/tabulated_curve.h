#ifndef EPSLEDGER_ACCOUNTING_RENYI_TABULATED_CURVE_H_
#define EPSLEDGER_ACCOUNTING_RENYI_TABULATED_CURVE_H_

#include <vector>

#include "accounting/event/mechanism_event.h"

namespace epsledger::accounting {

// The bounds that a table D_{orders[i]} <= divergences[i] proves for the orders between.
//
// D_a does not decrease with a, and (a - 1) D_a is convex in a with value 0 at a = 1 ([vEH14] Thm 3
// and Cor 2): so the lower convex hull of the points (a, (a - 1) D_a), (1, 0) included, bounds
// (a - 1) D_a up to the largest order, after every row has been lowered to the smallest divergence
// at or above its order. Beyond the largest order nothing is known.
class TabulatedRenyiCurve {
 public:
  // REQUIRES: Validate(curve) is OK.
  explicit TabulatedRenyiCurve(const RenyiCurve& curve);

  // Returns D >= D_order, rounded up; +inf beyond the largest order. order > 1. O(log rows).
  double Divergence(double order) const;

 private:
  std::vector<double> orders_;       // increasing
  std::vector<double> divergences_;  // non-decreasing: what monotonicity proves at each order
  std::vector<double> hull_orders_;  // from 1
  std::vector<double> hull_values_;  // (a - 1) D_a on the hull
};

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_RENYI_TABULATED_CURVE_H_
