#ifndef EPSLEDGER_ACCOUNTING_PROFILE_REPLACE_MIXTURE_PROFILE_H_
#define EPSLEDGER_ACCOUNTING_PROFILE_REPLACE_MIXTURE_PROFILE_H_

#include <vector>

#include "accounting/gaussian/gaussian_mixture.h"
#include "accounting/numeric/bounds.h"
#include "accounting/numeric/computed.h"
#include "accounting/profile/privacy_profile.h"

namespace epsledger::accounting {

// A mixture of Gaussians under replace-one: P = sum_i weight_i N(shift_i, 1) against Q = sum_i
// weight_i N(-shift_i, 1), which is its own reverse. No pair of neighbors has a larger delta at any
// epsilon, and two records of opposite contributions have this one (accounting/profile/README.md,
// "Sampling under replace-one", with the proof for any weights).
//
// L(t) = log(dP/dQ)(t) increases with t and is odd, so the best test is t > t* with L(t*) =
// epsilon:
//   delta = P[t > t*] - e^epsilon Q[t > t*],   Q[L > epsilon] = Q[t > t*].
// Bounds are evaluated at a computed t*: the lower one is that test's, the upper one adds what a
// better threshold can gain.
// Cost: about 1 us a part.
class ReplaceMixtureProfile final : public PrivacyProfile {
 public:
  // As GaussianMixture.
  ReplaceMixtureProfile(std::vector<MixturePart> parts, double relative_error);

  Bounds LogDelta(double epsilon) const override;
  Bounds TailUnderQ(double epsilon) const override;
  double Cost() const override { return 6 * static_cast<double>(mixture_.parts().size() + 1); }

 private:
  // low <= t* <= high proved, infinite where it is not; `at` is close to t*.
  struct Threshold {
    double at;
    double low;
    double high;
  };

  GaussianMixture::LogDensity LossAt(double t) const;
  Threshold Solve(double epsilon) const;
  // e^log_scale Phi(sign shift - t).
  Computed Cdf(double t, double signed_shift, double log_scale) const;
  Computed TestAt(double t, double epsilon) const;
  // e^log_scale Q[T > t].
  Computed TailAt(double t, double log_scale) const;

  GaussianMixture mixture_;
};

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_PROFILE_REPLACE_MIXTURE_PROFILE_H_
