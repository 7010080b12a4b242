#include "client/trainers/istdp/mcp_prox.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "absl/strings/str_cat.h"

namespace epsledger::trainers::istdp {

absl::Status ValidateMcp(const McpPenalty& penalty) {
  if (!(std::isfinite(penalty.lambda) && penalty.lambda >= 0)) {
    return absl::InvalidArgumentError(
        absl::StrCat("McpPenalty.lambda: got ", penalty.lambda, ", want a finite number >= 0"));
  }
  if (!(std::isfinite(penalty.shape) && penalty.shape > 1)) {
    return absl::InvalidArgumentError(
        absl::StrCat("McpPenalty.shape: got ", penalty.shape, ", want a finite number > 1"));
  }
  return absl::OkStatus();
}

McpPenalty UniversalThresholdMcp(double gradient_noise, int feature_count) {
  constexpr double kSmallestShape = 2;
  const double lambda = gradient_noise * std::sqrt(2 * std::log(std::max(feature_count, 2)));
  if (lambda == 0) return {.lambda = 0, .shape = kSmallestShape};
  return {.lambda = lambda,
          .shape = std::clamp(kUniversalKnot / lambda, kSmallestShape,
                              std::numeric_limits<double>::max())};
}

double McpValue(const McpPenalty& penalty, double t) {
  const double magnitude = std::fabs(t);
  if (std::isnan(magnitude)) return magnitude;
  if (magnitude <= penalty.shape * penalty.lambda) {
    return magnitude * (penalty.lambda - magnitude / (2 * penalty.shape));
  }
  return 0.5 * penalty.shape * penalty.lambda * penalty.lambda;
}

double McpProx(const McpPenalty& penalty, double step, double s) {
  const double magnitude = std::fabs(s);
  if (std::isnan(magnitude)) return s;
  if (penalty.shape <= step) {
    // The square roots are separate so that shape * step cannot overflow.
    const double threshold = penalty.lambda * std::sqrt(penalty.shape) * std::sqrt(step);
    return magnitude <= threshold ? 0.0 : s;
  }
  const double threshold = step * penalty.lambda;
  if (magnitude <= threshold) return 0.0;
  if (magnitude > penalty.shape * penalty.lambda) return s;
  // At most |s| in exact arithmetic; if shape - step is a few ulps, rounding makes the minimum
  // necessary.
  const double firm = penalty.shape * ((magnitude - threshold) / (penalty.shape - step));
  return std::copysign(std::min(firm, magnitude), s);
}

}  // namespace epsledger::trainers::istdp
