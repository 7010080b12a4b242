#ifndef EPSLEDGER_CLIENT_TRAINERS_ISTDP_SCAD_PROX_H_
#define EPSLEDGER_CLIENT_TRAINERS_ISTDP_SCAD_PROX_H_

#include "absl/status/status.h"

namespace epsledger::trainers::istdp {

// The smoothly clipped absolute deviation penalty of one coordinate [FL01]:
//
//   phi(t) = lambda |t|                                                  if |t| <= lambda
//          = (2 shape lambda |t| - t^2 - lambda^2) / (2 (shape - 1))     if |t| <= shape * lambda
//          = (shape + 1) lambda^2 / 2                                    otherwise
//
// Like MCP it is flat beyond shape * lambda, but it has the full slope lambda up to |t| = lambda.
// It is 1/(shape - 1)-weakly convex: phi(t) + t^2/(2 (shape - 1)) is convex.
//
// A value is valid if lambda is finite and >= 0 and shape is finite and > 2 (ValidateScad).
// lambda = 0 means no penalty. Both are public constants, as those of McpPenalty.
struct ScadPenalty {
  double lambda = 0;
  double shape = 3.7;  // the value of [FL01]
};

// Returns OK if `penalty` is valid, else INVALID_ARGUMENT that names the field, value and domain.
absl::Status ValidateScad(const ScadPenalty& penalty);

// Returns phi(t), in [0, (shape + 1) lambda^2 / 2]; even in t and 0 at 0. +-inf gives the flat
// value, NaN gives NaN. REQUIRES: a valid penalty.
double ScadValue(const ScadPenalty& penalty, double t);

// Returns a global minimizer t of h(t) = (t - s)^2 / 2 + step * phi(t), up to rounding. With
// soft(s) = sign(s) max(|s| - step lambda, 0):
//
//   shape - 1 > step (h is strictly convex; the minimizer is unique)
//       soft(s)                                                   if |s| <= (1 + step) lambda
//       sign(s) ((shape - 1) |s| - step shape lambda) / (shape - 1 - step)
//                                                                 if |s| <= shape * lambda
//       s                                                         otherwise
//   shape - 1 <= step (h is concave between lambda and shape * lambda: a jump)
//       soft(s)                                                   if |s| <= threshold
//       s                                                         otherwise
//     threshold = (shape + 1 + step) lambda / 2                   if step <= shape + 1
//               = lambda sqrt(step (shape + 1))                   otherwise
//
// The condition on the step is therefore step < shape - 1; beyond it the map still gives a global
// minimizer, but jumps at the threshold, where there are two. There it returns the smaller one.
// Always |t| <= |s|, and t is never of the opposite sign. s = +-inf returns s; NaN returns NaN.
// Derivation: README, "Proximal maps". Cost: a few flops.
// REQUIRES: a valid penalty; step finite and > 0.
double ScadProx(const ScadPenalty& penalty, double step, double s);

}  // namespace epsledger::trainers::istdp

#endif  // EPSLEDGER_CLIENT_TRAINERS_ISTDP_SCAD_PROX_H_
