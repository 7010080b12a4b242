#ifndef EPSLEDGER_ACCOUNTING_GAUSSIAN_CALIBRATION_H_
#define EPSLEDGER_ACCOUNTING_GAUSSIAN_CALIBRATION_H_

namespace epsledger::accounting {

// Returns the largest mu (to 1e-14 relative) at which mu-GDP is proved (epsilon, e^log_delta)-DP.
// epsilon >= 0, log_delta in [-inf, 0]. 0 if log_delta = -inf, +inf if log_delta = 0.
double LargestGaussianMu(double epsilon, double log_delta);

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_GAUSSIAN_CALIBRATION_H_
