#ifndef EPSLEDGER_ACCOUNTING_CENTRAL_LIMIT_FUNCTIONALS_H_
#define EPSLEDGER_ACCOUNTING_CENTRAL_LIMIT_FUNCTIONALS_H_

#include "absl/status/statusor.h"
#include "accounting/event/history.h"
#include "accounting/numeric/bounds.h"

namespace epsledger::accounting {

// Bounds on the functionals that the central limit theorem needs of one symmetric trade-off
// function f = T(P, Q), all integrals over [0, 1] ([DRS19] section 3.2):
struct CentralLimitFunctionals {
  Bounds kl;          // -int log|f'|, which is KL(P||Q)
  Bounds kappa2;      // int log^2 |f'|
  Bounds kappa3;      // int |log|f'||^3
  Bounds kappa3_bar;  // int |log|f'| + kl|^3
  Bounds variance;    // kappa2 - kl^2, without cancellation
};

// Returns the functionals of G_mu in closed form: the loss is N(mu^2/2, mu^2). mu in [0, 1e100].
// Relative error 1e-14.
CentralLimitFunctionals GaussianFunctionals(Bounds mu);

// Returns the functionals of f_{epsilon, 0}: the loss is +-epsilon. With t = tanh(epsilon/2): kl =
// epsilon t, kappa2 = epsilon^2, kappa3 = epsilon^3, variance = epsilon^2 (1 - t^2), kappa3_bar =
// epsilon^3 (1 - t^4). epsilon in [0, 1e100]. Relative error 1e-14.
CentralLimitFunctionals PureFunctionals(double epsilon);

// Returns the functionals of T(Lap(0,1), Lap(theta,1)) as sums of positive terms
// (accounting/central_limit/README.md, "The functionals"). theta in [0, 1e6]. Relative error 1e-13.
CentralLimitFunctionals LaplaceFunctionals(double theta);

// Returns the functionals of one use of `event`: gaussian, gaussianDp, treeAggregation, pureDp,
// laplace (a scalar one). For gaussianDp and pureDp they belong to the declared function, which is
// below that of the mechanism. UNIMPLEMENTED with the reason otherwise: the theorem is about
// symmetric functions, and the functions of sampled mechanisms are not symmetric.
absl::StatusOr<CentralLimitFunctionals> FunctionalsOf(const MechanismEvent& event,
                                                      const Setting& setting);

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_CENTRAL_LIMIT_FUNCTIONALS_H_
