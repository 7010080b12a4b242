#ifndef EPSLEDGER_ACCOUNTING_CENTRAL_LIMIT_CENTRAL_LIMIT_COMPOSED_H_
#define EPSLEDGER_ACCOUNTING_CENTRAL_LIMIT_CENTRAL_LIMIT_COMPOSED_H_

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "accounting/composition.h"

namespace epsledger::accounting {

// The CLT accountant: the history taken for the Gaussian that it tends to (central_limit/limit.h).
// Every answer is an APPROXIMATION, one number in `upper`, and under-reports at small delta. No
// groups.
absl::StatusOr<std::unique_ptr<Composition>> ComposeByCentralLimit(
    const std::vector<Use>& uses, const Setting& setting, const CompositionOptions& options);

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_CENTRAL_LIMIT_CENTRAL_LIMIT_COMPOSED_H_
