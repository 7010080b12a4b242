#include "client/trainers/istdp/scad_prox.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"

namespace epsledger::trainers::istdp {

absl::Status ValidateScad(const ScadPenalty& penalty) {
  if (!(std::isfinite(penalty.lambda) && penalty.lambda >= 0)) {
    return absl::InvalidArgumentError(
        absl::StrCat("ScadPenalty.lambda: got ", penalty.lambda, ", want a finite number >= 0"));
  }
  if (!(std::isfinite(penalty.shape) && penalty.shape > 2)) {
    return absl::InvalidArgumentError(
        absl::StrCat("ScadPenalty.shape: got ", penalty.shape, ", want a finite number > 2"));
  }
  return absl::OkStatus();
}

double ScadValue(const ScadPenalty& penalty, double t) {
  const double magnitude = std::fabs(t);
  if (std::isnan(magnitude)) return magnitude;
  const double lambda = penalty.lambda;
  if (magnitude <= lambda) return lambda * magnitude;
  if (magnitude <= penalty.shape * lambda) {
    // lambda t less the square that the slope falls by, which is 0 at lambda.
    const double beyond = magnitude - lambda;
    return lambda * magnitude - beyond * (beyond / (2 * (penalty.shape - 1)));
  }
  return 0.5 * (penalty.shape + 1) * lambda * lambda;
}

double ScadProx(const ScadPenalty& penalty, double step, double s) {
  const double magnitude = std::fabs(s);
  if (!std::isfinite(magnitude)) return s;
  const double lambda = penalty.lambda;
  const double width = penalty.shape - 1;
  const double excess = magnitude - step * lambda;
  const double soft = excess > 0 ? std::copysign(excess, s) : 0.0;
  if (width <= step) {
    // The square roots are separate so that step * (shape + 1) cannot overflow.
    const double threshold = step <= penalty.shape + 1
                                 ? lambda * (0.5 * (penalty.shape + 1) + 0.5 * step)
                                 : lambda * std::sqrt(step) * std::sqrt(penalty.shape + 1);
    return magnitude <= threshold ? soft : s;
  }
  if (magnitude <= (1 + step) * lambda) return soft;
  if (magnitude > penalty.shape * lambda) return s;
  // lambda + (|s| - (1 + step) lambda) width / (width - step): at most |s| in exact arithmetic.
  const double inner = lambda + (magnitude - (1 + step) * lambda) * (width / (width - step));
  return std::copysign(std::min(inner, magnitude), s);
}

}  // namespace epsledger::trainers::istdp
