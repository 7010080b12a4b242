#ifndef EPSLEDGER_ACCOUNTING_RENYI_ERROR_RATES_H_
#define EPSLEDGER_ACCOUNTING_RENYI_ERROR_RATES_H_

#include "absl/functional/function_ref.h"
#include "accounting/renyi/conversion.h"

namespace epsledger::accounting {

// Returns beta <= the type II error of every test of type I error alpha, rounded down, if a release
// is (0, delta)-DP followed by one of D_a(alternative || null) <= divergence(a) and, if
// `both_orders`, also D_a(null || alternative) <= divergence(a). No larger number holds for all
// such pairs at one order: the outcome of the test has two values and no larger divergence ([vEH14]
// Thm 9; [BBGHS20]), and a pair with just these two outcomes is one of them
// (accounting/renyi/README.md, "Errors of a test").
//
// alpha and delta in [0, 1]. 0 where nothing is proved. `order` is the one that was used; it is
// searched for, and any one is sound. Cost: some 100 divergences and 0.3 ms.
Conversion TypeTwoErrorFromRenyi(absl::FunctionRef<double(double order)> divergence,
                                 bool both_orders, double delta, double alpha);

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_RENYI_ERROR_RATES_H_
