#ifndef EPSLEDGER_CLIENT_TRAINERS_ISTDP_BB_STEP_H_
#define EPSLEDGER_CLIENT_TRAINERS_ISTDP_BB_STEP_H_

#include <Eigen/Core>

#include "absl/status/status.h"

namespace epsledger::trainers::istdp {

// The interval that every step is clipped to; public. Valid if 0 < smallest <= largest < inf.
struct StepBounds {
  double smallest = 0;
  double largest = 0;
};

// Two differences between consecutive steps. `released_gradient` is the difference of two RELEASED
// gradients (noised, charged, divided by the public record count). Exact gradients here would be
// the leak of the published algorithm: the step is visible in the iterates, and one record can
// change it by any factor (README, erratum 14).
struct StepDifferences {
  const Eigen::VectorXd& theta;
  const Eigen::VectorXd& released_gradient;
};

// Returns OK if `bounds` is valid, else INVALID_ARGUMENT that names the field, value and domain.
absl::Status ValidateStepBounds(const StepBounds& bounds);

// Returns {0.25 / L, 100 / L}, the default interval. REQUIRES: lipschitz_constant finite and > 0.
StepBounds DefaultStepBounds(double lipschitz_constant);

// Returns the first Barzilai-Borwein step [BB88] ("BB1")
//
//   ||d_theta||^2 / (d_theta . d_gradient)
//
// clipped to `bounds`: always smallest <= result <= largest, for any arguments. A denominator that
// is not positive (noise can make it so; also 0/0) and any NaN give `largest`. The result is a
// function of released values, so it costs no budget.
//
// For exact gradients of a convex L-smooth function BB1 >= 1/L. With noise in the gradients the
// expectation of the denominator grows by (the previous step) * size * variance, so the step is
// biased SHORT. This bias is on the safe side and intentional: without it the method diverges.
// Cost: two dot products. REQUIRES: valid bounds, equal sizes.
double BarzilaiBorweinStep(const StepDifferences& differences, const StepBounds& bounds);

}  // namespace epsledger::trainers::istdp

#endif  // EPSLEDGER_CLIENT_TRAINERS_ISTDP_BB_STEP_H_
