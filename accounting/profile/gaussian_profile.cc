#include "accounting/profile/gaussian_profile.h"

#include <algorithm>
#include <cmath>

#include "accounting/gaussian/profile.h"
#include "accounting/numeric/constants.h"
#include "accounting/numeric/normal.h"
#include "accounting/numeric/rounding.h"

namespace epsledger::accounting {
namespace {}  // namespace

GaussianProfile::GaussianProfile(Bounds mu, bool exact)
    : mu_(mu),
      middle_(0.5 * mu.lower + 0.5 * mu.upper),
      half_width_(RoundUpNonNegative(mu.upper - middle_, 2)),
      exact_(exact) {
  half_width_ = std::max(half_width_, RoundUpNonNegative(middle_ - mu.lower, 2));
}

Bounds GaussianProfile::LogDelta(double epsilon) const {
  if (mu_.lower == mu_.upper) return GaussianLogDelta(mu_.lower, epsilon);
  const Bounds at_middle = GaussianLogDelta(middle_, epsilon);
  // d delta / d mu = phi(epsilon/mu - mu/2). Over so narrow an interval it stays within 1% of its
  // value in the middle: its logarithm moves by |u| |du|, |du| <= (|m| + h) * relative width.
  const double m = epsilon / middle_;
  const double u = m - 0.5 * middle_;
  const double moved =
      (std::abs(u) + 1) * (std::abs(m) + 0.5 * middle_ + 1) * (half_width_ / middle_ + 4 * kUlp);
  const double relative =
      1.01 * half_width_ * std::exp(-0.5 * u * u - kLogSqrt2Pi - at_middle.lower);
  if (!(moved < 1e-3 && relative < 1e-3)) return GaussianLogDelta(mu_, epsilon);
  const Bounds bounds{RoundDown(at_middle.lower - 1.01 * relative),
                      std::min(0.0, RoundUp(at_middle.upper + relative))};
  return bounds;
}

std::optional<ProfilePoint> GaussianProfile::AroundMiddle(double epsilon, double error) const {
  const std::optional<GaussianPoint> point = GaussianAt(middle_, epsilon);
  if (!point.has_value()) return std::nullopt;
  double delta_error = point->delta_error;
  double tail_error = point->tail_error;
  if (error != 0 || half_width_ != 0) {
    // eps/mu -+ mu/2 move by at most `moved` (both, and their mean value's place with them), so
    // that phi there changes by a factor of at most exp(moved (|x| + moved)) < 1.01.
    const double inverse = 1 / middle_;
    const double m = std::abs(epsilon) * inverse;
    const double by_mu = half_width_ * (m * inverse + 0.5);
    const double by_epsilon = error * inverse;
    const double moved = 1.01 * (by_mu + by_epsilon);
    if (!(moved * (m + 0.5 * middle_ + 1) < 1e-3 && half_width_ < 1e-3 * middle_ && error < 1e-3)) {
      return std::nullopt;
    }
    // |d delta / d mu| = phi(eps/mu - mu/2), |d delta / d eps| = e^eps tail; |d tail / d eps| =
    // phi(eps/mu + mu/2) / mu, |d tail / d mu| <= that times |eps|/mu + mu/2.
    const double density_below_moved = 1.02 * point->density_below * moved;
    const double tail = std::min(1.0, point->tail + tail_error + density_below_moved);
    delta_error += 1.02 * half_width_ * point->density_above;
    if (error != 0) {
      double slope = std::exp(epsilon) * tail;
      // e^eps tail = phi(eps/mu - mu/2) R(eps/mu + mu/2), and R <= R(0).
      if (epsilon >= 0) slope = std::min(slope, 1.2534 * point->density_above);
      delta_error += 1.02 * error * slope;
    }
    tail_error += density_below_moved;
    // The densities underflow.
    delta_error += 0x1p-1070;
    tail_error += 0x1p-1070;
  }
  // The additions below round by half an ulp of their result; 2% covers the rounding of the errors
  // themselves.
  delta_error = 1.02 * delta_error + 1.1 * kUnitRoundoff * point->delta;
  tail_error = 1.02 * tail_error + 1.1 * kUnitRoundoff * point->tail;
  return ProfilePoint{
      {std::max(0.0, point->delta - delta_error), std::min(1.0, point->delta + delta_error)},
      {std::max(0.0, point->tail - tail_error), std::min(1.0, point->tail + tail_error)}};
}

ProfilePoint GaussianProfile::Around(double epsilon, double error) const {
  if (const auto point = AroundMiddle(epsilon, error); point.has_value()) return *point;
  return PrivacyProfile::Around(epsilon, error);
}

Bounds GaussianProfile::TailUnderQ(double epsilon) const {
  if (const auto point = AroundMiddle(epsilon, 0); point.has_value()) return point->tail;
  if (mu_.upper == 0) return epsilon < 0 ? Bounds{1, 1} : Bounds{0, epsilon == 0 ? 1.0 : 0.0};
  if (mu_.upper == kInfinity || mu_.lower == 0) return Bounds{0, 1};
  // epsilon/mu + mu/2, each term at the end of mu that makes it smallest or largest.
  const double low_term = epsilon / (epsilon >= 0 ? mu_.upper : mu_.lower);
  const double high_term = epsilon / (epsilon >= 0 ? mu_.lower : mu_.upper);
  const double low = low_term + 0.5 * mu_.lower;
  const double high = high_term + 0.5 * mu_.upper;
  const double low_error = 2 * kUlp * (std::abs(low_term) + 0.5 * mu_.lower);
  const double high_error = 2 * kUlp * (std::abs(high_term) + 0.5 * mu_.upper);
  const double relative = 2 * kNormalRelativeError;
  const double lower = NormalCdf(-(high + high_error)) * (1 - relative);
  const double upper = NormalCdf(-(low - low_error)) * (1 + relative);
  return Bounds{RoundDownNonNegative(lower, 2), std::min(1.0, RoundUp(upper, 2))};
}

double GaussianProfile::InfinityMass() const { return mu_.upper == kInfinity ? 1 : 0; }
double GaussianProfile::SmallestLoss() const { return mu_.upper == 0 ? 0 : -kInfinity; }
double GaussianProfile::LargestLoss() const { return mu_.upper == 0 ? 0 : kInfinity; }

}  // namespace epsledger::accounting
