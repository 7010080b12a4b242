#ifndef EPSLEDGER_ACCOUNTING_PROFILE_POISSON_SAMPLED_PROFILE_H_
#define EPSLEDGER_ACCOUNTING_PROFILE_POISSON_SAMPLED_PROFILE_H_

#include <memory>

#include "accounting/profile/privacy_profile.h"

namespace epsledger::accounting {

// Poisson sampling with probability q of any mechanism, under add-or-remove-one and
// replace-special ([ZDW22] Thm 11; accounting/profile/README.md, "Sampled profiles"). If (P, Q) is
// the mechanism's pair for "remove" and (Q, P) its pair for "add", the sampled pairs are
//   remove: (1-q) Q + q P against Q,     add: Q against (1-q) Q + q P.
// Each profile is computed from the inner profile of its own direction; the two inner profiles need
// not be reverses of each other. With y = e^epsilon - 1:
//   remove: delta'(epsilon) = q delta(log(1 + y/q)) where y > -q, else -y;
//   add:    delta'(epsilon) = c delta(log(q (1+y) / c)), c = q - (1-q) y, where c > 0, else 0.
// Error: the inner profile's, and a few ulp of q (not of 1) at |epsilon| about q.
// Cost: one Around of the inner profile for a point; one LogDelta and two TailUnderQ for LogDelta.

// REQUIRES: 0 < q < 1; inner not null.
class PoissonRemoveProfile final : public PrivacyProfile {
 public:
  PoissonRemoveProfile(std::shared_ptr<const PrivacyProfile> inner, double q);

  Bounds LogDelta(double epsilon) const override;
  Bounds TailUnderQ(double epsilon) const override;
  ProfilePoint Around(double epsilon, double error) const override;
  double InfinityMass() const override;
  double SmallestLoss() const override { return smallest_loss_; }
  double LargestLoss() const override { return largest_loss_; }
  double Cost() const override { return 1 + inner_->Cost(); }
  bool exact() const override { return inner_->exact(); }

 private:
  std::shared_ptr<const PrivacyProfile> inner_;
  double q_;
  double log_q_;
  double smallest_loss_;
  double largest_loss_;
};

// REQUIRES: 0 < q < 1; inner not null.
class PoissonAddProfile final : public PrivacyProfile {
 public:
  PoissonAddProfile(std::shared_ptr<const PrivacyProfile> inner, double q);

  Bounds LogDelta(double epsilon) const override;
  Bounds TailUnderQ(double epsilon) const override;
  ProfilePoint Around(double epsilon, double error) const override;
  double SmallestLoss() const override { return smallest_loss_; }
  double LargestLoss() const override { return largest_loss_; }
  double Cost() const override { return 1 + inner_->Cost(); }
  bool exact() const override { return inner_->exact(); }

 private:
  std::shared_ptr<const PrivacyProfile> inner_;
  double q_;
  double log_q_;
  double rest_;  // 1 - q, off by half an ulp
  double smallest_loss_;
  double largest_loss_;
};

// Returns the profiles of both directions.
DirectedProfiles PoissonSampledProfiles(const DirectedProfiles& inner, double q);

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_PROFILE_POISSON_SAMPLED_PROFILE_H_
