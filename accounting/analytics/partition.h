#ifndef EPSLEDGER_ACCOUNTING_ANALYTICS_PARTITION_H_
#define EPSLEDGER_ACCOUNTING_ANALYTICS_PARTITION_H_

// Partitions whose key is released if their noisy size reaches a threshold. The theorem and its
// proof are in accounting/analytics/README.md, "Partitions".

#include "accounting/event/mechanism_event.h"
#include "accounting/numeric/bounds.h"

namespace epsledger::accounting {

// Bounds on log p, p = P[1 + noise >= threshold]: the probability with which a partition of one
// privacy unit is released. REQUIRES: the event is valid.
Bounds LogKeptAlone(const PartitionSelection& event);
// At least p; never 0.
double KeptAlone(const PartitionSelection& event);

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_ANALYTICS_PARTITION_H_
