#ifndef EPSLEDGER_ACCOUNTING_RENYI_RENYI_COMPOSED_H_
#define EPSLEDGER_ACCOUNTING_RENYI_RENYI_COMPOSED_H_

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "accounting/composition.h"

namespace epsledger::accounting {

// The RENYI and MOMENTS accountants: one curve of divergences, read by [CKS20] Prop 12 at the best
// real order or by [ACG+16] Thm 2 at integer moments to 32. Upper bounds.
absl::StatusOr<std::unique_ptr<Composition>> ComposeByRenyi(const std::vector<Use>& uses,
                                                            const Setting& setting,
                                                            const CompositionOptions& options,
                                                            Accountant accountant);

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_RENYI_RENYI_COMPOSED_H_
