#ifndef EPSLEDGER_ACCOUNTING_CENTRAL_LIMIT_LIMIT_H_
#define EPSLEDGER_ACCOUNTING_CENTRAL_LIMIT_LIMIT_H_

// The central limit theorem WITHOUT its error: APPROXIMATIONS, which under-report the epsilon spent
// at small delta (noise multiplier 0.5, sampling probability 0.01, 1000 steps, delta 1e-12: 18.5
// against a true 27.1). Shown with their label, and never used to decide.

#include <vector>

#include "absl/status/statusor.h"
#include "accounting/event/history.h"

namespace epsledger::accounting {

// `steps` uses of a Gaussian release of one contribution on a sample.
struct SampledGaussianSteps {
  double sampling_probability = 0;  // (0, 1]
  double noise_multiplier = 0;      // (0, inf), the noise relative to the shift by a neighbor
  double steps = 0;                 // at least 1
};

// q sqrt(T (e^{1/z^2} - 1)): the limit for Poisson sampling ([BDLS20] Thm 5). +inf where it
// overflows (z below 0.0376). 1e-15 relative.
double PoissonLimitMu(const SampledGaussianSteps& steps);

// sqrt(2) q sqrt(T (e^{1/z^2} Phi(3/(2z)) + 3 Phi(-1/(2z)) - 2)): the limit of C_q(G_{1/z}),
// uniform subsets of fixed size under replacement of a record ([DRS19] Cor 5.4). +inf where it
// overflows. 1e-13 relative.
double UniformLimitMu(const SampledGaussianSteps& steps);

// The mu of the Gaussian limit of a history: the root of the sum of mu_i^2, where gaussian,
// gaussianDp and treeAggregation have their own mu, a poissonSampled gaussian that of
// PoissonLimitMu (add-or-remove-one and replace-special) and a gaussian sampledWithoutReplacement
// that of UniformLimitMu (replace-one). UNIMPLEMENTED with the reason for everything else.
absl::StatusOr<double> CentralLimitMu(const std::vector<Use>& uses, const Setting& setting);

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_CENTRAL_LIMIT_LIMIT_H_
