#ifndef EPSLEDGER_ACCOUNTING_PROFILE_LAPLACE_PROFILE_H_
#define EPSLEDGER_ACCOUNTING_PROFILE_LAPLACE_PROFILE_H_

#include "accounting/numeric/bounds.h"
#include "accounting/profile/privacy_profile.h"

namespace epsledger::accounting {

// Laplace noise of scale 1 at distance theta, which is its own reverse:
//   delta(epsilon) = 1 - e^{(epsilon - theta)/2} for |epsilon| <= theta, 0 above, 1 - e^epsilon
//   below;  Q[L > epsilon] = e^{-(epsilon + theta)/2} / 2 inside, with atoms at both ends.
// Also valid for a vector query of L1 sensitivity theta (accounting/profile/README.md, "Shifted
// log-concave noise"). Relative error of delta: 8 ulp, plus the effect of the width of theta. Cost:
// 0.05 us.
class LaplaceProfile final : public PrivacyProfile {
 public:
  // `attained`: some pair of neighbors has this profile, so that it is a lower bound too.
  // REQUIRES: 0 <= theta.lower <= theta.upper, no NaN.
  explicit LaplaceProfile(Bounds theta, bool attained = true);

  Bounds LogDelta(double epsilon) const override;
  Bounds TailUnderQ(double epsilon) const override;
  double InfinityMass() const override;
  double SmallestLoss() const override { return -theta_.upper; }
  double LargestLoss() const override { return theta_.upper; }
  double AtomSpacing() const override;
  bool exact() const override { return attained_; }

 private:
  Bounds theta_;
  bool attained_;
};

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_PROFILE_LAPLACE_PROFILE_H_
