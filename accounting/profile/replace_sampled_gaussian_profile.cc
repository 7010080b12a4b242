#include "accounting/profile/replace_sampled_gaussian_profile.h"

#include <algorithm>
#include <cmath>

#include "accounting/gaussian/log_mixture.h"
#include "accounting/numeric/constants.h"
#include "accounting/numeric/rounding.h"
#include "accounting/numeric/scaled_normal.h"
#include "accounting/profile/uncertain_epsilon.h"

namespace epsledger::accounting {
bool ReplaceSampledGaussianProfile::CanTake(Bounds mu, double q) {
  return q > 0 && q < 1 && mu.lower > 0 && mu.upper < 1e6 && mu.upper - mu.lower <= 1e-9 * mu.lower;
}

ReplaceSampledGaussianProfile::ReplaceSampledGaussianProfile(Bounds mu, double q)
    : q_(q), mu_(0.5 * (mu.lower + mu.upper)) {
  relative_error_ = (mu.upper - mu.lower) / mu.lower + 2 * kUlp;
}

ReplaceSampledGaussianProfile::Loss ReplaceSampledGaussianProfile::LossAt(double t) const {
  const LogMixture above = LogMixtureAt(t, mu_, q_, relative_error_);
  const LogMixture below = LogMixtureAt(t, -mu_, q_, relative_error_);
  const double value = above.value.value - below.value.value;
  if (std::isnan(value)) return Loss{{0, kInfinity}, 0};
  return Loss{{value, above.value.error + below.value.error + kUlp * std::abs(value)},
              mu_ * (above.slope + below.slope)};
}

ReplaceSampledGaussianProfile::Threshold ReplaceSampledGaussianProfile::Solve(
    double epsilon) const {
  // With v = e^{mu t - epsilon/2}: q v - 2 (1 - q) sinh(epsilon/2) e^{mu^2/2} - q / v = 0, so
  // sinh(mu t - epsilon/2) = ((1 - q) / q) sinh(epsilon/2) e^{mu^2/2}.
  const double half = 0.5 * std::abs(epsilon);
  double root = 0;
  if (half > 0) {
    const double log_sinh =
        half > 30 ? half - kLog2 : std::log(std::sinh(half));  // e^-60 beside 1 is nothing
    const double log_z = std::log((1 - q_) / q_) + log_sinh + 0.5 * mu_ * mu_;
    root = log_z > 300 ? log_z + kLog2 : std::asinh(std::exp(log_z));
  }
  const double t = std::copysign((half + root) / mu_, epsilon);

  Threshold threshold{t, -kInfinity, kInfinity};
  const Loss at = LossAt(t);
  double step = 8 * kUlp * (std::abs(t) + 1);
  if (at.slope > 0) step += 4 * (at.value.error + kUlp * std::abs(epsilon)) / at.slope;
  if (!std::isfinite(step)) step = 1e-6;
  for (int i = 0; i < 12; ++i, step *= 64) {
    if (threshold.low == -kInfinity) {
      const Computed below = LossAt(t - step).value;
      if (below.value + below.error <= epsilon) threshold.low = t - step;
    }
    if (threshold.high == kInfinity) {
      const Computed above = LossAt(t + step).value;
      if (above.value - above.error >= epsilon) threshold.high = t + step;
    }
    if (threshold.low > -kInfinity && threshold.high < kInfinity) break;
  }
  return threshold;
}

Computed ReplaceSampledGaussianProfile::Cdf(double t, double sign, double log_scale) const {
  const double argument = sign * mu_ - t;
  return ScaledNormalCdf(argument, kUlp * (std::abs(t) + mu_) + relative_error_ * mu_, log_scale);
}

Computed ReplaceSampledGaussianProfile::TestAt(double t, double epsilon) const {
  // P[T > t] - x Q[T > t] = q (Phi(mu - t) - Phi(-t)) + q (x Phi(-t) - x Phi(-mu - t)) -
  // (x - 1) Phi(-t), with x = e^epsilon. What is multiplied with x may be far below the smallest
  // double.
  const Computed above = Cdf(t, 1, 0);
  const Computed base = ScaledNormalCdf(-t, 0, 0);
  const Computed scaled = ScaledNormalCdf(-t, 0, epsilon);
  const Computed below = Cdf(t, -1, epsilon);
  const double gain = q_ * (above.value - base.value);
  const double loss = q_ * (scaled.value - below.value);
  const bool is_large = epsilon > 0;
  const double factor = std::abs(std::expm1(is_large ? -epsilon : epsilon));
  const Computed& rest_base = is_large ? scaled : base;
  const double rest = (is_large ? 1 : -1) * factor * rest_base.value;
  const double error = q_ * (above.error + base.error + scaled.error + below.error) +
                       factor * rest_base.error +
                       6 * kUlp * (std::abs(gain) + std::abs(loss) + std::abs(rest));
  return Computed{gain + loss - rest, error + kSubnormalError};
}

Computed ReplaceSampledGaussianProfile::TailAt(double t) const {
  if (t == -kInfinity) return Computed{1, 0};
  if (t == kInfinity) return Computed{0, 0};
  const Computed base = ScaledNormalCdf(-t, 0, 0);
  const Computed moved = Cdf(t, -1, 0);
  const double value = (1 - q_) * base.value + q_ * moved.value;
  return Computed{value,
                  (1 - q_) * base.error + q_ * moved.error + 6 * kUlp * value + kSubnormalError};
}

double ReplaceSampledGaussianProfile::ScaledTail(double t, double log_scale) const {
  if (t == -kInfinity) return std::exp(log_scale);
  const Computed base = ScaledNormalCdf(-t, 0, log_scale);
  const Computed moved = Cdf(t, -1, log_scale);
  return RoundUp((1 - q_) * (base.value + base.error) + q_ * (moved.value + moved.error), 8);
}

Bounds ReplaceSampledGaussianProfile::LogDelta(double epsilon) const {
  const Bounds floor = LogDeltaFloor(epsilon);
  if (epsilon > kLargestEpsilon) {
    // Past what e^epsilon can be multiplied with: the profile falls.
    return Bounds{-kInfinity, LogDelta(kLargestEpsilon).upper};
  }
  if (epsilon < -kLargestEpsilon) return Bounds{floor.lower, 0};
  const Threshold threshold = Solve(epsilon);
  const Computed test = TestAt(threshold.at, epsilon);
  if (std::isnan(test.value) || std::isnan(test.error)) return Bounds{floor.lower, 0};
  // Between the two thresholds L is between L(at) and epsilon, so that another one gains at most
  // E_Q[|e^L - x|] <= x |e^(L(at) - epsilon) - 1| Q[between].
  const Computed at = LossAt(threshold.at).value;
  const double ratio = std::expm1(std::abs(at.value - epsilon) + at.error);
  const double width = threshold.high - threshold.low;
  const double between = std::min(
      {std::exp(epsilon), ScaledTail(threshold.low, epsilon), 0.4 * width * std::exp(epsilon)});
  const double missing = 1.01 * ratio * between;
  const double lower = test.value - test.error;
  double upper = test.value + test.error + missing + kSubnormalError;
  if (std::isnan(upper)) upper = 1;
  const double log_lower = lower > 0 ? RoundDown(std::log(lower), 2) : -kInfinity;
  const double log_upper = upper < 1 ? RoundUp(std::log(upper) + kUlp, 2) : 0;
  return Bounds{std::max(floor.lower, log_lower), std::min(0.0, std::max(floor.upper, log_upper))};
}

Bounds ReplaceSampledGaussianProfile::TailUnderQ(double epsilon) const {
  if (epsilon > kLargestEpsilon) return Bounds{0, TailUnderQ(kLargestEpsilon).upper};
  if (epsilon < -kLargestEpsilon) return Bounds{0, 1};
  const Threshold threshold = Solve(epsilon);
  const Computed high = TailAt(threshold.high);
  const Computed low = TailAt(threshold.low);
  return Bounds{RoundDownNonNegative(high.value - high.error),
                std::min(1.0, RoundUp(low.value + low.error))};
}

}  // namespace epsledger::accounting
