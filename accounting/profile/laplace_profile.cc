#include "accounting/profile/laplace_profile.h"

#include <algorithm>
#include <cmath>

#include "accounting/numeric/constants.h"
#include "accounting/numeric/log_space.h"
#include "accounting/numeric/rounding.h"
#include "accounting/profile/uncertain_epsilon.h"

namespace epsledger::accounting {
namespace {

// (epsilon - theta) / 2 is rounded once; log(1 - e^x) moves by at most |dx| / |x| for that.
Bounds LogDeltaAt(double theta, double epsilon) {
  if (epsilon >= theta) return Bounds{-kInfinity, -kInfinity};
  if (epsilon <= -theta) return LogDeltaFloor(epsilon);
  const double value = Log1mExp(0.5 * (epsilon - theta));
  const double error = 8 * kUnitRoundoff;
  return Bounds{RoundDown(value - error, 2), std::min(0.0, RoundUp(value + error, 2))};
}

// Q[L > epsilon] or, if `closed`, Q[L >= epsilon].
double TailAt(double theta, double epsilon, bool closed) {
  if (epsilon < -theta || (closed && epsilon == -theta)) return 1;
  if (epsilon > theta || (!closed && epsilon == theta)) return 0;
  return 0.5 * std::exp(-0.5 * (epsilon + theta));
}

}  // namespace

LaplaceProfile::LaplaceProfile(Bounds theta, bool attained) : theta_(theta), attained_(attained) {}

Bounds LaplaceProfile::LogDelta(double epsilon) const {
  if (theta_.upper == kInfinity) return Bounds{LogDeltaFloor(epsilon).lower, 0};
  // delta grows with theta.
  return Bounds{LogDeltaAt(theta_.lower, epsilon).lower, LogDeltaAt(theta_.upper, epsilon).upper};
}

Bounds LaplaceProfile::TailUnderQ(double epsilon) const {
  if (theta_.upper == kInfinity) return Bounds{0, 1};
  const double lower =
      std::min(TailAt(theta_.lower, epsilon, false), TailAt(theta_.upper, epsilon, false));
  const double upper =
      std::max(TailAt(theta_.lower, epsilon, true), TailAt(theta_.upper, epsilon, true));
  const double operations = 3 + std::abs(theta_.upper);
  return Bounds{lower == 1 ? 1 : RoundDownNonNegative(lower, operations),
                std::min(1.0, RoundUpNonNegative(upper, operations))};
}

double LaplaceProfile::InfinityMass() const { return theta_.upper == kInfinity ? 1 : 0; }

double LaplaceProfile::AtomSpacing() const { return theta_.upper == kInfinity ? 0 : theta_.upper; }

}  // namespace epsledger::accounting
