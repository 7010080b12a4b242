#include "accounting/profile/thresholded_profile.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "accounting/numeric/constants.h"
#include "accounting/numeric/log_space.h"
#include "accounting/numeric/rounding.h"

namespace epsledger::accounting {
namespace {

constexpr double kFarthestLoss = 1e6;

}  // namespace

ThresholdedProfile::ThresholdedProfile(std::shared_ptr<const PrivacyProfile> noise, Bounds log_kept,
                                       Adjacency direction)
    : noise_(std::move(noise)),
      log_kept_(log_kept),
      remove_(direction == Adjacency::kRemove),
      log_dropped_{RoundDown(std::log1p(-std::min(1.0, RoundUp(std::exp(log_kept.upper)))), 2),
                   std::min(0.0, RoundUp(std::log1p(-RoundDown(std::exp(log_kept.lower))), 2))} {
  largest_loss_ = noise_->LargestLoss();
  if (!remove_) {
    largest_loss_ = std::max(largest_loss_, -log_dropped_.lower);
    return;
  }
  // Once the noise hides more than p, delta is p: every larger loss is infinite.
  const auto hidden = [&](double epsilon) {
    return noise_->LogDelta(epsilon).upper <= log_kept_.lower;
  };
  double above = 1;
  while (above < std::min(largest_loss_, kFarthestLoss) && !hidden(above)) above *= 2;
  if (!hidden(above)) return;
  double below = 0;
  for (int i = 0; i < 50; ++i) {
    const double middle = 0.5 * (below + above);
    (hidden(middle) ? above : below) = middle;
  }
  largest_loss_ = std::min(largest_loss_, above);
}

Bounds ThresholdedProfile::LogOfThreshold(double epsilon) const {
  // Below log(1 - p) the removal is 1 - e^epsilon, as that of the noise is at least.
  if (remove_) return log_kept_;
  const double least = RoundUp(epsilon + log_dropped_.upper);
  const double most = RoundDown(epsilon + log_dropped_.lower);
  return Bounds{least < 0 ? RoundDown(Log1mExp(least), 2) : -kInfinity,
                most < 0 ? std::min(0.0, RoundUp(Log1mExp(most), 2)) : -kInfinity};
}

Bounds ThresholdedProfile::LogDelta(double epsilon) const {
  const Bounds noise = noise_->LogDelta(epsilon);
  const Bounds threshold = LogOfThreshold(epsilon);
  return Bounds{std::max(noise.lower, threshold.lower), std::max(noise.upper, threshold.upper)};
}

Bounds ThresholdedProfile::TailUnderQ(double epsilon) const {
  const Bounds noise = noise_->LogDelta(epsilon);
  const Bounds threshold = LogOfThreshold(epsilon);
  const Bounds noise_tail = noise_->TailUnderQ(epsilon);
  if (noise.lower > threshold.upper || threshold.upper == -kInfinity) return noise_tail;
  // The slope of the larger of the two; of both where it is not known which one that is.
  Bounds tail{0, 0};
  if (!remove_) {
    tail = Bounds{RoundDownNonNegative(std::exp(log_dropped_.lower), 2),
                  std::min(1.0, RoundUpNonNegative(std::exp(log_dropped_.upper), 2))};
    if (threshold.lower == -kInfinity) tail.lower = 0;
  }
  if (threshold.lower > noise.upper) return tail;
  return Bounds{std::min(tail.lower, noise_tail.lower), std::max(tail.upper, noise_tail.upper)};
}

double ThresholdedProfile::InfinityMass() const {
  const double of_noise = noise_->InfinityMass();
  return remove_ ? std::max(of_noise, std::min(1.0, RoundUp(std::exp(log_kept_.upper), 2)))
                 : of_noise;
}

double ThresholdedProfile::SmallestLoss() const {
  return remove_ ? std::min(noise_->SmallestLoss(), log_dropped_.lower) : noise_->SmallestLoss();
}

double ThresholdedProfile::LargestLoss() const { return largest_loss_; }

}  // namespace epsledger::accounting
