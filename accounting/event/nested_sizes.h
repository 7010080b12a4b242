#ifndef EPSLEDGER_ACCOUNTING_EVENT_NESTED_SIZES_H_
#define EPSLEDGER_ACCOUNTING_EVENT_NESTED_SIZES_H_

#include <string>

#include "absl/status/status.h"
#include "accounting/event/mechanism_event.h"

namespace epsledger::accounting {

// OK if no sampling inside another one contradicts it: what samples a sample of fixed size has this
// size as its dataset_size. The inner samplings meant are sampledWithoutReplacement,
// sampledWithReplacement and truncatedPoissonSampled, also inside composed, selfComposed and
// repeatAndSelect, which are on the same records. Otherwise INVALID_ARGUMENT names the field:
// "event.sampledWithoutReplacement.event.sampledWithoutReplacement.datasetSize: got 100, want 10,
// the sampleSize around it".
//
// For new input alone: histories that were stored before this check stay readable, so Validate does
// not call it. REQUIRES: Validate(event) is OK.
absl::Status CheckNestedSizes(const MechanismEvent& event, const std::string& path);

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_EVENT_NESTED_SIZES_H_
