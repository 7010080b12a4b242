#ifndef EPSLEDGER_ACCOUNTING_PROFILE_FINITE_PAIR_PROFILE_H_
#define EPSLEDGER_ACCOUNTING_PROFILE_FINITE_PAIR_PROFILE_H_

#include <memory>
#include <vector>

#include "accounting/event/finite_pair.h"
#include "accounting/profile/privacy_profile.h"

namespace epsledger::accounting {

// A pair of laws on finitely many outcomes: delta(epsilon) = sum (P - e^epsilon Q)_+, one sum per
// likelihood ratio, kept for all ratios above each one. Only positive numbers are added.
// Relative error of delta: 16 ulp and twice FinitePair::relative_error, which also moves epsilon by
// as much: 1e-14 of a pair as given, some 1e-12 of a product (SeveralReleases). Below epsilon =
// -600 the upper end is 1. Cost: O(log outcomes).
class FinitePairProfile final : public PrivacyProfile {
 public:
  explicit FinitePairProfile(const FinitePair& pair);

  Bounds LogDelta(double epsilon) const override;
  Bounds TailUnderQ(double epsilon) const override;
  ProfilePoint Around(double epsilon, double error) const override;
  double InfinityMass() const override { return only_p_.upper; }
  double SmallestLoss() const override { return smallest_loss_; }
  double LargestLoss() const override { return largest_loss_; }
  double AtomSpacing() const override { return atom_spacing_; }

 private:
  // The smallest and the largest e^epsilon that stand for epsilon, with the relative error.
  double LowX(double epsilon) const;
  double HighX(double epsilon) const;
  // How many ratios are above x.
  size_t Above(double x) const;
  double Model(double x) const;
  double DeltaUpper(double epsilon) const;
  double DeltaLower(double epsilon) const;
  double TailUpper(double epsilon) const;
  double TailLower(double epsilon) const;

  std::vector<double> ratios_;  // falling
  std::vector<double> model_;   // at each ratio
  std::vector<double> tail_;    // Q of this ratio and those above it
  Bounds only_p_;
  bool q_has_more_;
  double tiny_tail_;
  double relative_error_;
  double smallest_loss_;
  double largest_loss_;
  double atom_spacing_;
};

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_PROFILE_FINITE_PAIR_PROFILE_H_
