#ifndef EPSLEDGER_ACCOUNTING_CLASSICAL_CLASSICAL_COMPOSED_H_
#define EPSLEDGER_ACCOUNTING_CLASSICAL_CLASSICAL_COMPOSED_H_

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "accounting/composition.h"

namespace epsledger::accounting {

// The BASIC and ADVANCED accountants (classical/composition.h). Upper bounds. BASIC takes the group
// pair of the whole ([Vadhan17] Lemma 2.2), ADVANCED knows no groups.
absl::StatusOr<std::unique_ptr<Composition>> ComposeByBasic(const std::vector<Use>& uses,
                                                            const Setting& setting,
                                                            const CompositionOptions& options);
absl::StatusOr<std::unique_ptr<Composition>> ComposeByAdvanced(const std::vector<Use>& uses,
                                                               const Setting& setting,
                                                               const CompositionOptions& options);

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_CLASSICAL_CLASSICAL_COMPOSED_H_
