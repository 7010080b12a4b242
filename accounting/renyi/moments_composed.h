#ifndef EPSLEDGER_ACCOUNTING_RENYI_MOMENTS_COMPOSED_H_
#define EPSLEDGER_ACCOUNTING_RENYI_MOMENTS_COMPOSED_H_

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "accounting/composition.h"

namespace epsledger::accounting {

// MOMENTS_HOLDER and MOMENTS_AS_PUBLISHED: several releases on one sample by the two rules of
// [ZQ22] (renyi/moments_combinations.h), read by [ACG+16] Thm 2. The first is an upper bound; the
// second is an APPROXIMATION that can be below the truth. No groups. Events are releases by
// position: nothing may merge equal ones.
absl::StatusOr<std::unique_ptr<Composition>> ComposeByMoments(const std::vector<Use>& uses,
                                                              const Setting& setting,
                                                              const CompositionOptions& options,
                                                              Accountant accountant);

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_RENYI_MOMENTS_COMPOSED_H_
