#include "accounting/gaussian/gaussian_mixture.h"

#include <algorithm>
#include <cmath>

#include "accounting/numeric/constants.h"

namespace epsledger::accounting {

GaussianMixture::GaussianMixture(std::vector<MixturePart> parts, double relative_error)
    : terms_(parts.size()), relative_error_(relative_error), largest_shift_(0), at_zero_(0) {
  std::sort(parts.begin(), parts.end(),
            [](const MixturePart& a, const MixturePart& b) { return a.shift < b.shift; });
  for (const MixturePart& part : parts) {
    if (part.weight == 0) continue;
    if (part.shift == 0) {
      at_zero_ += part.weight;
    } else {
      parts_.push_back(part);
      largest_shift_ = part.shift;
    }
  }
}

GaussianMixture::LogDensity GaussianMixture::At(double t) const {
  if (t == -kInfinity) {
    const double value = at_zero_ == 0 ? -kInfinity : std::log(at_zero_);
    return {{value, at_zero_ == 0 ? 0 : 2 * relative_error_ + kUlp * (4 - value)}, 0};
  }
  // log(1 + sum w_i (e^{a_i} - 1)), a_i = s_i (t - s_i / 2): the weights sum to 1.
  double largest = at_zero_ > 0 ? 0 : -kInfinity;
  double widest = 0;
  for (const MixturePart& part : parts_) {
    const double exponent = part.shift * (t - 0.5 * part.shift);
    largest = std::max(largest, exponent);
    widest = std::max(widest, part.shift * (std::abs(t) + 0.5 * part.shift));
  }
  const double relative = relative_error_ + kUlp * (static_cast<double>(parts_.size()) + 4) +
                          widest * (2 * relative_error_ + 4 * kUlp);
  if (!(relative < 0.25)) return {{0, kInfinity}, 0};
  if (largest < 30 && largest > -30) {
    double sum = 0;
    double size = 0;
    double slope = 0;
    for (const MixturePart& part : parts_) {
      const double exponent = part.shift * (t - 0.5 * part.shift);
      const double power = std::exp(exponent);
      sum += part.weight * std::expm1(exponent);
      size += part.weight * (1 + power);
      slope += part.shift * part.weight * power;
    }
    const double ratio = 1 + sum;
    const double error = size * relative;
    if (ratio > 0.5 && ratio > 2 * error) {
      const double value = std::log1p(sum);
      return {{value, error / (ratio - error) + 2 * kUlp * std::abs(value)}, slope / ratio};
    }
  }
  // Positive terms only: 1 + sum would cancel, or overflow.
  double ratio = at_zero_ > 0 ? at_zero_ * std::exp(-largest) : 0;
  double slope = 0;
  for (const MixturePart& part : parts_) {
    const double term = std::exp(part.shift * (t - 0.5 * part.shift) - largest) * part.weight;
    ratio += term;
    slope += part.shift * term;
  }
  const double value = largest + std::log(ratio);
  return {{value, 2 * relative + 4 * kUlp * (std::abs(largest) + std::abs(value))}, slope / ratio};
}

}  // namespace epsledger::accounting
