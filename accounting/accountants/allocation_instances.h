#ifndef EPSLEDGER_ACCOUNTING_ACCOUNTANTS_ALLOCATION_INSTANCES_H_
#define EPSLEDGER_ACCOUNTING_ACCOUNTANTS_ALLOCATION_INSTANCES_H_

#include <vector>

#include "accounting/event/history.h"

namespace epsledger::accounting {

// Returns histories that lose no more than `uses`, with every random allocation of k of t rounds
// replaced by a function of what it releases, so that a lower bound on one of them is a lower bound
// on `uses`: what one round shows, which is a Poisson sample of probability k/t, and, where a round
// is one Gaussian release, the sum of all rounds, a Gaussian release of noise sqrt(t) / k times as
// large. Where one record is added or removed. Noise is rounded up and probabilities down. Empty if
// there is no random allocation.
std::vector<std::vector<Use>> AllocationInstances(const std::vector<Use>& uses);

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_ACCOUNTANTS_ALLOCATION_INSTANCES_H_
