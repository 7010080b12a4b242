#ifndef EPSLEDGER_ACCOUNTING_RENYI_CONVERSION_H_
#define EPSLEDGER_ACCOUNTING_RENYI_CONVERSION_H_

#include "absl/functional/function_ref.h"

namespace epsledger::accounting {

// Orders that conversions search: any order in (1, inf) gives a valid bound.
inline constexpr double kSmallestOrderExcess = 1e-6;
inline constexpr double kLargestOrderExcess = 1e9;

// A bound and the Renyi order that gave it; order 0 where no order was needed.
struct Conversion {
  double value;
  double order;
};

// Returns epsilon >= D + log((a-1)/a) - (log_delta + log a)/(a-1), rounded up and not clamped: a
// mechanism with D_a <= divergence in both directions is (epsilon, delta)-DP ([CKS20] Prop 12;
// [BBGHS20] Thm 21). order > 1, log_delta in [-inf, 0].
double EpsilonAtOrder(double order, double divergence, double log_delta);

// Returns the largest divergence at which EpsilonAtOrder is at most epsilon, rounded down; may be
// negative.
double LargestDivergence(double order, double epsilon, double log_delta);

// Returns the smallest EpsilonAtOrder over real orders, clamped at 0; also 0 where delta^2 >= 1 -
// e^{-KL} ([BH78], with KL <= D_{1 + 1e-6}). `divergence` returns D >= D_a.
// The objective has one minimum (README, "Conversion"), so the search finds it; 1e-7 relative.
// +inf for log_delta = -inf. About 20 evaluations of `divergence`.
Conversion EpsilonFromRenyi(absl::FunctionRef<double(double order)> divergence, double log_delta);

// Returns the smallest log delta by the same theorem, at most 0. epsilon finite, any sign.
Conversion LogDeltaFromRenyi(absl::FunctionRef<double(double order)> divergence, double epsilon);

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_RENYI_CONVERSION_H_
