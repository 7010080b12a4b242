#include "accounting/profile/uncertain_epsilon.h"

#include <algorithm>
#include <cmath>

#include "accounting/numeric/constants.h"
#include "accounting/numeric/log_space.h"
#include "accounting/numeric/rounding.h"

namespace epsledger::accounting {
namespace {

double LogDeltaUpper(const PrivacyProfile& profile, double epsilon) {
  if (epsilon == kInfinity) {
    const double mass = profile.InfinityMass();
    return mass > 0 ? std::min(0.0, RoundUp(std::log(mass), 2)) : 0;
  }
  return epsilon == -kInfinity ? 0 : profile.LogDelta(epsilon).upper;
}

double LogDeltaLower(const PrivacyProfile& profile, double epsilon) {
  if (epsilon == kInfinity) return -kInfinity;
  if (epsilon == -kInfinity) return 0;
  return profile.LogDelta(epsilon).lower;
}

}  // namespace

Bounds LogDeltaAround(const PrivacyProfile& profile, double value, double error) {
  if (std::isnan(value) || std::isnan(error)) return Bounds{-kInfinity, 0};
  if (error == 0 && std::isfinite(value)) return profile.LogDelta(value);
  if (std::abs(value) < 600 && error < 1e-6) {
    // delta is convex in x = e^epsilon with slope -Q[L > epsilon], whose size is largest on the
    // left: both ends are within (x e^error - x) * tail(value - error) of the middle.
    const Bounds log_delta = profile.LogDelta(value);
    const double slope = profile.TailUnderQ(NextDown(value - error)).upper;
    // log(1 - r) >= -1.01 r for r <= 1e-3.
    const double relative = 1.01 * error * std::exp(value - log_delta.lower) * slope;
    if (relative < 1e-3) {
      return Bounds{RoundDown(log_delta.lower - 1.01 * relative),
                    std::min(0.0, RoundUp(log_delta.upper + relative))};
    }
  }
  // An infinite mass is not known to be attained, so +inf on the low side is the end of the range.
  return Bounds{LogDeltaLower(profile, NextUp(value + error)),
                LogDeltaUpper(profile, NextDown(value - error))};
}

Bounds TailAround(const PrivacyProfile& profile, double value, double error) {
  if (std::isnan(value) || std::isnan(error)) return Bounds{0, 1};
  const double high = error == 0 ? value : NextUp(value + error);
  const double low = error == 0 ? value : NextDown(value - error);
  // At -inf: Q may have mass where P has none.
  const double lower = std::isfinite(high) ? profile.TailUnderQ(high).lower : 0;
  double upper = 1;
  if (low == kInfinity) {
    upper = 0;
  } else if (low > -kInfinity) {
    upper = profile.TailUnderQ(low).upper;
  }
  return Bounds{lower, upper};
}

Bounds LogDeltaFloor(double epsilon) {
  if (epsilon >= 0) return Bounds{-kInfinity, -kInfinity};
  const double floor = Log1mExp(epsilon);
  return Bounds{RoundDown(floor - 4 * kUnitRoundoff, 4),
                std::min(0.0, RoundUp(floor + 4 * kUnitRoundoff, 4))};
}

}  // namespace epsledger::accounting
