#include "accounting/profile/replace_mixture_profile.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "accounting/numeric/constants.h"
#include "accounting/numeric/rounding.h"
#include "accounting/numeric/scaled_normal.h"
#include "accounting/profile/uncertain_epsilon.h"

namespace epsledger::accounting {

ReplaceMixtureProfile::ReplaceMixtureProfile(std::vector<MixturePart> parts, double relative_error)
    : mixture_(std::move(parts), relative_error) {}

GaussianMixture::LogDensity ReplaceMixtureProfile::LossAt(double t) const {
  const GaussianMixture::LogDensity above = mixture_.At(t);
  const GaussianMixture::LogDensity below = mixture_.At(-t);
  const double value = above.value.value - below.value.value;
  const double error = above.value.error + below.value.error + kUlp * std::abs(value);
  if (!std::isfinite(value) || std::isnan(error)) return {{0, kInfinity}, 0};
  return {{value, error}, above.slope + below.slope};
}

ReplaceMixtureProfile::Threshold ReplaceMixtureProfile::Solve(double epsilon) const {
  // L is odd: the threshold of |epsilon|, which is not negative.
  const double loss = std::abs(epsilon);
  double low = 0;
  double high = 1 / mixture_.largest_shift();
  for (int i = 0; i < 600 && LossAt(high).value.value < loss; ++i) {
    low = high;
    high *= 2;
  }
  double t = loss == 0 ? 0 : high;
  for (int i = 0; i < 200 && loss > 0; ++i) {
    const GaussianMixture::LogDensity at = LossAt(t);
    (at.value.value < loss ? low : high) = t;
    double next = t - (at.value.value - loss) / at.slope;
    if (!(next > low && next < high)) next = 0.5 * (low + high);
    const bool done = !(std::abs(next - t) > 2 * kUlp * std::abs(next));
    t = next;
    if (done) break;
  }
  t = std::copysign(t, epsilon);

  Threshold threshold{t, -kInfinity, kInfinity};
  const GaussianMixture::LogDensity at = LossAt(t);
  double step = 8 * kUlp * (std::abs(t) + 1);
  if (at.slope > 0) step += 4 * (at.value.error + kUlp * loss) / at.slope;
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

Computed ReplaceMixtureProfile::Cdf(double t, double signed_shift, double log_scale) const {
  const double size = std::abs(signed_shift);
  return ScaledNormalCdf(signed_shift - t,
                         kUlp * (std::abs(t) + size) + mixture_.relative_error() * size, log_scale);
}

Computed ReplaceMixtureProfile::TestAt(double t, double epsilon) const {
  // P[T > t] - x Q[T > t] = sum w_i (Phi(s_i - t) - Phi(-t)) + x sum w_i (Phi(-t) - Phi(-s_i - t))
  // - (x - 1) Phi(-t), with x = e^epsilon. What is multiplied with x may be far below the smallest
  // double.
  const Computed base = ScaledNormalCdf(-t, 0, 0);
  const Computed scaled = ScaledNormalCdf(-t, 0, epsilon);
  const double relative = mixture_.relative_error() + 8 * kUlp;
  double sum = 0;
  double error = 0;
  for (const MixturePart& part : mixture_.parts()) {
    const Computed above = Cdf(t, part.shift, 0);
    const Computed below = Cdf(t, -part.shift, epsilon);
    const double gain = above.value - base.value;
    const double loss = scaled.value - below.value;
    sum += part.weight * (gain + loss);
    error += part.weight * (above.error + base.error + scaled.error + below.error +
                            relative * (std::abs(gain) + std::abs(loss)));
  }
  error += kUlp * (static_cast<double>(mixture_.parts().size()) + 4) * std::abs(sum);
  const bool is_large = epsilon > 0;
  const double factor = std::abs(std::expm1(is_large ? -epsilon : epsilon));
  const Computed& rest_base = is_large ? scaled : base;
  const double rest = (is_large ? 1 : -1) * factor * rest_base.value;
  error += factor * rest_base.error + 6 * kUlp * (std::abs(sum) + std::abs(rest));
  return Computed{sum - rest, error + kSubnormalError};
}

Computed ReplaceMixtureProfile::TailAt(double t, double log_scale) const {
  if (t == -kInfinity) return Computed{std::exp(log_scale), 2 * kUlp * std::exp(log_scale)};
  if (t == kInfinity) return Computed{0, 0};
  const Computed base = ScaledNormalCdf(-t, 0, log_scale);
  double value = mixture_.at_zero() * base.value;
  double error = mixture_.at_zero() * base.error;
  for (const MixturePart& part : mixture_.parts()) {
    const Computed moved = Cdf(t, -part.shift, log_scale);
    value += part.weight * moved.value;
    error += part.weight * moved.error;
  }
  const double relative =
      2 * mixture_.relative_error() + kUlp * (2 * static_cast<double>(mixture_.terms()) + 8);
  return Computed{value, error * (1 + relative) + relative * value + kSubnormalError};
}

Bounds ReplaceMixtureProfile::LogDelta(double epsilon) const {
  const Bounds floor = LogDeltaFloor(epsilon);
  if (mixture_.parts().empty()) return floor;
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
  const Computed tail = TailAt(threshold.low, epsilon);
  const double between =
      std::min({std::exp(epsilon), tail.value + tail.error, 0.4 * width * std::exp(epsilon)});
  const double missing = 1.01 * ratio * between;
  const double lower = test.value - test.error;
  double upper = test.value + test.error + missing + kSubnormalError;
  if (std::isnan(upper)) upper = 1;
  const double log_lower = lower > 0 ? RoundDown(std::log(lower), 2) : -kInfinity;
  const double log_upper = upper < 1 ? RoundUp(std::log(upper) + kUlp, 2) : 0;
  return Bounds{std::max(floor.lower, log_lower), std::min(0.0, std::max(floor.upper, log_upper))};
}

Bounds ReplaceMixtureProfile::TailUnderQ(double epsilon) const {
  if (mixture_.parts().empty()) return Bounds{epsilon < 0 ? 1.0 : 0.0, epsilon > 0 ? 0.0 : 1.0};
  if (epsilon > kLargestEpsilon) return Bounds{0, TailUnderQ(kLargestEpsilon).upper};
  if (epsilon < -kLargestEpsilon) return Bounds{0, 1};
  const Threshold threshold = Solve(epsilon);
  const Computed high = TailAt(threshold.high, 0);
  const Computed low = TailAt(threshold.low, 0);
  return Bounds{RoundDownNonNegative(high.value - high.error),
                std::min(1.0, RoundUp(low.value + low.error))};
}

}  // namespace epsledger::accounting
