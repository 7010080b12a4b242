#include "accounting/profile/replace_sampled_laplace_profile.h"

#include <algorithm>
#include <cmath>

#include "accounting/numeric/constants.h"
#include "accounting/numeric/rounding.h"
#include "accounting/profile/uncertain_epsilon.h"

namespace epsledger::accounting {
namespace {

// 1 - q (1 - e^-theta), without cancellation.
double LeftOver(double theta, double q) { return (1 - q) + q * std::exp(-theta); }
double LogLeftOver(double theta, double q) {
  const double taken = q * std::expm1(-theta);
  return taken > -0.5 ? std::log1p(taken) : std::log(LeftOver(theta, q));
}

// What the operations below can be off by, in units of the last place: exponentials of arguments to
// 1,400 carry the rounding of those.
constexpr double kOperations = 16;

}  // namespace

bool ReplaceSampledLaplaceProfile::CanTake(Bounds theta, double q) {
  return q > 0 && q < 1 && theta.lower > 0 && theta.upper <= 600;
}

ReplaceSampledLaplaceProfile::ReplaceSampledLaplaceProfile(Bounds theta, double q)
    : theta_(theta), q_(q) {
  const auto end = [&](double at) { return std::log1p(q * std::expm1(at)) - LogLeftOver(at, q); };
  // It grows with theta.
  const double operations = 2 * (kOperations + theta.upper);
  end_ = {RoundDownNonNegative(end(theta.lower), operations),
          RoundUp(end(theta.upper), operations)};
}

Bounds ReplaceSampledLaplaceProfile::Square(double epsilon) const {
  const double y = std::expm1(epsilon);
  const auto at = [&](double theta) {
    return std::exp(-2 * theta) + y / q_ * LeftOver(theta, q_) * std::exp(-theta);
  };
  // It falls with theta: so do d and the exponentials.
  const double operations = kOperations + 2 * theta_.upper;
  return Bounds{RoundDownNonNegative(at(theta_.upper), operations),
                RoundUp(at(theta_.lower), operations)};
}

Bounds ReplaceSampledLaplaceProfile::DeltaAbove(double epsilon) const {
  if (epsilon >= end_.upper) return Bounds{0, 0};
  const Bounds square = Square(epsilon);
  const double most = 1 - std::sqrt(square.lower);
  const double least = 1 - std::sqrt(square.upper);
  return Bounds{RoundDownNonNegative(q_ * (least - 4 * kUlp), 2),
                RoundUp(q_ * std::max(0.0, most + 4 * kUlp), 2)};
}

Bounds ReplaceSampledLaplaceProfile::QTailAbove(double epsilon) const {
  // e^-t d / 2, where e^(t - theta) is the root of the square.
  const Bounds square = Square(epsilon);
  const auto at = [&](double theta, double root) {
    return 0.5 * LeftOver(theta, q_) * std::min(1.0, std::exp(-theta) / std::min(1.0, root));
  };
  const double operations = kOperations + 2 * theta_.upper;
  return Bounds{RoundDownNonNegative(at(theta_.upper, std::sqrt(square.upper)), operations),
                RoundUp(at(theta_.lower, std::sqrt(square.lower)), operations)};
}

Bounds ReplaceSampledLaplaceProfile::PTailAbove(double epsilon) const {
  // (1 - q) e^-t / 2 + q (1 - e^(t - theta) / 2).
  const Bounds square = Square(epsilon);
  const auto at = [&](double theta, double small, double large) {
    return 0.5 * (1 - q_) * std::min(1.0, std::exp(-theta) / std::min(1.0, small)) +
           q_ * (1 - 0.5 * std::min(1.0, large));
  };
  const double low = std::sqrt(square.lower);
  const double high = std::sqrt(square.upper);
  const double operations = kOperations + 2 * theta_.upper;
  return Bounds{RoundDownNonNegative(at(theta_.upper, high, high), operations),
                RoundUp(at(theta_.lower, low, low), operations)};
}

Bounds ReplaceSampledLaplaceProfile::LogDelta(double epsilon) const {
  const Bounds floor = LogDeltaFloor(epsilon);
  const Bounds above = DeltaAbove(std::abs(epsilon));
  if (epsilon <= -end_.upper) return floor;
  Bounds delta = above;
  if (epsilon < 0) {
    const double x = std::exp(epsilon);
    const double nothing = -std::expm1(epsilon);
    delta = {RoundDownNonNegative(nothing + x * above.lower, 6),
             RoundUp(nothing + x * above.upper, 6)};
  }
  const double log_lower = delta.lower > 0 ? RoundDown(std::log(delta.lower), 2) : -kInfinity;
  const double log_upper = delta.upper <= 0  ? -kInfinity
                           : delta.upper < 1 ? RoundUp(std::log(delta.upper) + kUlp, 2)
                                             : 0;
  return Bounds{std::max(floor.lower, log_lower), std::min(0.0, std::max(floor.upper, log_upper))};
}

Bounds ReplaceSampledLaplaceProfile::TailUnderQ(double epsilon) const {
  if (epsilon > end_.upper) return Bounds{0, 0};
  if (epsilon < -end_.upper) return Bounds{1, 1};
  // At an end, whose place is not exact, the atom may lie on either side.
  const bool is_end = std::abs(epsilon) >= end_.lower;
  if (epsilon >= 0) {
    const Bounds tail = QTailAbove(epsilon);
    return Bounds{is_end ? 0 : tail.lower, std::min(1.0, tail.upper)};
  }
  const Bounds mirrored = PTailAbove(-epsilon);  // Q[T <= -t] = P[T >= t]
  return Bounds{RoundDownNonNegative(1 - mirrored.upper, 2),
                is_end ? 1 : std::min(1.0, RoundUp(1 - mirrored.lower, 2))};
}

}  // namespace epsledger::accounting
