#include "accounting/profile/bounded_range_profile.h"

#include <algorithm>
#include <cmath>

#include "accounting/numeric/constants.h"
#include "accounting/numeric/log_space.h"
#include "accounting/numeric/rounding.h"
#include "accounting/profile/uncertain_epsilon.h"

namespace epsledger::accounting {
namespace {}  // namespace

Bounds BoundedRangeProfile::LogDelta(double epsilon) const {
  const Bounds floor = LogDeltaFloor(epsilon);
  if (range_ == kInfinity) return Bounds{floor.lower, 0};
  if (epsilon >= range_) return Bounds{-kInfinity, -kInfinity};
  if (epsilon <= -range_) return floor;
  const double numerator = 2 * Log1mExp(0.5 * (epsilon - range_));
  const double denominator = Log1mExp(-range_);
  const double log_delta = numerator - denominator;
  const double error = kUnitRoundoff * (24 + 4 * (std::abs(numerator) + std::abs(denominator)));
  return Bounds{std::max(floor.lower, NextDown(log_delta - error)),
                std::min(0.0, std::max(floor.upper, NextUp(log_delta + error)))};
}

Bounds BoundedRangeProfile::TailUnderQ(double epsilon) const {
  if (range_ == kInfinity) return Bounds{0, 1};
  if (epsilon > range_) return Bounds{0, 0};
  if (epsilon < -range_) return Bounds{1, 1};
  if (range_ == 0) return Bounds{0, 1};
  // (e^{(range - epsilon)/2} - 1) / (e^range - 1), each numerator and denominator times e^-range.
  const double gap = 0.5 * (range_ - epsilon);
  const double tail = -std::expm1(-gap) * std::exp(gap - range_) / -std::expm1(-range_);
  const double operations = 10 + 2 * range_;
  return Bounds{RoundDownNonNegative(tail, operations),
                std::min(1.0, RoundUpNonNegative(tail, operations))};
}

double BoundedRangeProfile::InfinityMass() const { return range_ == kInfinity ? 1 : 0; }

}  // namespace epsledger::accounting
