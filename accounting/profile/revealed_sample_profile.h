#ifndef EPSLEDGER_ACCOUNTING_PROFILE_REVEALED_SAMPLE_PROFILE_H_
#define EPSLEDGER_ACCOUNTING_PROFILE_REVEALED_SAMPLE_PROFILE_H_

#include <memory>

#include "accounting/profile/privacy_profile.h"

namespace epsledger::accounting {

// Poisson sampling with probability q, under replace-special, of a mechanism that may tell whether
// the record was drawn. A record that is drawn is one of the pair (P, Q), and one that is not is in
// neither; the outputs are (1-q) R + q P and (1-q) R + q Q with any R, which are farthest apart
// where R tells itself apart from P and Q:
//   delta'(epsilon) <= q delta(epsilon) + (1-q) (1 - e^epsilon)_+,
// by the convexity of (x - e^epsilon y)_+ in the pair (x, y), with equality for such an R. So delta
// shrinks and epsilon does not: what is amplified is not a mechanism of which only its privacy is
// known. Where the output without a record is that with "nothing" in its place, as for noise that
// is added to a sum, R is Q, and PoissonSampledProfiles has the smaller profile.
// Exact where the inner one is: its mechanism with "drawn" or "not drawn" beside its output.
// Error: the inner profile's and a few ulp. Cost: the inner profile's.
class RevealedSampleProfile final : public PrivacyProfile {
 public:
  // REQUIRES: 0 < q <= 1; inner not null.
  RevealedSampleProfile(std::shared_ptr<const PrivacyProfile> inner, double q);

  Bounds LogDelta(double epsilon) const override;
  Bounds TailUnderQ(double epsilon) const override;
  double InfinityMass() const override;
  double SmallestLoss() const override;
  double LargestLoss() const override;
  double AtomSpacing() const override { return inner_->AtomSpacing(); }
  double Cost() const override { return 1 + inner_->Cost(); }
  bool exact() const override { return inner_->exact(); }

 private:
  std::shared_ptr<const PrivacyProfile> inner_;
  double q_;
};

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_PROFILE_REVEALED_SAMPLE_PROFILE_H_
