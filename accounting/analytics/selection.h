#ifndef EPSLEDGER_ACCOUNTING_ANALYTICS_SELECTION_H_
#define EPSLEDGER_ACCOUNTING_ANALYTICS_SELECTION_H_

// Pure differential privacy of selections: noisy maxima and the sparse vector technique. The
// theorems and their proofs are in accounting/analytics/README.md.

#include "accounting/event/history.h"
#include "accounting/event/mechanism_event.h"

namespace epsledger::accounting {

// Returns epsilon >= the largest privacy loss, in either order, of releasing the index of the
// largest noisy score; in (0, inf]. For GUMBEL noise the losses of every pair of neighbors lie in
// an interval of this length ("bounded range"), which is more than epsilon-DP. 2 b^-1 in general
// and b^-1 for monotonic scores under add-or-remove-one, b the noise multiplier.
// REQUIRES: the event is valid.
double NoisyMaxEpsilon(const ReportNoisyMax& event, const Setting& setting);

// Returns epsilon >= that of the sparse vector technique, Algorithm 1 of [LSL17]; in (0, inf].
// b1^-1 + 2 c b2^-1 in general and b1^-1 + c b2^-1 for monotonic queries under add-or-remove-one,
// b1 and b2 the noise multipliers of threshold and queries, c the cutoff.
// REQUIRES: the event is valid.
double AboveThresholdEpsilon(const AboveThreshold& event, const Setting& setting);

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_ANALYTICS_SELECTION_H_
