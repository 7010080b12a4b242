#include "accounting/profile/mixture_of_gaussians_profile.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "accounting/numeric/constants.h"
#include "accounting/numeric/normal.h"
#include "accounting/numeric/rounding.h"
#include "accounting/numeric/scaled_normal.h"
#include "accounting/profile/uncertain_epsilon.h"

namespace epsledger::accounting {
namespace {

// Thresholds beyond this are treated as equal: Phi(-40) is e^-804.
constexpr double kFar = 40;

}  // namespace

MixtureOfGaussiansProfile::MixtureOfGaussiansProfile(std::vector<MixturePart> parts,
                                                     double relative_error, Direction direction,
                                                     bool exact)
    : mixture_(std::move(parts), relative_error), direction_(direction), exact_(exact) {
  const double at_zero = mixture_.at_zero();
  const double least =
      at_zero == 0 ? -kInfinity
                   : std::min(0.0, RoundDown(std::log(at_zero) - 4 * relative_error -
                                                 kUlp * static_cast<double>(mixture_.terms()),
                                             4));
  smallest_loss_ = direction == Direction::kRemove ? least : -kInfinity;
  largest_loss_ = direction == Direction::kRemove ? kInfinity : -least;
}

MixtureOfGaussiansProfile::Threshold MixtureOfGaussiansProfile::Solve(double loss) const {
  const double highest_weight = mixture_.parts().back().weight;
  // L(t) >= log w_n + s_n t - s_n^2/2, which is `loss` here.
  double high =
      (loss - std::log(highest_weight)) / mixture_.largest_shift() + 0.5 * mixture_.largest_shift();
  high = std::min(std::max(high + 1e-9 * (1 + std::abs(high)), -kFar), 1e150);
  // L is convex and increasing: Newton's method from the right decreases to the solution.
  double t = high;
  for (int i = 0; i < 100; ++i) {
    const GaussianMixture::LogDensity at = mixture_.At(t);
    if (!(at.slope > 0) || !std::isfinite(at.value.value)) break;
    const double next = std::max(t - (at.value.value - loss) / at.slope, -kFar);
    const bool done = !(std::abs(next - t) > 2 * kUlp * std::abs(next)) || std::isnan(next);
    if (!std::isnan(next)) t = next;
    if (done) break;
  }
  Threshold threshold{t, -kInfinity, kInfinity};
  const GaussianMixture::LogDensity at = mixture_.At(t);
  double step = 8 * kUlp * (std::abs(t) + 1);
  if (at.slope > 0) step += 4 * (at.value.error + kUlp * std::abs(loss)) / at.slope;
  if (!std::isfinite(step)) step = 1e-6;
  for (int i = 0; i < 12; ++i, step *= 64) {
    if (threshold.low == -kInfinity && t - step > -2 * kFar) {
      const GaussianMixture::LogDensity below = mixture_.At(t - step);
      if (below.value.value + below.value.error <= loss) threshold.low = t - step;
    }
    if (threshold.high == kInfinity) {
      const GaussianMixture::LogDensity above = mixture_.At(t + step);
      if (above.value.value - above.value.error >= loss) threshold.high = t + step;
    }
    if (threshold.low > -kInfinity && threshold.high < kInfinity) break;
  }
  return threshold;
}

// Returns delta of the test at `t`, with a bound on its error.
Computed MixtureOfGaussiansProfile::TestAt(double t, double epsilon) const {
  const bool remove = direction_ == Direction::kRemove;
  const double sign = remove ? -1 : 1;
  // remove: P[T > t] - x Q[T > t] = sum w_i (Phi(s_i - t) - Phi(-t)) - y Phi(-t);
  // add:    Q[T < t] - x P[T < t] = sum w_i (x Phi(t) - x Phi(t - s_i)) - y Phi(t).
  // What is multiplied with x may be far below the smallest double.
  const double log_scale = remove ? 0 : epsilon;
  const Computed base = ScaledNormalCdf(sign * t, 0, log_scale);
  double sum = 0;
  double error = 0;
  for (const MixturePart& part : mixture_.parts()) {
    const Computed moved = ScaledNormalCdf(
        sign * (t - part.shift),
        kUlp * (std::abs(t) + part.shift) + mixture_.relative_error() * part.shift, log_scale);
    const double difference = std::abs(moved.value - base.value);
    sum += part.weight * difference;
    error += part.weight *
             (moved.error + base.error + (mixture_.relative_error() + 8 * kUlp) * difference);
  }
  error += kUlp * (static_cast<double>(mixture_.parts().size()) + 4) * sum;
  // y Phi = (x - 1) Phi, as (1 - 1/x) (x Phi) where x is large.
  const bool is_large = epsilon > 0;
  const double factor = std::abs(std::expm1(is_large ? -epsilon : epsilon));
  const Computed rest_base = ScaledNormalCdf(sign * t, 0, is_large ? epsilon : 0);
  const double rest = (is_large ? 1 : -1) * factor * rest_base.value;
  const double value = sum - rest;
  error += factor * rest_base.error + 4 * kUlp * (std::abs(rest) + std::abs(value));
  return Computed{value, error + kSubnormalError};
}

Bounds MixtureOfGaussiansProfile::LogDelta(double epsilon) const {
  const Bounds floor = LogDeltaFloor(epsilon);
  if (mixture_.parts().empty()) return floor;
  if (epsilon > 700) {
    // Beyond this e^epsilon overflows in products; the profile decreases.
    return Bounds{-kInfinity, LogDelta(700).upper};
  }
  if (epsilon < -700) return Bounds{floor.lower, 0};
  const bool remove = direction_ == Direction::kRemove;
  const double loss = remove ? epsilon : -epsilon;
  if (mixture_.at_zero() > 0) {
    const GaussianMixture::LogDensity end = mixture_.At(-kInfinity);
    if (loss < end.value.value - end.value.error) {
      return remove ? floor : Bounds{-kInfinity, -kInfinity};
    }
  }
  const Threshold threshold = Solve(loss);
  const Computed test = TestAt(threshold.at, epsilon);
  if (std::isnan(test.value) || std::isnan(test.error)) return Bounds{floor.lower, 0};
  // The possible gain of a better threshold inside the bracket: its mass under Q times |x - e^L|
  // (remove) or |1 - x e^L| (add), largest at an end. Where an end is open, all mass beyond.
  double missing = 0;
  const double log_scale = remove ? epsilon : 0;
  if (threshold.high == kInfinity) {
    // Not proved to end: P[T > t] or Q[T < inf].
    missing = remove ? kInfinity : 1;
  } else {
    const GaussianMixture::LogDensity high = mixture_.At(threshold.high);
    double ratio = std::expm1(high.value.value + high.value.error - loss);
    double mass;  // times e^log_scale
    if (threshold.low == -kInfinity) {
      ratio = std::max(ratio, 1.0);
      const Computed below = ScaledNormalCdf(threshold.high, 0, log_scale);
      mass = below.value + below.error;
    } else {
      const GaussianMixture::LogDensity low = mixture_.At(threshold.low);
      ratio = std::max(ratio, -std::expm1(low.value.value - low.value.error - loss));
      const double nearest = threshold.low > 0    ? threshold.low
                             : threshold.high < 0 ? threshold.high
                                                  : 0;
      mass = (threshold.high - threshold.low) *
             std::exp(log_scale - 0.5 * nearest * nearest - kLogSqrt2Pi);
    }
    missing = 1.01 * ratio * mass;
  }
  const double lower = test.value - test.error;
  const double upper = test.value + test.error + missing + kSubnormalError;
  const double log_lower = lower > 0 ? RoundDown(std::log(lower), 2) : -kInfinity;
  const double log_upper = upper < 1 ? RoundUp(std::log(upper) + kUlp, 2) : 0;
  return Bounds{std::max(floor.lower, log_lower), std::min(0.0, std::max(floor.upper, log_upper))};
}

Bounds MixtureOfGaussiansProfile::TailUnderQ(double epsilon) const {
  if (mixture_.parts().empty()) return Bounds{epsilon < 0 ? 1.0 : 0.0, epsilon > 0 ? 0.0 : 1.0};
  const bool remove = direction_ == Direction::kRemove;
  const double loss = remove ? epsilon : -epsilon;
  if (mixture_.at_zero() > 0) {
    const GaussianMixture::LogDensity end = mixture_.At(-kInfinity);
    if (loss < end.value.value - end.value.error) return remove ? Bounds{1, 1} : Bounds{0, 0};
  }
  if (std::abs(epsilon) > 700) {
    if (remove) return epsilon > 0 ? Bounds{0, TailUnderQ(700).upper} : Bounds{0, 1};
    return epsilon > 0 ? Bounds{0, TailUnderQ(700).upper} : Bounds{0, 1};
  }
  const Threshold threshold = Solve(loss);
  const double relative = 4 * kNormalRelativeError;
  if (remove) {
    return Bounds{
        RoundDownNonNegative(NormalCdf(-threshold.high) * (1 - relative) - kSubnormalError),
        std::min(1.0, RoundUp(NormalCdf(-threshold.low) * (1 + relative) + kSubnormalError))};
  }
  const auto below = [&](double t, double direction) {
    double sum = mixture_.at_zero() * NormalCdf(t);
    for (const MixturePart& part : mixture_.parts()) {
      const double widened = t - part.shift;
      const double error =
          2 * kUlp * (std::abs(t) + part.shift) + mixture_.relative_error() * part.shift;
      sum += part.weight * NormalCdf(std::isinf(t) ? t : widened + direction * error);
    }
    return sum * (1 + direction * (relative + 2 * mixture_.relative_error() +
                                   kUlp * (2 * static_cast<double>(mixture_.parts().size()) + 4)));
  };
  return Bounds{RoundDownNonNegative(below(threshold.low, -1) - kSubnormalError),
                std::min(1.0, RoundUp(below(threshold.high, 1) + kSubnormalError))};
}

}  // namespace epsledger::accounting
