#ifndef EPSLEDGER_ACCOUNTING_PROFILE_REPLACE_SAMPLED_GAUSSIAN_PROFILE_H_
#define EPSLEDGER_ACCOUNTING_PROFILE_REPLACE_SAMPLED_GAUSSIAN_PROFILE_H_

#include "accounting/numeric/bounds.h"
#include "accounting/numeric/computed.h"
#include "accounting/profile/privacy_profile.h"

namespace epsledger::accounting {

// A Gaussian release of a Poisson sample under replace-one: P = (1 - q) N(0, 1) + q N(mu, 1)
// against Q = (1 - q) N(0, 1) + q N(-mu, 1), which is its own reverse. No pair of neighbors has a
// larger delta at any epsilon, and two records of opposite contributions have this one
// (accounting/profile/README.md, "Sampling under replace-one", with the proof).
//
// L(t) = log(dP/dQ)(t) increases with t, so the best test is t > t* with L(t*) = epsilon:
//   delta = P[t > t*] - e^epsilon Q[t > t*],   Q[L > epsilon] = Q[t > t*].
// Bounds are evaluated at a computed t*: the lower one is that test's, the upper one adds what a
// better threshold can gain. Bounds hold for every mu in the given interval.
// Cost: about 1 us.
class ReplaceSampledGaussianProfile final : public PrivacyProfile {
 public:
  // REQUIRES: CanTake(mu, q).
  ReplaceSampledGaussianProfile(Bounds mu, double q);

  // 0 < q < 1 and 0 < mu < 1e6, known to a relative 1e-9.
  static bool CanTake(Bounds mu, double q);

  Bounds LogDelta(double epsilon) const override;
  Bounds TailUnderQ(double epsilon) const override;
  double Cost() const override { return 6; }

 private:
  struct Loss {
    Computed value;
    double slope;  // dL/dt, not a bound
  };
  // low <= t* <= high proved, infinite where it is not; `at` is close to t*.
  struct Threshold {
    double at;
    double low;
    double high;
  };

  Loss LossAt(double t) const;
  Threshold Solve(double epsilon) const;
  // e^log_scale Phi(sign mu - t).
  Computed Cdf(double t, double sign, double log_scale) const;
  Computed TestAt(double t, double epsilon) const;
  // Q[T > t].
  Computed TailAt(double t) const;
  // An upper bound on e^log_scale Q[T > t].
  double ScaledTail(double t, double log_scale) const;

  double q_;
  double mu_;              // the middle of its bounds
  double relative_error_;  // of mu_
};

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_PROFILE_REPLACE_SAMPLED_GAUSSIAN_PROFILE_H_
