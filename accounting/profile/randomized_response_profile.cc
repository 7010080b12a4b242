#include "accounting/profile/randomized_response_profile.h"

#include <algorithm>
#include <cmath>

#include "accounting/numeric/constants.h"
#include "accounting/numeric/rounding.h"
#include "accounting/profile/uncertain_epsilon.h"

namespace epsledger::accounting {
namespace {}  // namespace

RandomizedResponseProfile::RandomizedResponseProfile(double noise_parameter, int64_t num_buckets) {
  const double buckets = static_cast<double>(num_buckets);
  low_ = noise_parameter / buckets;
  high_ = (1 - noise_parameter) + low_;
  rest_ = (buckets - 2) * low_;
  const double epsilon0 = std::log1p(buckets * ((1 - noise_parameter) / noise_parameter));
  epsilon0_ = Bounds{RoundDownNonNegative(epsilon0, 4), RoundUp(epsilon0, 4)};
  if (!std::isfinite(epsilon0)) epsilon0_ = Bounds{0, kInfinity};
}

double RandomizedResponseProfile::Delta(double epsilon0, double epsilon) const {
  const double more = epsilon < 0 ? rest_ * -std::expm1(epsilon) : 0;
  return high_ * -std::expm1(std::min(0.0, epsilon - epsilon0)) + more;
}

Bounds RandomizedResponseProfile::LogDelta(double epsilon) const {
  if (epsilon0_.upper == kInfinity) return Bounds{LogDeltaFloor(epsilon).lower, 0};
  if (epsilon >= epsilon0_.upper) return Bounds{-kInfinity, -kInfinity};
  const Bounds floor = LogDeltaFloor(epsilon);
  if (epsilon <= -epsilon0_.upper) return floor;
  const double lower = std::log(Delta(epsilon0_.lower, epsilon));
  const double upper = std::log(Delta(epsilon0_.upper, epsilon));
  return Bounds{std::max(floor.lower, RoundDown(lower - 8 * kUlp, 2)),
                std::min(0.0, std::max(floor.upper, RoundUp(upper + 8 * kUlp, 2)))};
}

double RandomizedResponseProfile::Tail(double epsilon0, double epsilon, bool closed) const {
  const auto beyond = [&](double loss) { return loss > epsilon || (closed && loss == epsilon); };
  if (beyond(-epsilon0)) return 1;
  return (beyond(0) ? rest_ : 0) + (beyond(epsilon0) ? low_ : 0);
}

Bounds RandomizedResponseProfile::TailUnderQ(double epsilon) const {
  if (epsilon0_.upper == kInfinity) return Bounds{0, 1};
  const double lower =
      std::min(Tail(epsilon0_.lower, epsilon, false), Tail(epsilon0_.upper, epsilon, false));
  const double upper =
      std::max(Tail(epsilon0_.lower, epsilon, true), Tail(epsilon0_.upper, epsilon, true));
  return Bounds{lower == 1 ? 1 : RoundDownNonNegative(lower, 4),
                std::min(1.0, RoundUpNonNegative(upper, 4))};
}

double RandomizedResponseProfile::InfinityMass() const {
  return epsilon0_.upper == kInfinity ? 1 : 0;
}

double RandomizedResponseProfile::AtomSpacing() const {
  return epsilon0_.upper == kInfinity ? 0 : epsilon0_.upper;
}

}  // namespace epsledger::accounting
