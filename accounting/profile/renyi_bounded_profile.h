#ifndef EPSLEDGER_ACCOUNTING_PROFILE_RENYI_BOUNDED_PROFILE_H_
#define EPSLEDGER_ACCOUNTING_PROFILE_RENYI_BOUNDED_PROFILE_H_

#include <functional>
#include <utility>

#include "accounting/profile/privacy_profile.h"

namespace epsledger::accounting {

// The profile of a mechanism of which only D_a <= divergence(a) in both directions is known.
// delta(epsilon) is at most the answer of LogDeltaFromRenyi for epsilon >= 0, and 1 - e^epsilon +
// e^epsilon delta(-epsilon) below 0, by the reverse pair. The bounded function is the true profile,
// whose only known lower bound is 1 - e^epsilon. Each upper bound is valid at its point, but they
// need not be convex in e^epsilon (their lower convex hull is valid too). Not exact.
// Cost: 20 evaluations of the divergence.
class RenyiBoundedProfile final : public PrivacyProfile {
 public:
  // `divergence` must be safe to call from several threads; order in (1, inf).
  explicit RenyiBoundedProfile(std::function<double(double order)> divergence)
      : divergence_(std::move(divergence)) {}

  Bounds LogDelta(double epsilon) const override;
  // Upper bound: e^-epsilon P[L >= epsilon], where P[L >= e] <= delta(e - 1) / (1 - 1/e).
  Bounds TailUnderQ(double epsilon) const override;
  // 0: a finite divergence has no mass at infinity.
  double InfinityMass() const override { return 0; }
  double Cost() const override { return 25; }
  bool exact() const override { return false; }

 private:
  std::function<double(double order)> divergence_;
};

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_PROFILE_RENYI_BOUNDED_PROFILE_H_
