#ifndef EPSLEDGER_ACCOUNTING_PROFILE_BOUNDED_RANGE_PROFILE_H_
#define EPSLEDGER_ACCOUNTING_PROFILE_BOUNDED_RANGE_PROFILE_H_

#include "accounting/profile/privacy_profile.h"

namespace epsledger::accounting {

// The largest delta of any pair whose loss stays in some interval of length `range` ([DDR20] Sec 3;
// accounting/profile/README.md, "Bounded range"):
//   delta(epsilon) = (1 - e^{(epsilon - range)/2})^2 / (1 - e^-range)   for |epsilon| <= range,
//   0 above, 1 - e^epsilon below.
// No single pair attains this profile: not exact. Relative error: 16 ulp. Cost: 0.1 us.
class BoundedRangeProfile final : public PrivacyProfile {
 public:
  // REQUIRES: range >= 0, or +inf.
  explicit BoundedRangeProfile(double range) : range_(range) {}

  Bounds LogDelta(double epsilon) const override;
  Bounds TailUnderQ(double epsilon) const override;
  double InfinityMass() const override;
  double SmallestLoss() const override { return -range_; }
  double LargestLoss() const override { return range_; }
  bool exact() const override { return false; }

 private:
  double range_;
};

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_PROFILE_BOUNDED_RANGE_PROFILE_H_
