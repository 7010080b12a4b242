#include "accounting/profile/discrete_laplace_profile.h"

#include <algorithm>
#include <cmath>

#include "accounting/numeric/constants.h"
#include "accounting/numeric/rounding.h"
#include "accounting/profile/uncertain_epsilon.h"

namespace epsledger::accounting {
namespace {}  // namespace

DiscreteLaplaceProfile::DiscreteLaplaceProfile(double noise_parameter, double distance)
    : a_(noise_parameter),
      distance_(distance),
      r_(std::exp(-noise_parameter)),
      largest_loss_(RoundUp(noise_parameter * distance)) {}

DiscreteLaplaceProfile::Position DiscreteLaplaceProfile::Find(double epsilon) const {
  const double at = 0.5 * (epsilon / a_ + distance_);
  const double error = 2 * kUlp * (std::abs(epsilon / a_) + distance_);
  const auto clamp = [&](double k) { return std::min(distance_, std::max(1.0, k)); };
  return Position{clamp(std::floor(at - error) + 1), clamp(std::floor(at + error) + 1)};
}

double DiscreteLaplaceProfile::Delta(double epsilon, double k) const {
  // epsilon - a k by a fused multiply-add: only the result is rounded.
  const double first = -std::expm1(std::fma(-a_, k, epsilon));
  const double second = r_ * -std::expm1(-a_ * (distance_ - k));
  return (first + second) / (1 + r_);
}

Bounds DiscreteLaplaceProfile::LogDelta(double epsilon) const {
  if (largest_loss_ == kInfinity) return Bounds{LogDeltaFloor(epsilon).lower, 0};
  const Bounds floor = LogDeltaFloor(epsilon);
  if (epsilon >= largest_loss_) return Bounds{-kInfinity, -kInfinity};
  if (epsilon <= -largest_loss_) return floor;
  const Position position = Find(epsilon);
  double delta = Delta(epsilon, position.least);
  if (position.most != position.least) delta = std::max(delta, Delta(epsilon, position.most));
  if (!(delta > 0)) {
    // Within rounding of the largest loss: 1 - e^{epsilon - a s} <= a s - epsilon.
    return Bounds{-kInfinity, std::log(std::max(largest_loss_ - epsilon, 1e-300)) + 1e-12};
  }
  // Both numerators are positive, so nothing cancels, except epsilon - a k where k = s.
  const double log_delta = std::log(delta);
  return Bounds{std::max(floor.lower, RoundDown(log_delta - 10 * kUlp, 2)),
                std::min(0.0, std::max(floor.upper, RoundUp(log_delta + 10 * kUlp, 2)))};
}

Bounds DiscreteLaplaceProfile::TailUnderQ(double epsilon) const {
  if (largest_loss_ == kInfinity) return Bounds{0, 1};
  if (epsilon > largest_loss_) return Bounds{0, 0};
  if (epsilon < -largest_loss_) return Bounds{1, 1};
  const double at = 0.5 * (epsilon / a_ + distance_);
  const double error = 2 * kUlp * (std::abs(epsilon / a_) + distance_);
  const double first_open = std::floor(at + error) + 1;  // k of Q[L > epsilon]: at most this
  const double first_closed = std::ceil(at - error);     // k of Q[L >= epsilon]: at least this
  const auto tail = [&](double k) {
    if (k <= 0) return 1.0;  // every k has loss >= -a s
    return k > distance_ ? 0.0 : std::exp(-a_ * k) / (1 + r_);
  };
  const double lower = tail(first_open);
  const double upper = tail(first_closed);
  const double operations = 4 + 2 * largest_loss_;
  return Bounds{lower == 1 ? 1 : RoundDownNonNegative(lower, operations),
                std::min(1.0, RoundUpNonNegative(upper, operations))};
}

double DiscreteLaplaceProfile::InfinityMass() const { return largest_loss_ == kInfinity ? 1 : 0; }

double DiscreteLaplaceProfile::AtomSpacing() const {
  if (largest_loss_ == kInfinity) return 0;
  return std::fmod(distance_, 2) == 0 ? 2 * a_ : a_;
}

}  // namespace epsledger::accounting
