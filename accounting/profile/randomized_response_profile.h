#ifndef EPSLEDGER_ACCOUNTING_PROFILE_RANDOMIZED_RESPONSE_PROFILE_H_
#define EPSLEDGER_ACCOUNTING_PROFILE_RANDOMIZED_RESPONSE_PROFILE_H_

#include <cstdint>

#include "accounting/numeric/bounds.h"
#include "accounting/profile/privacy_profile.h"

namespace epsledger::accounting {

// Randomized response over k buckets with noise parameter p, where one value is replaced by
// another. With high = 1 - p + p/k and low = p/k the loss is epsilon0 = log(high / low) with
// probability high, -epsilon0 with probability low, and 0 otherwise. It is its own reverse:
//   delta(epsilon) = high (1 - e^{epsilon - epsilon0})                  for 0 <= epsilon <=
//   epsilon0 the same + (k - 2) low (1 - e^epsilon)                              for -epsilon0 <=
//   epsilon < 0.
// Relative error of delta: 16 ulp. Cost: 0.1 us.
class RandomizedResponseProfile final : public PrivacyProfile {
 public:
  // REQUIRES: 0 < noise_parameter < 1, num_buckets >= 2.
  RandomizedResponseProfile(double noise_parameter, int64_t num_buckets);

  Bounds LogDelta(double epsilon) const override;
  Bounds TailUnderQ(double epsilon) const override;
  double InfinityMass() const override;
  double SmallestLoss() const override { return -epsilon0_.upper; }
  double LargestLoss() const override { return epsilon0_.upper; }
  double AtomSpacing() const override;

 private:
  double Delta(double epsilon0, double epsilon) const;
  double Tail(double epsilon0, double epsilon, bool closed) const;

  double high_;
  double low_;
  double rest_;  // the probability of all other buckets
  Bounds epsilon0_;
};

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_PROFILE_RANDOMIZED_RESPONSE_PROFILE_H_
