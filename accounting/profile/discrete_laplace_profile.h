#ifndef EPSLEDGER_ACCOUNTING_PROFILE_DISCRETE_LAPLACE_PROFILE_H_
#define EPSLEDGER_ACCOUNTING_PROFILE_DISCRETE_LAPLACE_PROFILE_H_

#include "accounting/numeric/bounds.h"
#include "accounting/profile/privacy_profile.h"

namespace epsledger::accounting {

// Discrete Laplace noise, Q[k] proportional to e^{-a |k|}, moved by a whole number s; its own
// reverse. The loss a (2k - s), k = 0, ..., s, increases with k, so with r = e^-a and k the least
// one whose loss is above epsilon,
//   delta(epsilon) = (1 - e^{epsilon - a k} + r (1 - e^{-a (s - k)})) / (1 + r)  for |epsilon| < a
//   s, Q[L > epsilon] = r^k / (1 + r).
// Any other k makes the formula for delta smaller (accounting/profile/README.md, "Shifted
// log-concave noise"). Also valid for a vector of L1 sensitivity s. Relative error of delta: 16
// ulp. Cost: 0.2 us.
class DiscreteLaplaceProfile final : public PrivacyProfile {
 public:
  // REQUIRES: noise_parameter > 0; distance a whole number in [1, 2^53].
  DiscreteLaplaceProfile(double noise_parameter, double distance);

  Bounds LogDelta(double epsilon) const override;
  Bounds TailUnderQ(double epsilon) const override;
  double InfinityMass() const override;
  double SmallestLoss() const override { return -largest_loss_; }
  double LargestLoss() const override { return largest_loss_; }
  double AtomSpacing() const override;

 private:
  // The least k in [1, s] with a loss above epsilon, and whether rounding leaves k - 1 or k + 1
  // possible too.
  struct Position {
    double least;
    double most;
  };
  Position Find(double epsilon) const;
  double Delta(double epsilon, double k) const;

  double a_;
  double distance_;
  double r_;
  double largest_loss_;  // rounded up
};

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_PROFILE_DISCRETE_LAPLACE_PROFILE_H_
