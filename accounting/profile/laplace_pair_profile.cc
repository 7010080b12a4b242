#include "accounting/profile/laplace_pair_profile.h"

#include <algorithm>
#include <cmath>

#include "accounting/numeric/constants.h"
#include "accounting/numeric/log_space.h"
#include "accounting/numeric/rounding.h"
#include "accounting/profile/uncertain_epsilon.h"

namespace epsledger::accounting {
namespace {

// sinh(w) - w for w >= 0, a series of positive terms near 0.
double SinhMinusArgument(double w) {
  if (w > 1) return std::sinh(w) - w;
  double term = w;
  double sum = 0;
  for (int i = 2; i <= 20; i += 2) {
    term *= w * w / (i * (i + 1));
    sum += term;
  }
  return sum;
}

}  // namespace

bool LaplacePairProfile::CanTake(Bounds theta, Bounds other) {
  return theta.upper + other.upper <= kLargestSum && std::max(theta.lower, other.lower) >= 1e-200;
}

LaplacePairProfile::Distances LaplacePairProfile::DistancesOf(double theta, double other) {
  return Distances{std::min(theta, other), theta + other, std::abs(theta - other)};
}

LaplacePairProfile::LaplacePairProfile(Bounds theta, Bounds other) {
  // Multiples of a share of 2^-48 of the larger one have sums and differences without rounding.
  const double unit = std::ldexp(1.0, std::ilogb(std::max(theta.upper, other.upper)) - 48);
  const auto down = [unit](double x) { return std::floor(x / unit) * unit; };
  const auto up = [unit](double x) { return std::ceil(x / unit) * unit; };
  below_ = DistancesOf(down(theta.lower), down(other.lower));
  above_ = DistancesOf(up(theta.upper), up(other.upper));
  shift_ = above_.sum - below_.sum;
  relative_error_ = kUlp * (64 + 8 * above_.sum);
  const bool aligned =
      shift_ == 0 && (below_.difference == 0 || std::fmod(below_.sum, below_.difference) == 0);
  atom_spacing_ = !aligned ? 0 : below_.difference == 0 ? below_.sum : below_.difference;
}

// The masses of README, "Two Laplace releases": atoms, the flat part and the part that falls,
// against the kernel 2 e^{epsilon/2} sinh((l - epsilon)/2). Only positive numbers are added.
double LaplacePairProfile::DeltaOf(const Distances& distances, double epsilon) {
  const auto& [smaller, sum, difference] = distances;
  const double scale = std::exp(-0.5 * sum);
  const double half = std::exp(0.5 * epsilon);
  const auto atom = [&](double at) {
    return 0.25 * std::exp(0.5 * at) * -std::expm1(epsilon - at);
  };
  double delta = atom(sum);
  double from = epsilon;
  if (difference > epsilon) {
    delta += atom(difference);
    const double flat = std::sinh(0.25 * (difference - epsilon));
    delta += (2 + smaller) * half * flat * flat;
    from = difference;
  }
  delta += 2 * half * std::sinh(0.25 * ((sum - epsilon) + (from - epsilon))) *
           std::sinh(0.25 * (sum - from));
  const double start = 0.5 * (from - epsilon);
  const double width = 0.5 * (sum - from);
  const double middle = std::sinh(0.5 * width);
  delta += 0.5 * half *
           (std::sinh(start) * 2 * middle * middle + std::cosh(start) * SinhMinusArgument(width));
  return scale * delta;
}

double LaplacePairProfile::TailOf(const Distances& distances, double epsilon, bool under_p,
                                  bool closed) {
  const auto& [smaller, sum, difference] = distances;
  const double sign = under_p ? 0.5 : -0.5;
  const auto beyond = [&](double at) { return closed ? at >= epsilon : at > epsilon; };
  // The integral of e^{sign l} over [low, high], without the factor of its density.
  const auto between = [&](double low, double high) {
    return std::exp(sign * low) * (std::expm1(sign * (high - low)) / sign);
  };
  double tail = beyond(sum) ? 0.25 * std::exp(sign * sum) : 0;
  if (beyond(difference)) {
    // Where both distances are equal, two atoms are at 0.
    tail += (difference == 0 ? 0.5 : 0.25) * std::exp(sign * difference);
  }
  double from = epsilon;
  if (difference > epsilon) {
    tail += (0.25 + 0.125 * smaller) * between(epsilon, difference);
    from = difference;
  }
  if (sum > from) {
    tail += 0.25 * between(from, sum);
    const double width = 0.5 * (sum - from);
    tail += 0.25 * std::exp(sign * from) * Expm1MinusX(under_p ? width : -width);
  }
  return std::exp(-0.5 * sum) * tail;
}

Bounds LaplacePairProfile::LogDelta(double epsilon) const {
  if (epsilon >= above_.sum) return Bounds{-kInfinity, -kInfinity};
  const Bounds floor = LogDeltaFloor(epsilon);
  if (epsilon <= -above_.sum) return floor;
  const double distance = std::abs(epsilon);
  double lower = distance < below_.sum
                     ? RoundDownNonNegative(DeltaOf(below_, distance) * (1 - relative_error_), 2)
                     : 0;
  double upper = RoundUpNonNegative(DeltaOf(above_, distance) * (1 + relative_error_), 2);
  if (epsilon < 0) {
    // The pair is its own reverse: delta(epsilon) = 1 - e^epsilon + e^epsilon delta(-epsilon).
    const double x = std::exp(epsilon);
    lower = RoundDownNonNegative(-std::expm1(epsilon) + x * lower, 6);
    upper = RoundUpNonNegative(-std::expm1(epsilon) + x * upper, 6);
  }
  const double log_upper = upper > 0 ? RoundUp(std::log(upper) + kUlp, 2) : -kInfinity;
  const double log_lower = lower > 0 ? RoundDown(std::log(lower) - kUlp, 2) : -kInfinity;
  const double capped = std::min(0.0, std::max(floor.upper, log_upper));
  return Bounds{std::min(capped, std::max(floor.lower, log_lower)), capped};
}

// Q[L > epsilon] of below_ times `factor`, or P of the other side for negative epsilons: L has
// under Q the law of -L under P.
double LaplacePairProfile::TailAt(double epsilon, bool closed, double factor) const {
  if (epsilon >= 0) return factor * TailOf(below_, epsilon, /*under_p=*/false, closed);
  return 1 - TailOf(below_, -epsilon, /*under_p=*/true, !closed) * (2 - factor);
}

// Losses of the distances in question are those of below_ moved by shift_ at most, with densities
// within a factor of 1 + 2 shift_ (README).
Bounds LaplacePairProfile::TailUnderQ(double epsilon) const {
  if (epsilon > above_.sum) return Bounds{0, 0};
  if (epsilon < -above_.sum) return Bounds{1, 1};
  const double off = relative_error_ + 2 * shift_;
  const double high = shift_ == 0 ? epsilon : NextUp(epsilon + shift_);
  const double low = shift_ == 0 ? epsilon : NextDown(epsilon - shift_);
  const double lower = high >= below_.sum ? 0 : TailAt(high, /*closed=*/false, 1 - off);
  const double upper = low < -below_.sum ? 1 : TailAt(low, /*closed=*/true, 1 + off);
  return Bounds{std::clamp(RoundDown(lower, 4), 0.0, 1.0), std::clamp(RoundUp(upper, 4), 0.0, 1.0)};
}

}  // namespace epsledger::accounting
