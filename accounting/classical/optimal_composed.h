#ifndef EPSLEDGER_ACCOUNTING_CLASSICAL_OPTIMAL_COMPOSED_H_
#define EPSLEDGER_ACCOUNTING_CLASSICAL_OPTIMAL_COMPOSED_H_

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "accounting/composition.h"

namespace epsledger::accounting {

// The OPTIMAL accountant: the best that can be promised when all that is known of each event is its
// (epsilon_i, delta_i). One distinct epsilon_i in closed form ([KOV15] Thm 3.3), few outcomes by
// enumeration ([MV16] Thm 1.5), otherwise bounds from a lattice on the same randomized responses.
//
// `lower` is there where the events promise an (epsilon, delta) and nothing else (pureDp,
// approximateDp, unverifiedClaim), so that some mechanism attains it; groups have none: each event
// is taken at the group pair of its own ([Vadhan17] Lemma 2.2).
absl::StatusOr<std::unique_ptr<Composition>> ComposeByOptimal(const std::vector<Use>& uses,
                                                              const Setting& setting,
                                                              const CompositionOptions& options);

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_CLASSICAL_OPTIMAL_COMPOSED_H_
