#ifndef EPSLEDGER_ACCOUNTING_PROFILE_MIXED_PROFILE_H_
#define EPSLEDGER_ACCOUNTING_PROFILE_MIXED_PROFILE_H_

#include <memory>
#include <vector>

#include "accounting/profile/privacy_profile.h"

namespace epsledger::accounting {

// One of several pairs, chosen with the same probability on both sides:
//   delta(epsilon) = revealed + sum_i weight_i delta_i(epsilon).
// It is the profile of the pair that also tells which i was chosen, and hence, by joint convexity,
// no less than that of the mixtures sum weight_i P_i against sum weight_i Q_i. With probability
// `revealed` the data set is told. Not exact: the mixtures themselves may have less.
//
// Bounds hold for all weights and `revealed` that are not above the given ones and sum to 1: these
// are rounded up. Error: that of the parts, 4 ulp for each, and on the lower side what the given
// ones sum to beyond 1. Cost: that of the parts.
class MixedProfile final : public PrivacyProfile {
 public:
  struct Part {
    std::shared_ptr<const PrivacyProfile> profile;
    double weight = 0;
  };

  // REQUIRES: at least one part; weights in (0, 1], revealed in [0, 1], together at least 1.
  MixedProfile(std::vector<Part> parts, double revealed);

  Bounds LogDelta(double epsilon) const override;
  Bounds TailUnderQ(double epsilon) const override;
  ProfilePoint Around(double epsilon, double error) const override;
  double InfinityMass() const override;
  double SmallestLoss() const override { return smallest_loss_; }
  double LargestLoss() const override { return largest_loss_; }
  double AtomSpacing() const override;
  double Cost() const override;
  bool exact() const override { return false; }

 private:
  // Rounds a sum over the parts outward, into [0, 1]; `some`: not all upper ends are 0.
  Bounds Rounded(Bounds sum, bool some) const;

  std::vector<Part> parts_;
  double revealed_;
  double excess_;  // >= the sum of all weights and `revealed`, minus 1
  double smallest_loss_;
  double largest_loss_;
};

// The larger of two profiles at every epsilon, where each use may meet either pair. A mechanism may
// attain it in one use, but not in a sequence: not exact. Error: that of the two. Cost: that of
// both.
class LargerProfile final : public PrivacyProfile {
 public:
  LargerProfile(std::shared_ptr<const PrivacyProfile> a, std::shared_ptr<const PrivacyProfile> b);

  Bounds LogDelta(double epsilon) const override;
  Bounds TailUnderQ(double epsilon) const override;
  ProfilePoint Around(double epsilon, double error) const override;
  double InfinityMass() const override;
  double SmallestLoss() const override;
  double LargestLoss() const override;
  double AtomSpacing() const override { return a_->AtomSpacing(); }
  double Cost() const override { return a_->Cost() + b_->Cost(); }
  bool exact() const override { return false; }

 private:
  std::shared_ptr<const PrivacyProfile> a_;
  std::shared_ptr<const PrivacyProfile> b_;
};

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_PROFILE_MIXED_PROFILE_H_
