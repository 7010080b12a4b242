#include "client/trainers/istdp/capped_l1_prox.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"

namespace epsledger::trainers::istdp {

absl::Status ValidateCappedL1(const CappedL1Penalty& penalty) {
  if (!(std::isfinite(penalty.lambda) && penalty.lambda >= 0)) {
    return absl::InvalidArgumentError(absl::StrCat("CappedL1Penalty.lambda: got ", penalty.lambda,
                                                   ", want a finite number >= 0"));
  }
  if (!(std::isfinite(penalty.cap) && penalty.cap > 0)) {
    return absl::InvalidArgumentError(
        absl::StrCat("CappedL1Penalty.cap: got ", penalty.cap, ", want a finite number > 0"));
  }
  return absl::OkStatus();
}

double CappedL1Value(const CappedL1Penalty& penalty, double t) {
  const double magnitude = std::fabs(t);
  if (std::isnan(magnitude)) return magnitude;
  return penalty.lambda * std::min(magnitude, penalty.cap);
}

double CappedL1Prox(const CappedL1Penalty& penalty, double step, double s) {
  const double magnitude = std::fabs(s);
  if (!std::isfinite(magnitude)) return s;
  const double shrinkage = step * penalty.lambda;
  // Separate square roots, so that their argument cannot overflow; if step * lambda itself is
  // infinite, every finite s gives 0.
  const double threshold = shrinkage <= 2 * penalty.cap
                               ? penalty.cap + 0.5 * shrinkage
                               : std::sqrt(shrinkage) * std::sqrt(2 * penalty.cap);
  if (magnitude > threshold) return s;
  const double excess = magnitude - shrinkage;
  return excess > 0 ? std::copysign(excess, s) : 0.0;
}

}  // namespace epsledger::trainers::istdp
