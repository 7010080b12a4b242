#ifndef EPSLEDGER_ACCOUNTING_GAUSSIAN_CALIBRATION_H_
#define EPSLEDGER_ACCOUNTING_GAUSSIAN_CALIBRATION_H_

#include "absl/status/statusor.h"

namespace epsledger::accounting {

// Returns the largest mu (to 1e-14 relative) at which mu-GDP is proved (epsilon, e^log_delta)-DP.
// epsilon >= 0, log_delta in [-inf, 0]. 0 if log_delta = -inf, +inf if log_delta = 0.
double LargestGaussianMu(double epsilon, double log_delta);

// Returns a noise multiplier at which one Gaussian release is (epsilon, delta)-DP, at most 1e-13
// above the smallest such (the analytic Gaussian mechanism, [BW18] Alg 1). epsilon >= 0 finite,
// delta in [0, 1]. +inf for delta = 0; 0 for delta = 1.
double AnalyticNoiseMultiplier(double epsilon, double delta);

// Returns >= sqrt(2 log(1.25 / delta)) / epsilon, the textbook noise multiplier ([DR14] Thm A.1).
// INVALID_ARGUMENT outside epsilon in (0, 1], delta in (0, 1): the theorem does not hold there.
absl::StatusOr<double> ClassicalNoiseMultiplier(double epsilon, double delta);

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_GAUSSIAN_CALIBRATION_H_
