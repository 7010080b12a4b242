#ifndef EPSLEDGER_ACCOUNTING_RENYI_MOMENTS_H_
#define EPSLEDGER_ACCOUNTING_RENYI_MOMENTS_H_

#include "absl/functional/function_ref.h"
#include "accounting/renyi/conversion.h"

namespace epsledger::accounting {

// The moments accountant of Abadi et al. 2016: log moments alpha(l) = l D_{l+1} at l = 1, ..., 32
// and the classic tail bound delta = min_l exp(alpha(l) - l epsilon) ([ACG+16] Thm 2). It is the
// Renyi accountant with an older, looser conversion.
inline constexpr int kLargestMoment = 32;

// min_l (alpha(l) - log delta) / l, rounded up, at least 0.
Conversion EpsilonFromMoments(absl::FunctionRef<double(double order)> divergence, double log_delta);
// min_l (alpha(l) - l epsilon), rounded up, at most 0.
Conversion LogDeltaFromMoments(absl::FunctionRef<double(double order)> divergence, double epsilon);

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_RENYI_MOMENTS_H_
