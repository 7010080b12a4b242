#ifndef EPSLEDGER_ACCOUNTING_TRADE_OFF_TRADE_OFF_COMPOSED_H_
#define EPSLEDGER_ACCOUNTING_TRADE_OFF_TRADE_OFF_COMPOSED_H_

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "accounting/composition.h"

namespace epsledger::accounting {

// The TRADE_OFF accountant: Gaussian events, (epsilon, delta)-DP promises, Laplace and declared
// trade-off curves as trade-off functions, composed exactly where TensorProduct can ([DRS19] Thm
// 3.2); every other history through its privacy loss (pld/pld_composed.h), whose profile says the
// same by duality ([DRS19] Prop 2.12).
//
// Two-sided where every function is one that is attained. The result may borrow `uses`.
absl::StatusOr<std::unique_ptr<Composition>> ComposeByTradeOff(const std::vector<Use>& uses,
                                                               const Setting& setting,
                                                               const CompositionOptions& options);

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_TRADE_OFF_TRADE_OFF_COMPOSED_H_
