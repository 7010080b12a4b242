#ifndef EPSLEDGER_ACCOUNTING_PROFILE_THRESHOLDED_PROFILE_H_
#define EPSLEDGER_ACCOUNTING_PROFILE_THRESHOLDED_PROFILE_H_

#include <memory>

#include "accounting/event/neighboring_relation.h"
#include "accounting/numeric/bounds.h"
#include "accounting/profile/privacy_profile.h"

namespace epsledger::accounting {

// The largest profile of one partition whose noisy size is released if it reaches the threshold
// (accounting/analytics/README.md, "Partitions"). With p = e^log_kept, the probability with which a
// partition of one unit is released, and delta_noise the profile of the noise,
//   remove: max(delta_noise(epsilon), p)                               for epsilon >= log(1 - p),
//   add:    max(delta_noise(epsilon), 1 - e^epsilon (1 - p)).
// It is the supremum over all sizes of the partition; for a single partition nothing smaller holds.
// Several partitions of one unit are not of the worst size all at once, so it counts as not exact.
// Relative error: that of the noise, and 1e-13 (1 + |log p|) of p. Cost: that of the noise.
class ThresholdedProfile final : public PrivacyProfile {
 public:
  // REQUIRES: `noise` is its own reverse; log_kept.lower <= log_kept.upper <= 0.
  ThresholdedProfile(std::shared_ptr<const PrivacyProfile> noise, Bounds log_kept,
                     Adjacency direction);

  Bounds LogDelta(double epsilon) const override;
  Bounds TailUnderQ(double epsilon) const override;
  double InfinityMass() const override;
  double SmallestLoss() const override;
  double LargestLoss() const override;
  double Cost() const override { return 1 + noise_->Cost(); }
  bool exact() const override { return false; }

 private:
  // Bounds on the logarithm of what the threshold alone contributes.
  Bounds LogOfThreshold(double epsilon) const;

  const std::shared_ptr<const PrivacyProfile> noise_;
  const Bounds log_kept_;
  const bool remove_;
  double largest_loss_ = 0;
  Bounds log_dropped_;  // log(1 - p)
};

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_PROFILE_THRESHOLDED_PROFILE_H_
