#ifndef EPSLEDGER_ACCOUNTING_CENTRAL_LIMIT_BERRY_ESSEEN_H_
#define EPSLEDGER_ACCOUNTING_CENTRAL_LIMIT_BERRY_ESSEEN_H_

// The central limit theorem for trade-off functions WITH its error: a bound, which may decide.

#include <vector>

#include "accounting/central_limit/functionals.h"

namespace epsledger::accounting {

// mu = 2 sum kl / s and gamma = 0.56 sum kappa3_bar / s^3, s^2 = sum variance.
struct CentralLimitParameters {
  Bounds mu;
  Bounds gamma;
};

struct CountedFunctionals {
  CentralLimitFunctionals functionals;
  double count = 1;  // at least 1, exact up to 2^53
};

// Bounds on both parameters of the composition. Where they overflow, or all losses are 0, gamma is
// +inf and the band gives no information.
CentralLimitParameters Combine(const std::vector<CountedFunctionals>& parts);

// lower <= (f_1 (x) ... (x) f_n)(alpha) <= upper, alpha in [0, 1], for f_i symmetric ([DRS19] Thm
// 3.4 with the constant 0.56 of [Shevtsova10]): for gamma < 1/2 and alpha in [gamma, 1 - gamma]
//   G_mu(alpha + gamma) - gamma <= f(alpha) <= G_mu(alpha - gamma) + gamma;
// outside, the bounds that follow from the nearer end by monotonicity. Where nothing is known: {0,
// 1 - alpha}. If the combined functions lie below those of the mechanisms, only `lower` is a bound
// for the mechanisms.
Bounds BerryEsseen(const CentralLimitParameters& parameters, double alpha);

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_CENTRAL_LIMIT_BERRY_ESSEEN_H_
