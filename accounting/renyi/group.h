#ifndef EPSLEDGER_ACCOUNTING_RENYI_GROUP_H_
#define EPSLEDGER_ACCOUNTING_RENYI_GROUP_H_

#include "absl/functional/function_ref.h"

namespace epsledger::accounting {

// Group privacy of a Renyi curve. If D_a <= divergence(a) for every pair of neighbors, in both
// directions, then for data sets at distance k
//
//   D_a <= sum_{j=0}^{k-1} k a / (k a - j) * divergence(k a - j),   every real a > 1.
//
// This is the weak triangle inequality of Renyi divergence used k - 1 times with the split that is
// exact for Gaussians, where it gives k^2 (README, "Groups"). It is below the 3^c divergence(2^c a)
// of [Mironov17] Prop 2 for every group of 2^c and a >= 2. From kLargestExactGroup on, each run of
// terms is bounded by its largest order.
//
// order in (1, inf), group_size >= 1 (1 returns divergence(order) itself). divergence must not
// decrease with the order. Returns a value rounded up, +inf where divergence is +inf. Calls
// divergence min(k, about kLargestExactGroup) times.
inline constexpr int kLargestExactGroup = 64;
double GroupRenyi(absl::FunctionRef<double(double order)> divergence, double order,
                  double group_size);

// sum_{j=1}^{k} k / j, rounded up: the factor of a constant divergence in the bound above as a ->
// 1, so that (xi, rho)-zCDP becomes (k H_k xi, k^2 rho)-zCDP. Within 1e-10 relative.
double GroupConstantFactor(double group_size);

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_RENYI_GROUP_H_
