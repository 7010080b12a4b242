#include "accounting/profile/poisson_sampled_profile.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "accounting/numeric/constants.h"
#include "accounting/numeric/log_space.h"
#include "accounting/numeric/rounding.h"
#include "accounting/profile/uncertain_epsilon.h"

namespace epsledger::accounting {
namespace {

// A mapped epsilon and a bound on its absolute error.
struct Mapped {
  double value;
  double error;
};

// log(1 - q + q e^loss), rounded outward. -inf is log(1 - q), +inf stays.
Bounds MixedLoss(double loss, double q) {
  if (loss == kInfinity) return Bounds{kInfinity, kInfinity};
  const double log_rest = std::log1p(-q);
  const double shifted = std::log(q) + loss;
  const double mixed =
      std::abs(loss) < 1 ? std::log1p(q * std::expm1(loss)) : LogAddExp(log_rest, shifted);
  const double error = std::abs(loss) < 1
                           ? 8 * kUlp * std::abs(mixed) / (1 - q * -std::expm1(-1.0))
                           : 8 * kUlp *
                                 (std::abs(log_rest) + std::abs(std::log(q)) +
                                  std::min(std::abs(loss), std::abs(mixed) + 50) + 1);
  return Bounds{NextDown(mixed - error), NextUp(mixed + error)};
}

// log(1 + (e^epsilon - 1) / q), y = e^epsilon - 1 > -q up to rounding.
Mapped RemoveEpsilon(double epsilon, double y, double q, double log_q) {
  if (epsilon > 30) {
    const double value = epsilon - log_q + std::log1p(-(1 - q) * std::exp(-epsilon));
    return Mapped{value, 4 * kUlp * (epsilon - log_q)};
  }
  const double ratio = y / q;
  const double ratio_error = 1.6 * kUlp * std::abs(ratio);  // expm1 one ulp, the quotient half
  const double room = 1 + ratio - ratio_error - kUlp;
  if (!(room > 0)) return Mapped{-kInfinity, kInfinity};
  if (ratio == kInfinity) return Mapped{epsilon - log_q, kInfinity};
  const double value = std::log1p(ratio);
  return Mapped{value, ratio_error / room + 1.1 * kUlp * std::abs(value)};
}

// The values that the add side computes from epsilon.
struct AddPoint {
  double c;        // q - (1-q) (e^epsilon - 1)
  double c_error;  // >= its absolute error
  Mapped mapped;   // log(q e^epsilon / c); meaningless unless c > c_error
};

AddPoint AddEpsilon(double epsilon, double q, double rest, double log_q) {
  const double y = std::expm1(epsilon);
  const double taken = rest * y;
  AddPoint point;
  point.c = q - taken;
  // expm1 one ulp, 1 - q, the product and the difference half of one each.
  point.c_error = kUlp * (2.1 * std::abs(taken) + 0.6 * std::abs(point.c));
  if (!(point.c > point.c_error)) {
    // The true c is at most c + c_error: use the smallest epsilon that is possible.
    const double value = log_q + epsilon - std::log(point.c + point.c_error);
    point.mapped = Mapped{value, 4 * kUlp *
                                     (std::abs(log_q) + std::abs(epsilon) +
                                      std::abs(std::log(point.c + point.c_error)) + 1)};
    return point;
  }
  // The rounding of q e^epsilon / c (exp one ulp, a product, a quotient) and of y / c (expm1 one
  // ulp, a quotient).
  const double relative = 2.1 * kUlp + 1.01 * point.c_error / (point.c - point.c_error);
  const double z = y / point.c;  // the mapped e^epsilon - 1
  if (z >= -0.5) {
    const double value = std::log1p(z);
    point.mapped =
        Mapped{value, 1.02 * relative * std::abs(z) / (1 + z) + 1.1 * kUlp * std::abs(value)};
  } else if (epsilon > -600 && q > 1e-30) {
    const double value = std::log(q * std::exp(epsilon) / point.c);
    point.mapped = Mapped{value, 1.01 * relative + 2 * kUlp * std::abs(value)};
  } else {
    const double log_c = std::log(point.c);
    point.mapped =
        Mapped{log_q + epsilon - log_c,
               relative + 4 * kUlp * (std::abs(log_q) + std::abs(epsilon) + std::abs(log_c) + 1)};
  }
  return point;
}

// Moves x outward by the four possible roundings of x and of this function, and by the possible
// underflow.
double Up(double x) {
  return std::min(1.0, x * (1 + 3 * kUlp) + 4 * std::numeric_limits<double>::denorm_min());
}
double Down(double x) {
  return std::max(0.0, x * (1 - 3 * kUlp) - 4 * std::numeric_limits<double>::denorm_min());
}

// Clamps: never below the profile of a loss that is 0, never above 1.
Bounds InRange(double lower, double upper, double epsilon) {
  const Bounds floor = LogDeltaFloor(epsilon);
  return Bounds{std::max(lower, floor.lower), std::min(0.0, std::max(upper, floor.upper))};
}

}  // namespace

namespace {

// The smallest loss under Q: below the smallest loss under P if Q has mass where P has none.
double SmallestUnderQ(const PrivacyProfile& profile) {
  const double smallest = profile.SmallestLoss();
  if (smallest == -kInfinity || profile.TailUnderQ(NextDown(smallest)).lower < 1) return -kInfinity;
  return smallest;
}

// Mass at infinity moves to a finite loss because Q is a part of the denominator.
double LargestOrInfinite(const PrivacyProfile& profile) {
  return profile.InfinityMass() > 0 ? kInfinity : profile.LargestLoss();
}

}  // namespace

PoissonRemoveProfile::PoissonRemoveProfile(std::shared_ptr<const PrivacyProfile> inner, double q)
    : inner_(std::move(inner)),
      q_(q),
      log_q_(std::log(q)),
      smallest_loss_(MixedLoss(SmallestUnderQ(*inner_), q).lower),
      largest_loss_(MixedLoss(inner_->LargestLoss(), q).upper) {}

Bounds PoissonRemoveProfile::LogDelta(double epsilon) const {
  const double y = std::expm1(epsilon);
  if (y < -q_ * (1 + 4 * kUlp)) return LogDeltaFloor(epsilon);
  const Mapped mapped = RemoveEpsilon(epsilon, y, q_, log_q_);
  const Bounds inner = LogDeltaAround(*inner_, mapped.value, mapped.error);
  if (inner.upper == -kInfinity) return InRange(-kInfinity, -kInfinity, epsilon);
  return InRange(RoundDown(log_q_ + inner.lower, 3), RoundUp(log_q_ + inner.upper, 3), epsilon);
}

Bounds PoissonRemoveProfile::TailUnderQ(double epsilon) const {
  const double y = std::expm1(epsilon);
  if (y < -q_ * (1 + 4 * kUlp)) return Bounds{1, 1};
  const Mapped mapped = RemoveEpsilon(epsilon, y, q_, log_q_);
  return TailAround(*inner_, mapped.value, mapped.error);
}

ProfilePoint PoissonRemoveProfile::Around(double epsilon, double error) const {
  if (error != 0 || !std::isfinite(epsilon)) return PrivacyProfile::Around(epsilon, error);
  const double y = std::expm1(epsilon);
  if (y < -q_ * (1 + 4 * kUlp)) return ProfilePoint{{Down(-y), Up(-y)}, {1, 1}};
  const Mapped mapped = RemoveEpsilon(epsilon, y, q_, log_q_);
  ProfilePoint point = inner_->Around(mapped.value, mapped.error);
  point.delta.lower = Down(q_ * point.delta.lower);
  if (point.delta.upper > 0) point.delta.upper = Up(q_ * point.delta.upper);
  if (epsilon < 0) {  // never below the profile of a loss that is 0
    point.delta.lower = std::max(point.delta.lower, Down(-y));
    point.delta.upper = std::max(point.delta.upper, Up(-y));
  }
  return point;
}

double PoissonRemoveProfile::InfinityMass() const {
  return std::min(1.0, RoundUpNonNegative(q_ * inner_->InfinityMass()));
}

PoissonAddProfile::PoissonAddProfile(std::shared_ptr<const PrivacyProfile> inner, double q)
    : inner_(std::move(inner)),
      q_(q),
      log_q_(std::log(q)),
      rest_(1 - q),
      smallest_loss_(-MixedLoss(-inner_->SmallestLoss(), q).upper),
      largest_loss_(-MixedLoss(-LargestOrInfinite(*inner_), q).lower) {}

Bounds PoissonAddProfile::LogDelta(double epsilon) const {
  const AddPoint point = AddEpsilon(epsilon, q_, rest_, log_q_);
  if (point.c < -point.c_error || std::isnan(point.c)) return Bounds{-kInfinity, -kInfinity};
  const Bounds inner = LogDeltaAround(*inner_, point.mapped.value, point.mapped.error);
  if (inner.upper == -kInfinity) return InRange(-kInfinity, -kInfinity, epsilon);
  if (!(point.c > point.c_error)) {
    return InRange(-kInfinity, RoundUp(std::log(point.c + point.c_error) + inner.upper, 3),
                   epsilon);
  }
  const double log_c = std::log(point.c);
  const double error = 1.01 * point.c_error / (point.c - point.c_error) + kUlp * std::abs(log_c);
  return InRange(RoundDown(log_c + inner.lower - error, 3), RoundUp(log_c + inner.upper + error, 3),
                 epsilon);
}

Bounds PoissonAddProfile::TailUnderQ(double epsilon) const {
  const AddPoint point = AddEpsilon(epsilon, q_, rest_, log_q_);
  if (point.c < -point.c_error || std::isnan(point.c)) return Bounds{0, 0};
  const double x = point.mapped.value;
  const Bounds tail = TailAround(*inner_, x, point.mapped.error);
  const Bounds log_delta = LogDeltaAround(*inner_, x, point.mapped.error);
  const double delta_upper = std::exp(log_delta.upper) * (1 + 2 * kUlp);
  if (!(point.c > point.c_error)) {
    // R[L' > epsilon] = (1-q) Q[l > x] + q P[l > x], Q[l > x] = delta(x) + e^x P[l > x].
    const double mass = delta_upper + std::exp(x + point.mapped.error) * tail.upper;
    const double upper = (mass < 1 ? mass : 1) * rest_ + q_ * tail.upper;
    return Bounds{0, std::min(1.0, RoundUp(upper, 8))};
  }
  const double delta_lower = std::exp(log_delta.lower) * (1 - 2 * kUlp);
  const double lower = rest_ * delta_lower + q_ / (point.c + point.c_error) * tail.lower;
  const double upper = rest_ * delta_upper + q_ / (point.c - point.c_error) * tail.upper;
  return Bounds{RoundDownNonNegative(lower, 6), std::min(1.0, RoundUp(upper, 6))};
}

ProfilePoint PoissonAddProfile::Around(double epsilon, double error) const {
  if (error != 0 || !std::isfinite(epsilon)) return PrivacyProfile::Around(epsilon, error);
  const AddPoint add = AddEpsilon(epsilon, q_, rest_, log_q_);
  if (add.c < -add.c_error) return ProfilePoint{{0, 0}, {0, 0}};
  if (!(add.c > add.c_error)) return PrivacyProfile::Around(epsilon, 0);
  const double c_lower = add.c - add.c_error;
  const double c_upper = add.c + add.c_error;
  const ProfilePoint inner = inner_->Around(add.mapped.value, add.mapped.error);
  ProfilePoint point{{Down(c_lower * inner.delta.lower), 0}, {0, 0}};
  if (inner.delta.upper > 0) point.delta.upper = Up(c_upper * inner.delta.upper);
  if (epsilon < 0) {
    const double floor = -std::expm1(epsilon);
    point.delta.lower = std::max(point.delta.lower, Down(floor));
    point.delta.upper = std::max(point.delta.upper, Up(floor));
  }
  // R[L' > epsilon] = (1-q) Q[l > x] + q P[l > x] with x the mapped epsilon, as in TailUnderQ.
  point.tail.lower = Down(Down(rest_ * inner.delta.lower + q_ / c_upper * inner.tail.lower));
  const double tail_upper = rest_ * inner.delta.upper + q_ / c_lower * inner.tail.upper;
  if (tail_upper > 0 || inner.delta.upper > 0) point.tail.upper = Up(Up(tail_upper));
  return point;
}

DirectedProfiles PoissonSampledProfiles(const DirectedProfiles& inner, double q) {
  return DirectedProfiles{std::make_shared<PoissonRemoveProfile>(inner.remove, q),
                          std::make_shared<PoissonAddProfile>(inner.add, q)};
}

}  // namespace epsledger::accounting
