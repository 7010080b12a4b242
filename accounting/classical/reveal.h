#ifndef EPSLEDGER_ACCOUNTING_CLASSICAL_REVEAL_H_
#define EPSLEDGER_ACCOUNTING_CLASSICAL_REVEAL_H_

// The deltas of a composition. Every (epsilon, delta)-DP pair is a post-processing of the pair that
// with probability delta reveals everything, and otherwise is randomized response of epsilon
// ([KOV15] Thm 3.1). So with probability keep = prod (1 - delta_i)^{n_i} a whole sequence reveals
// nothing, and
//
//   1 - delta(epsilon) = keep (1 - delta_rest(epsilon)).

#include <vector>

#include "accounting/classical/approximate_dp.h"
#include "accounting/numeric/bounds.h"

namespace epsledger::accounting {

// One profile at one epsilon as log delta and log(1 - delta), so that neither a delta of 1e-300 nor
// one of 1 - 1e-300 loses digits.
struct ProfileValue {
  Bounds log_delta;
  Bounds log_complement;  // log(1 - delta)
};

// sum n_i log(1 - delta_i). -inf where a delta_i is 1. Two ulp wide, also at delta_i = 1e-300.
Bounds LogKeep(const std::vector<CountedParameters>& events);

// log(1 - keep).
Bounds LogReveal(Bounds log_keep);

// log(1 - keep (1 - delta)). Relative error of delta(epsilon): some ulp more than that of its
// parts.
Bounds WithReveal(Bounds log_keep, const ProfileValue& rest);

// Bounds on log(1 - e^x), for bounds on x <= 0.
Bounds LogOfComplement(Bounds x);

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_CLASSICAL_REVEAL_H_
