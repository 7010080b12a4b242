#ifndef EPSLEDGER_ACCOUNTING_PLD_PLD_COMPOSED_H_
#define EPSLEDGER_ACCOUNTING_PLD_PLD_COMPOSED_H_

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "accounting/composition.h"

namespace epsledger::accounting {

// The PLD accountant: every event by its privacy profile, composed without loss. Two-sided where
// every profile is attained (PrivacyProfile::exact), otherwise an upper bound alone.
//
// Plain Gaussian events are merged into one first ([DRS19] Cor 3.3). Each upper bound is held
// against the Renyi accountant's: if the lower bound of this one is above it, one of the two is
// wrong and the answer is INTERNAL.
// The first type II error tabulates the whole trade-off function, which answers all the others.
// Answers come from one object's growing lattice: not safe to share between threads.
absl::StatusOr<std::unique_ptr<Composition>> ComposeByPld(const std::vector<Use>& uses,
                                                          const Setting& setting,
                                                          const CompositionOptions& options,
                                                          Accountant asked_by);

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_PLD_PLD_COMPOSED_H_
