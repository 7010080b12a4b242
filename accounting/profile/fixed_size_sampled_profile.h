#ifndef EPSLEDGER_ACCOUNTING_PROFILE_FIXED_SIZE_SAMPLED_PROFILE_H_
#define EPSLEDGER_ACCOUNTING_PROFILE_FIXED_SIZE_SAMPLED_PROFILE_H_

#include <memory>

#include "accounting/profile/poisson_sampled_profile.h"
#include "accounting/profile/privacy_profile.h"

namespace epsledger::accounting {

// Sampling under replace-one where a record that is not drawn leaves its place to another one: R is
// the output without either record, P and Q that with the first and with the second, and each two
// of the three laws have at most the inner profile, in both orders. With 1 + q (e^epsilon - 1) =
// e^epsilon',
//   H((1-q) R + q P || (1-q) R + q Q) at epsilon' >= 0 is at most q delta(epsilon)
// ([BBG18] Thm 2), which is the profile of (1-q) Q + q P against Q; below 0 it is at most that of
// Q against (1-q) Q + q P, the reverse ([ZDW22] Thm 11). The pairs R = Q and R = P attain the two
// halves, and no single pair both: not exact. It is its own reverse.
// Error and cost: those of PoissonSampledProfiles.
class FixedSizeSampledProfile final : public PrivacyProfile {
 public:
  // REQUIRES: 0 < q < 1; inner not null, and its own reverse or not less than it.
  FixedSizeSampledProfile(const std::shared_ptr<const PrivacyProfile>& inner, double q);

  Bounds LogDelta(double epsilon) const override;
  Bounds TailUnderQ(double epsilon) const override;
  ProfilePoint Around(double epsilon, double error) const override;
  double InfinityMass() const override { return above_.InfinityMass(); }
  double SmallestLoss() const override { return below_.SmallestLoss(); }
  double LargestLoss() const override { return above_.LargestLoss(); }
  double Cost() const override { return above_.Cost(); }
  bool exact() const override { return false; }

 private:
  PoissonRemoveProfile above_;
  PoissonAddProfile below_;
};

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_PROFILE_FIXED_SIZE_SAMPLED_PROFILE_H_
