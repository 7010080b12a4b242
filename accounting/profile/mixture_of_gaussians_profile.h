#ifndef EPSLEDGER_ACCOUNTING_PROFILE_MIXTURE_OF_GAUSSIANS_PROFILE_H_
#define EPSLEDGER_ACCOUNTING_PROFILE_MIXTURE_OF_GAUSSIANS_PROFILE_H_

#include <vector>

#include "accounting/gaussian/gaussian_mixture.h"
#include "accounting/numeric/bounds.h"
#include "accounting/numeric/computed.h"
#include "accounting/profile/privacy_profile.h"

namespace epsledger::accounting {

// P = sum_i weight_i N(shift_i, 1) against Q = N(0, 1), and the reverse ([Ganesh24], arXiv
// 2401.10294; accounting/profile/README.md, "Mixtures of Gaussians"). L(t) = log sum_i weight_i
// e^{shift_i t - shift_i^2/2} increases with t, so the best test is t > t*, L(t*) = epsilon, and
// any other threshold gives less:
//   delta = P[t > t*] - e^epsilon Q[t > t*],   Q[L > epsilon] = Q[t > t*];
// the reverse pair uses t < t* with L(t*) = -epsilon. Bounds are evaluated at a computed t*: for
// the lower bound it is a valid test like any other; for the upper bound the missing part is at
// most its width times the largest slope.
// Cost: about 3 us with three parts.
class MixtureOfGaussiansProfile final : public PrivacyProfile {
 public:
  enum class Direction { kRemove, kAdd };

  // The shifts and weights each carry a relative error of at most `relative_error`; the sum of the
  // weights may differ from 1 by as much. `exact` as in PrivacyProfile.
  // REQUIRES: shifts >= 0 finite, weights >= 0, at least one of each positive, relative_error <
  // 1e-6.
  MixtureOfGaussiansProfile(std::vector<MixturePart> parts, double relative_error,
                            Direction direction, bool exact);

  Bounds LogDelta(double epsilon) const override;
  Bounds TailUnderQ(double epsilon) const override;
  double SmallestLoss() const override { return smallest_loss_; }
  double LargestLoss() const override { return largest_loss_; }
  double Cost() const override { return 3 * static_cast<double>(mixture_.parts().size() + 1); }
  bool exact() const override { return exact_; }

 private:
  // low <= t* <= high is proved; an end that is not proved is infinite. `at` is close to t*.
  struct Threshold {
    double at;
    double low;
    double high;
  };

  // Returns the t* with L(t*) = loss.
  Threshold Solve(double loss) const;
  Computed TestAt(double t, double epsilon) const;

  GaussianMixture mixture_;
  Direction direction_;
  bool exact_;
  double smallest_loss_;
  double largest_loss_;
};

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_PROFILE_MIXTURE_OF_GAUSSIANS_PROFILE_H_
