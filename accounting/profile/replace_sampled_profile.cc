#include "accounting/profile/replace_sampled_profile.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "accounting/numeric/constants.h"
#include "accounting/numeric/log_space.h"
#include "accounting/numeric/rounding.h"
#include "accounting/profile/uncertain_epsilon.h"

namespace epsledger::accounting {
namespace {}  // namespace

ReplaceSampledProfile::ReplaceSampledProfile(std::shared_ptr<const PrivacyProfile> without,
                                             std::shared_ptr<const PrivacyProfile> replace,
                                             double q)
    : without_(std::move(without)), replace_(std::move(replace)), q_(q) {
  const double loss = std::max(without_->LargestLoss(), replace_->LargestLoss());
  largest_loss_ = kInfinity;
  if (loss < 600) largest_loss_ = RoundUpNonNegative(std::log1p(q * std::expm1(loss)), 8 + loss);
}

double ReplaceSampledProfile::LogDeltaUpper(double epsilon) const {
  // A little less than the inner epsilon, since delta falls with epsilon.
  double inner;
  if (epsilon > 30) {
    inner = RoundDownNonNegative(
        epsilon - std::log(q_) + std::log1p(-(1 - q_) * std::exp(-epsilon)), 6);
  } else {
    inner = RoundDownNonNegative(std::log1p(std::expm1(epsilon) / q_), 6);
  }
  if (!std::isfinite(inner)) inner = epsilon;
  const double replace = replace_->LogDelta(inner).upper;
  const double without = without_ == replace_ ? replace : without_->LogDelta(inner).upper;
  const double log_q = std::log(q_);
  double mixed = std::max(replace, without);
  // Where `without` is smaller, its weight 1 - b is rounded down and the other weight up.
  if (without < replace) {
    const double b = std::min(1.0, RoundUp(std::exp(epsilon - inner), 8 + std::abs(inner)));
    const double weight = std::log(b);
    mixed = b < 1 ? LogAddExp(weight + replace, std::log1p(-b) + without) : replace;
    // The computed 1 - b belongs to a larger b, which only moves weight to the larger delta.
    mixed = std::min(replace, mixed + 16 * kUlp);
  }
  if (mixed == -kInfinity) return -kInfinity;
  return std::min(0.0, RoundUp(log_q + mixed, 4));
}

Bounds ReplaceSampledProfile::LogDelta(double epsilon) const {
  const Bounds floor = LogDeltaFloor(epsilon);
  if (epsilon >= 0) return Bounds{floor.lower, LogDeltaUpper(epsilon)};
  const double mirrored = LogDeltaUpper(-epsilon);
  if (mirrored == -kInfinity) return floor;
  const double upper = LogAddExp(floor.upper, epsilon + mirrored);
  return Bounds{floor.lower, std::min(0.0, RoundUp(upper + 4 * kUlp * (1 - epsilon), 4))};
}

Bounds ReplaceSampledProfile::TailUnderQ(double epsilon) const {
  if (epsilon > largest_loss_) return Bounds{0, 0};
  if (epsilon < -largest_loss_) return Bounds{1, 1};
  // e^epsilon Q[L >= epsilon] <= P[L >= epsilon] <= delta(epsilon - 1) / (1 - 1/e).
  const double beyond = std::min(0.0, LogDelta(epsilon - 1).upper - std::log1p(-std::exp(-1.0)));
  const double upper = std::exp(beyond - epsilon);
  const double operations = 8 + 2 * (std::abs(beyond) + std::abs(epsilon));
  return Bounds{0, upper < 1 ? std::min(1.0, RoundUp(upper, operations)) : 1};
}

double ReplaceSampledProfile::InfinityMass() const {
  return std::min(
      1.0, RoundUpNonNegative(q_ * std::max(without_->InfinityMass(), replace_->InfinityMass())));
}

}  // namespace epsledger::accounting
