#ifndef EPSLEDGER_ACCOUNTING_TRADE_OFF_GAUSSIAN_SUMMARY_H_
#define EPSLEDGER_ACCOUNTING_TRADE_OFF_GAUSSIAN_SUMMARY_H_

#include "absl/status/statusor.h"
#include "accounting/trade_off/trade_off_function.h"

namespace epsledger::accounting {

// Summarizes f in one number. Both members are APPROXIMATIONS and never a reason to grant anything.
struct GaussianSummary {
  // The smallest mu with f >= G_mu on [smallest_alpha, 1 - smallest_alpha], as far as a grid sees.
  double mu;
  // What is lost by stating G_mu instead of f: the smallest k >= 0 with f(a + k) - k <= G_mu(a) for
  // all a, sup over epsilon of (delta_G - delta_f)(epsilon) / (1 + e^epsilon) ([KKBH24] Thm 2).
  double regret;
};

// Returns the summary of [Gomez25], with 200 points of each of f and its profile. INVALID_ARGUMENT
// unless smallest_alpha is in (0, 1/2). Over all of (0, 1) mu would be that of the far tail (for a
// sampled Gaussian, the mu of the unsampled one), so the range is part of the question.
absl::StatusOr<GaussianSummary> SummarizeAsGaussian(const TradeOffFunction& f,
                                                    double smallest_alpha);

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_TRADE_OFF_GAUSSIAN_SUMMARY_H_
