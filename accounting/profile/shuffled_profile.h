#ifndef EPSLEDGER_ACCOUNTING_PROFILE_SHUFFLED_PROFILE_H_
#define EPSLEDGER_ACCOUNTING_PROFILE_SHUFFLED_PROFILE_H_

#include <cstdint>
#include <vector>

#include "accounting/numeric/bounds.h"
#include "accounting/profile/privacy_profile.h"

namespace epsledger::accounting {

// The profile of a pair that dominates `reports` shuffled reports of one epsilon0-DP local
// randomizer, when one record is replaced (accounting/analytics/README.md, "Shuffled reports", with
// the proof; [FMT21]). With q = 1 / (e^epsilon0 + 1):
//   C ~ Binomial(reports - 1, e^-epsilon0),  A ~ Binomial(C, 1/2),  D ~ Bernoulli(1 - q),
//   P = (A + D, C - A + 1 - D),     Q = (A + 1 - D, C - A + D).
// C is rounded down to one of some hundred values: fewer hide a record less. The pair is its own
// reverse; no randomizer need attain it. Relative error: 1e-9, and 1e-290 absolute. Cost: some 0.2
// ms.
class ShuffledProfile final : public PrivacyProfile {
 public:
  // The largest epsilon0 and number of reports. A larger epsilon0 makes nothing of shuffling; more
  // reports hide at least as well.
  static constexpr double kLargestEpsilon0 = 100;
  static constexpr int64_t kMostReports = 1'000'000'000;

  // REQUIRES: 0 < epsilon0 <= kLargestEpsilon0, reports >= 1; above kMostReports it counts as that.
  ShuffledProfile(double epsilon0, int64_t reports);

  Bounds LogDelta(double epsilon) const override;
  Bounds TailUnderQ(double epsilon) const override;
  double SmallestLoss() const override { return -epsilon0_; }
  double LargestLoss() const override { return epsilon0_; }
  double Cost() const override { return 20 * static_cast<double>(blocks_.size()); }
  bool exact() const override { return false; }

 private:
  // All C with clones <= C < the clones of the next block.
  struct Block {
    double clones;
    double probability;
  };
  // For one value of C: the best test of P against e^epsilon Q accepts n >= `first` reports of the
  // first kind.
  struct Threshold {
    double first;
    bool uncertain;  // first + 1 may be meant
  };
  Threshold ThresholdAt(double epsilon, double clones) const;

  const double epsilon0_;
  std::vector<Block> blocks_;
};

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_PROFILE_SHUFFLED_PROFILE_H_
