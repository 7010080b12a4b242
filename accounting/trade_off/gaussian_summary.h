#ifndef EPSLEDGER_ACCOUNTING_TRADE_OFF_GAUSSIAN_SUMMARY_H_
#define EPSLEDGER_ACCOUNTING_TRADE_OFF_GAUSSIAN_SUMMARY_H_

#include "absl/status/statusor.h"
#include "accounting/trade_off/trade_off_function.h"

namespace epsledger::accounting {

// Summarizes f in one number. Both bounds from above are certified, rounding included; but f is
// compared with G_mu on [smallest_alpha, 1 - smallest_alpha] only, so nothing here says that a
// mechanism is mu-GDP, and none of it is a reason to grant anything.
struct GaussianSummary {
  // At least the smallest mu with f >= G_mu on [smallest_alpha, 1 - smallest_alpha]; +inf if there
  // is none.
  double mu;
  // At most that smallest mu. 0 where f is bounded from below only.
  double mu_lower;
  // What is lost by stating G_mu instead of f: at least the smallest k >= 0 with f(a + k) - k <=
  // G_mu(a) for all a in [0, 1], sup over epsilon of (delta_G - delta_f)(epsilon) / (1 + e^epsilon)
  // ([KKBH24] Thm 2). In [0, 1/2].
  double regret;
};

// Returns the summary of [Gomez25] (README, "One number for a curve"): mu is above the smallest by
// a relative 1e-4 or less, if f and its lines are exact, and regret by 1e-6 or a hundredth. Costs
// up to 700 evaluations of the lines of f, and 300 of f and its profile. INVALID_ARGUMENT unless
// smallest_alpha is in (0, 1/2). Over all of (0, 1) mu would be that of the far tail (for a sampled
// Gaussian, the mu of the unsampled one), so the range is part of the question.
absl::StatusOr<GaussianSummary> SummarizeAsGaussian(const TradeOffFunction& f,
                                                    double smallest_alpha);

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_TRADE_OFF_GAUSSIAN_SUMMARY_H_
