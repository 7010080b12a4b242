#ifndef EPSLEDGER_ACCOUNTING_ZCDP_ZCDP_COMPOSED_H_
#define EPSLEDGER_ACCOUNTING_ZCDP_ZCDP_COMPOSED_H_

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "accounting/composition.h"

namespace epsledger::accounting {

// The ZCDP accountant: rho, xi and delta add up ([BS16] Lemma 1.7) and are read by [CKS20] Prop 12
// at the best real order. Upper bounds; groups as ZcdpOf has them.
absl::StatusOr<std::unique_ptr<Composition>> ComposeByZcdp(const std::vector<Use>& uses,
                                                           const Setting& setting,
                                                           const CompositionOptions& options);

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_ZCDP_ZCDP_COMPOSED_H_
