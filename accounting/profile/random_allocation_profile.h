#ifndef EPSLEDGER_ACCOUNTING_PROFILE_RANDOM_ALLOCATION_PROFILE_H_
#define EPSLEDGER_ACCOUNTING_PROFILE_RANDOM_ALLOCATION_PROFILE_H_

#include <cstdint>
#include <vector>

#include "accounting/profile/privacy_profile.h"

namespace epsledger::accounting {

// The profile of a pair whose ratio r = dP/dQ takes finitely many values:
//   delta = infinity_mass + sum_i masses_i (ratios_i - e^epsilon)_+,   masses under Q.
// Not exact. Cost: a binary search.
class RatioTableProfile final : public PrivacyProfile {
 public:
  // Each mass carries a relative error of at most `relative_error`; the ratios are as given.
  // REQUIRES: ratios >= 0 finite and increasing, at least one; as many masses, >= 0;
  // infinity_mass >= 0; relative_error < 0.1.
  RatioTableProfile(std::vector<double> ratios, std::vector<double> masses, double infinity_mass,
                    double relative_error);

  Bounds LogDelta(double epsilon) const override;
  Bounds TailUnderQ(double epsilon) const override;
  double InfinityMass() const override;
  double SmallestLoss() const override;
  double LargestLoss() const override;
  bool exact() const override { return false; }

 private:
  std::vector<double> ratios_;
  std::vector<double> delta_;  // at x = ratios_[i]
  std::vector<double> tail_;   // Q[r >= ratios_[i]]
  double infinity_mass_;
  double relative_error_;
};

// `rounds` uses of a mechanism, in one of which, uniformly random, the record takes part. No pair
// of data sets with and without the record has more than the profiles that are returned, whether
// or not each use was chosen after the outputs before it.
//
// If (P, Q) has the profile inner.remove, remove is that of the average of the t products with one
// P, against Q^t ([FS25] Thm 3.1; accounting/profile/README.md, "Random allocation", with a proof
// for any mechanism); its ratio G is the average of t independent copies of r = dP/dQ. add likewise
// from inner.add. E(G - x)_+ and E(1 - x G)_+ are convex functions of each r: the law of r is
// replaced by one on a grid whose chords lie above the inner profile, and each average of two is
// moved to the grid with its mean kept, which only raises them. What is left out, 1e-50 a step,
// counts as told. More than 2^20 rounds count as 2^20, which have more.
// REQUIRES: rounds >= 1. Cost: some 5 ms for each doubling of the rounds.
DirectedProfiles RandomAllocationProfiles(const DirectedProfiles& inner, int64_t rounds);

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_PROFILE_RANDOM_ALLOCATION_PROFILE_H_
