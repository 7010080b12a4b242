#include "accounting/profile/renyi_bounded_profile.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "accounting/numeric/log_space.h"
#include "accounting/numeric/rounding.h"
#include "accounting/profile/uncertain_epsilon.h"
#include "accounting/renyi/conversion.h"

namespace epsledger::accounting {

Bounds RenyiBoundedProfile::LogDelta(double epsilon) const {
  const Bounds floor = LogDeltaFloor(epsilon);
  const double log_delta = LogDeltaFromRenyi(divergence_, std::abs(epsilon)).value;
  if (std::isnan(log_delta)) return Bounds{floor.lower, 0};
  if (epsilon >= 0) return Bounds{floor.lower, std::min(0.0, log_delta)};
  const double upper = LogAddExp(floor.upper, epsilon + log_delta);
  return Bounds{floor.lower, std::min(0.0, RoundUp(upper + 8 * kUnitRoundoff * (1 - epsilon), 4))};
}

Bounds RenyiBoundedProfile::TailUnderQ(double epsilon) const {
  const double beyond = std::min(0.0, LogDelta(epsilon - 1).upper - std::log1p(-std::exp(-1.0)));
  const double upper = std::exp(beyond - epsilon);
  const double operations = 8 + 2 * (std::abs(beyond) + std::abs(epsilon));
  return Bounds{0, upper < 1 ? std::min(1.0, RoundUp(upper, operations)) : 1};
}

}  // namespace epsledger::accounting
