#ifndef EPSLEDGER_CLIENT_TRAINERS_ISTDP_CAPPED_L1_PROX_H_
#define EPSLEDGER_CLIENT_TRAINERS_ISTDP_CAPPED_L1_PROX_H_

#include "absl/status/status.h"

namespace epsledger::trainers::istdp {

// The capped L1 penalty of one coordinate [Zha10b]:
//
//   phi(t) = lambda min(|t|, cap)
//
// It is flat beyond the cap, where its slope falls at once from lambda to 0. Because of this
// concave kink it is not weakly convex for any modulus.
//
// A value is valid if lambda is finite and >= 0 and cap is finite and > 0 (ValidateCappedL1).
// lambda = 0 means no penalty. Both are public constants, as those of McpPenalty.
struct CappedL1Penalty {
  double lambda = 0;
  double cap = 1;
};

// Returns OK if `penalty` is valid, else INVALID_ARGUMENT that names the field, value and domain.
absl::Status ValidateCappedL1(const CappedL1Penalty& penalty);

// Returns phi(t), in [0, lambda * cap]; even in t and 0 at 0. +-inf gives lambda * cap, NaN gives
// NaN. REQUIRES: a valid penalty.
double CappedL1Value(const CappedL1Penalty& penalty, double t);

// Returns a global minimizer t of h(t) = (t - s)^2 / 2 + step * phi(t), up to rounding:
//
//   sign(s) max(|s| - step lambda, 0)     if |s| <= threshold
//   s                                     otherwise
//   threshold = cap + step lambda / 2     if step * lambda <= 2 cap
//             = sqrt(2 step lambda cap)   otherwise
//
// There is no step for which h is convex and the map continuous: it jumps at the threshold for
// every step (if lambda > 0). The condition step <= 2 cap / lambda only says from where it jumps:
// from |s| - step lambda below it, and from 0 (a hard threshold) above it. At the threshold there
// are two minimizers, and it returns the smaller one.
// Always |t| <= |s|, and t is never of the opposite sign. s = +-inf returns s; NaN returns NaN.
// Derivation: README, "Proximal maps". Cost: a few flops.
// REQUIRES: a valid penalty; step finite and > 0.
double CappedL1Prox(const CappedL1Penalty& penalty, double step, double s);

}  // namespace epsledger::trainers::istdp

#endif  // EPSLEDGER_CLIENT_TRAINERS_ISTDP_CAPPED_L1_PROX_H_
