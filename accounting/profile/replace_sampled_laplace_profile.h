#ifndef EPSLEDGER_ACCOUNTING_PROFILE_REPLACE_SAMPLED_LAPLACE_PROFILE_H_
#define EPSLEDGER_ACCOUNTING_PROFILE_REPLACE_SAMPLED_LAPLACE_PROFILE_H_

#include "accounting/numeric/bounds.h"
#include "accounting/profile/privacy_profile.h"

namespace epsledger::accounting {

// A Laplace release of a Poisson sample under replace-one: P = (1 - q) Lap(0) + q Lap(theta)
// against Q = (1 - q) Lap(0) + q Lap(-theta), of scale 1, which is its own reverse. No pair of
// neighbors has a larger delta at any epsilon, and two records of opposite contributions have this
// one (accounting/profile/README.md, "Sampling under replace-one"). With d = 1 - q (1 - e^-theta),
//   delta = q (1 - sqrt(e^-2theta + (e^epsilon - 1) d e^-theta / q))   for 0 <= epsilon <= end,
//   end = log((1 - q + q e^theta) / d),
// 0 above, and by the reverse pair below 0. Atoms at both ends. Also valid for a vector query of L1
// sensitivity theta. Absolute error of delta: 1e-15 q, plus the effect of the width of theta.
// Cost: 0.1 us.
class ReplaceSampledLaplaceProfile final : public PrivacyProfile {
 public:
  // REQUIRES: CanTake(theta, q).
  ReplaceSampledLaplaceProfile(Bounds theta, double q);

  // 0 < q < 1 and 0 < theta <= 600.
  static bool CanTake(Bounds theta, double q);

  Bounds LogDelta(double epsilon) const override;
  Bounds TailUnderQ(double epsilon) const override;
  double SmallestLoss() const override { return -end_.upper; }
  double LargestLoss() const override { return end_.upper; }
  double AtomSpacing() const override { return end_.upper; }

 private:
  // delta for epsilon >= 0.
  Bounds DeltaAbove(double epsilon) const;
  // Q[T > t] and P[T > t] for the t >= 0 with L(t) = epsilon >= 0.
  Bounds QTailAbove(double epsilon) const;
  Bounds PTailAbove(double epsilon) const;
  // e^-2theta + (e^epsilon - 1) d e^-theta / q, for any theta of the interval.
  Bounds Square(double epsilon) const;

  Bounds theta_;
  double q_;
  Bounds end_;  // of the loss
};

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_PROFILE_REPLACE_SAMPLED_LAPLACE_PROFILE_H_
