#include "accounting/profile/approximate_dp_profile.h"

#include <algorithm>
#include <cmath>

#include "accounting/numeric/constants.h"
#include "accounting/numeric/rounding.h"
#include "accounting/profile/uncertain_epsilon.h"

namespace epsledger::accounting {
namespace {

Bounds LogDeltaAt(double epsilon0, double delta0, double epsilon) {
  double log_delta;
  if (delta0 == 0 && epsilon <= -epsilon0) return LogDeltaFloor(epsilon);
  if (epsilon >= epsilon0) {
    if (delta0 == 0) return Bounds{-kInfinity, -kInfinity};
    log_delta = std::log(delta0);
  } else if (epsilon > -epsilon0) {
    // epsilon - epsilon0 is rounded once, and 1 - e^x passes a relative error on at most once.
    const double more = (1 - delta0) * -std::expm1(epsilon - epsilon0) / (1 + std::exp(-epsilon0));
    log_delta = std::log(delta0 + more);
  } else {
    log_delta = std::log(delta0 + (1 - delta0) * -std::expm1(epsilon));
  }
  return Bounds{RoundDown(log_delta - 10 * kUlp, 2),
                std::min(0.0, RoundUp(log_delta + 10 * kUlp, 2))};
}

// Q[L > epsilon] or, if `closed`, Q[L >= epsilon]. Q has mass delta0 at L = -inf.
double TailAt(double epsilon0, double delta0, double epsilon, bool closed) {
  if (epsilon > epsilon0 || (!closed && epsilon == epsilon0)) return 0;
  if (epsilon < -epsilon0 || (closed && epsilon == -epsilon0)) return 1 - delta0;
  return (1 - delta0) * (std::exp(-epsilon0) / (1 + std::exp(-epsilon0)));
}

}  // namespace

ApproximateDpProfile::ApproximateDpProfile(Bounds epsilon0, double delta0, bool exact)
    : epsilon0_(epsilon0), delta0_(delta0), exact_(exact) {}

Bounds ApproximateDpProfile::LogDelta(double epsilon) const {
  if (delta0_ == 1) return Bounds{0, 0};
  if (epsilon0_.upper == kInfinity) return Bounds{LogDeltaFloor(epsilon).lower, 0};
  // delta grows with epsilon0.
  return Bounds{LogDeltaAt(epsilon0_.lower, delta0_, epsilon).lower,
                LogDeltaAt(epsilon0_.upper, delta0_, epsilon).upper};
}

Bounds ApproximateDpProfile::TailUnderQ(double epsilon) const {
  if (epsilon0_.upper == kInfinity) return Bounds{0, 1};
  const double lower = std::min(TailAt(epsilon0_.lower, delta0_, epsilon, false),
                                TailAt(epsilon0_.upper, delta0_, epsilon, false));
  const double upper = std::max(TailAt(epsilon0_.lower, delta0_, epsilon, true),
                                TailAt(epsilon0_.upper, delta0_, epsilon, true));
  return Bounds{lower == 1 && delta0_ == 0 ? 1 : RoundDownNonNegative(lower, 8),
                std::min(1.0, RoundUpNonNegative(upper, 8))};
}

double ApproximateDpProfile::InfinityMass() const {
  return epsilon0_.upper == kInfinity ? 1 : delta0_;
}

double ApproximateDpProfile::AtomSpacing() const {
  return epsilon0_.upper == kInfinity ? 0 : epsilon0_.upper;
}

}  // namespace epsledger::accounting
