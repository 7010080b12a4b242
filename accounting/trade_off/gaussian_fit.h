#ifndef EPSLEDGER_ACCOUNTING_TRADE_OFF_GAUSSIAN_FIT_H_
#define EPSLEDGER_ACCOUNTING_TRADE_OFF_GAUSSIAN_FIT_H_

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "accounting/trade_off/gaussian_summary.h"

namespace epsledger::accounting {

// Returns SummarizeAsGaussian of a guarantee that is expensive to evaluate: delta_above(epsilon) >=
// delta in both orders of every pair. Calls delta_above some 170 times, at epsilon >= 0, and up to
// 160 more where mu is large; between these points f is bounded below by their f_{epsilon, delta},
// so mu is above the smallest one by some 1e-3. The regret is that against these lines.
// INVALID_ARGUMENT unless smallest_alpha is in (0, 1/2).
absl::StatusOr<GaussianSummary> FitGaussian(absl::FunctionRef<double(double epsilon)> delta_above,
                                            double smallest_alpha);

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_TRADE_OFF_GAUSSIAN_FIT_H_
