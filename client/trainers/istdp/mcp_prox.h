#ifndef EPSLEDGER_CLIENT_TRAINERS_ISTDP_MCP_PROX_H_
#define EPSLEDGER_CLIENT_TRAINERS_ISTDP_MCP_PROX_H_

#include "absl/status/status.h"

namespace epsledger::trainers::istdp {

// The minimax concave penalty of one coordinate [Zha10]:
//
//   phi(t) = lambda |t| - t^2 / (2 shape)   if |t| <= shape * lambda      (the "knot")
//          = shape * lambda^2 / 2           otherwise
//
// It grows like lambda |t| at zero, so it makes coordinates exactly zero, and is flat beyond the
// knot, so it does not shrink large coordinates. It is 1/shape-weakly convex: phi(t) + t^2/(2
// shape) is convex.
//
// A value is valid if lambda is finite and >= 0 and shape is finite and > 1 (ValidateMcp).
// lambda = 0 means no penalty. Both are public constants: choosing them by looking at private
// records is an uncharged release.
struct McpPenalty {
  double lambda = 0;
  double shape = 2;
};

// Returns OK if `penalty` is valid, else INVALID_ARGUMENT that names the field, value and domain.
absl::Status ValidateMcp(const McpPenalty& penalty);

// The knot of UniversalThresholdMcp: coefficients beyond it are not shrunk.
inline constexpr double kUniversalKnot = 3;

// Returns the penalty with lambda = s sqrt(2 ln d), s = `gradient_noise` = the standard deviation
// of one coordinate of the released mean gradient (noise_multiplier * contribution / record count),
// d = max(feature_count, 2), and shape = max(kUniversalKnot / lambda, 2). Nearly every coordinate
// whose exact gradient is 0 is below lambda [DJ94], so noise alone seldom enters the support. The
// result is a function of public values; it is a default for finding the support, not for the best
// prediction. REQUIRES: gradient_noise finite and >= 0 (0 gives no penalty); feature_count >= 1.
McpPenalty UniversalThresholdMcp(double gradient_noise, int feature_count);

// Returns phi(t), in [0, shape * lambda^2 / 2]; even in t and 0 at 0. +-inf gives the flat value,
// NaN gives NaN.
// REQUIRES: a valid penalty.
double McpValue(const McpPenalty& penalty, double t);

// Returns a global minimizer t of h(t) = (t - s)^2 / 2 + step * phi(t), up to rounding:
//
//   shape > step (firm threshold; the minimizer is unique)
//       0                                              if |s| <= step * lambda
//       sign(s) shape (|s| - step lambda) / (shape - step)   if step lambda < |s| <= shape lambda
//       s                                              if |s| > shape * lambda
//   shape <= step (h is concave up to the knot: hard threshold)
//       0                                              if |s| <= lambda sqrt(shape * step)
//       s                                              otherwise
//
// If two minimizers are equally good it returns 0, so that the map is a function of its arguments
// alone. Always |t| <= |s|, and t is never of the opposite sign. s = +-inf returns s; NaN returns
// NaN.
//
// The published closed form has shape - 1 instead of shape - step, which is correct only for step =
// 1; errata 2 and 3 of the README. Cost: a few flops.
// REQUIRES: a valid penalty; step finite and > 0.
double McpProx(const McpPenalty& penalty, double step, double s);

}  // namespace epsledger::trainers::istdp

#endif  // EPSLEDGER_CLIENT_TRAINERS_ISTDP_MCP_PROX_H_
