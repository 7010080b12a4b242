#ifndef EPSLEDGER_ACCOUNTING_GAUSSIAN_GAUSSIAN_COMPOSED_H_
#define EPSLEDGER_ACCOUNTING_GAUSSIAN_GAUSSIAN_COMPOSED_H_

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "accounting/composition.h"

namespace epsledger::accounting {

// The GAUSSIAN accountant: Gaussian releases are one Gaussian release of mu = sqrt(sum mu_i^2)
// ([DRS19] Cor 3.3), k times that for groups of k ([DRS19] Thm 2.14). Two-sided, and every question
// has a closed form.
absl::StatusOr<std::unique_ptr<Composition>> ComposeByGaussian(const std::vector<Use>& uses,
                                                               const Setting& setting,
                                                               const CompositionOptions& options);

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_GAUSSIAN_GAUSSIAN_COMPOSED_H_
