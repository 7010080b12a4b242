#ifndef EPSLEDGER_ACCOUNTING_PROFILE_RENYI_BOUNDED_PROFILE_H_
#define EPSLEDGER_ACCOUNTING_PROFILE_RENYI_BOUNDED_PROFILE_H_

#include <functional>
#include <utility>

#include "accounting/profile/privacy_profile.h"

namespace epsledger::accounting {

// All that is known is D_a <= divergence(a) in both directions: delta(epsilon) is at most what
// LogDeltaFromRenyi says for epsilon >= 0, and 1 - e^epsilon + e^epsilon delta(-epsilon) below, by
// the reverse pair. The function bounded is the true profile, of which nothing is known from below
// but 1 - e^epsilon; the upper bounds, one a point, are each valid but need not be convex in
// e^epsilon (their lower convex hull is valid too). Not exact.
// Cost: 20 evaluations of the divergence.
class RenyiBoundedProfile final : public PrivacyProfile {
 public:
  // `divergence` must be safe to call from several threads; order in (1, inf).
  explicit RenyiBoundedProfile(std::function<double(double order)> divergence)
      : divergence_(std::move(divergence)) {}

  Bounds LogDelta(double epsilon) const override;
  // From above by e^-epsilon P[L >= epsilon], P[L >= e] <= delta(e - 1) / (1 - 1/e).
  Bounds TailUnderQ(double epsilon) const override;
  // A finite divergence has none.
  double InfinityMass() const override { return 0; }
  double Cost() const override { return 25; }
  bool exact() const override { return false; }

 private:
  std::function<double(double order)> divergence_;
};

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_PROFILE_RENYI_BOUNDED_PROFILE_H_
