#ifndef EPSLEDGER_ACCOUNTING_PROFILE_REPLACE_SAMPLED_PROFILE_H_
#define EPSLEDGER_ACCOUNTING_PROFILE_REPLACE_SAMPLED_PROFILE_H_

#include <memory>

#include "accounting/profile/privacy_profile.h"

namespace epsledger::accounting {

// Sampling under replace-one, by advanced joint convexity ([BBG18] Thms 2 and 9): for epsilon' >=
// 0, with e^epsilon' = 1 + q (e^epsilon - 1) and b = e^{epsilon' - epsilon},
//   delta'(epsilon') <= q ((1 - b) delta_without(epsilon) + b delta_replace(epsilon)),
// where delta_replace is the profile of the inner mechanism under replace-one, and delta_without
// its profile with the record against without the record (for a fixed-size sample: against another
// record instead, so delta_replace again). For epsilon' < 0 the bound is delta'(epsilon') = 1 -
// e^epsilon' + e^epsilon' delta'(-epsilon'), since the relation has both orders of every pair. Both
// directions are alike. Not exact, and with two different profiles not always convex; the bounded
// function is the true profile.
// Cost: that of LogDelta inside, twice.
class ReplaceSampledProfile final : public PrivacyProfile {
 public:
  // `without` may be the same as `replace`. REQUIRES: 0 < q <= 1.
  ReplaceSampledProfile(std::shared_ptr<const PrivacyProfile> without,
                        std::shared_ptr<const PrivacyProfile> replace, double q);

  Bounds LogDelta(double epsilon) const override;
  // Bounded as for a function of which only upper bounds are known (RenyiBoundedProfile).
  Bounds TailUnderQ(double epsilon) const override;
  double InfinityMass() const override;
  double SmallestLoss() const override { return -largest_loss_; }
  double LargestLoss() const override { return largest_loss_; }
  double Cost() const override { return 2 * (without_->Cost() + replace_->Cost()); }
  bool exact() const override { return false; }

 private:
  double LogDeltaUpper(double epsilon) const;  // epsilon >= 0

  std::shared_ptr<const PrivacyProfile> without_;
  std::shared_ptr<const PrivacyProfile> replace_;
  double q_;
  double largest_loss_;
};

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_PROFILE_REPLACE_SAMPLED_PROFILE_H_
