#ifndef EPSLEDGER_ACCOUNTING_ZCDP_ZCDP_H_
#define EPSLEDGER_ACCOUNTING_ZCDP_ZCDP_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "accounting/event/history.h"
#include "accounting/renyi/conversion.h"

namespace epsledger::accounting {

// D_a <= xi + rho a for every a > 1, after probability delta has been set aside ([BS16] Def 1.1 and
// 8.1). Each member is rounded up.
struct ZcdpParameters {
  double rho = 0;
  double xi = 0;
  double delta = 0;
};

// Returns the parameters of one use of an elementary event. Known: Gaussian events (mu^2/2),
// discrete Gaussian ([CKS20] Prop 5), epsilon-DP events (epsilon^2/2, [BS16] Prop 1.4), bounded
// range (epsilon^2/8, [CR21]), zcdp itself. A sampled event has the parameters of the event inside:
// sampling cannot hurt, and zCDP has no amplification (fixed-size sampling only under replace-one,
// random allocation and cyclic sampling only under the other relations). UNIMPLEMENTED with the
// reason for other events.
//
// group_size = k >= 1 data sets apart: (k H_k xi, k^2 rho)-zCDP with H_k = sum_{j<=k} 1/j, which is
// GroupRenyi of xi + rho a ([BS16] Prop 1.9 for xi = 0; accounting/renyi/README.md, "Groups"); an
// (epsilon, delta)-DP event has its own group pair. UNIMPLEMENTED for a sampled event with a delta
// inside.
absl::StatusOr<ZcdpParameters> ZcdpOf(const MechanismEvent& event, const Setting& setting,
                                      int64_t group_size = 1);

// Returns the sum over a history ([BS16] Lemma 1.7: rho, xi and delta add up).
absl::StatusOr<ZcdpParameters> ComposeZcdp(const std::vector<Use>& uses, const Setting& setting,
                                           int64_t group_size = 1);

// Returns epsilon >= the smallest one that the conversion of [CKS20] Prop 12 gives at the best real
// order; log_delta as there. Returns +inf unless delta < e^log_delta.
Conversion EpsilonFromZcdp(const ZcdpParameters& zcdp, double log_delta);
Conversion LogDeltaFromZcdp(const ZcdpParameters& zcdp, double epsilon);

// The largest rho whose EpsilonFromZcdp is at most epsilon, rounded down; 0 if there is none.
double LargestRho(double epsilon, double log_delta);

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_ZCDP_ZCDP_H_
