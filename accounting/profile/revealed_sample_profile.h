#ifndef EPSLEDGER_ACCOUNTING_PROFILE_REVEALED_SAMPLE_PROFILE_H_
#define EPSLEDGER_ACCOUNTING_PROFILE_REVEALED_SAMPLE_PROFILE_H_

#include <memory>

#include "accounting/profile/privacy_profile.h"

namespace epsledger::accounting {

// Poisson sampling with probability q, under replace-special or replace-one, of a mechanism whose
// output may reveal whether the record was drawn. If the record is drawn, the output has law P or
// Q; if not, it has some law R under both data sets. The outputs are (1-q) R + q P and (1-q) R + q
// Q with any R, which are farthest apart where R is distinguishable from P and Q:
//   delta'(epsilon) <= q delta(epsilon) + (1-q) (1 - e^epsilon)_+,
// by the convexity of (x - e^epsilon y)_+ in the pair (x, y), with equality for such an R. So delta
// shrinks and epsilon does not: sampling does not amplify a mechanism of which only the privacy
// guarantee is known. Where the output without a record equals that with "nothing" in its place, as
// for noise that is added to a sum and for Poisson samples of such releases, R is Q, and
// PoissonSampledProfiles has the smaller profile.
// Under replace-special exact where the inner profile is and only a guarantee is known: the inner
// mechanism that also outputs "drawn" or "not drawn" attains it. Under replace-one an upper bound
// alone: of a mechanism that is known, the output without the record is too. Error: that of the
// inner profile and a few ulp. Cost: that of the inner profile.
class RevealedSampleProfile final : public PrivacyProfile {
 public:
  // REQUIRES: 0 < q <= 1; inner not null.
  RevealedSampleProfile(std::shared_ptr<const PrivacyProfile> inner, double q,
                        bool attained = true);

  Bounds LogDelta(double epsilon) const override;
  Bounds TailUnderQ(double epsilon) const override;
  double InfinityMass() const override;
  double SmallestLoss() const override;
  double LargestLoss() const override;
  double AtomSpacing() const override { return inner_->AtomSpacing(); }
  double Cost() const override { return 1 + inner_->Cost(); }
  bool exact() const override { return attained_ && inner_->exact(); }

 private:
  std::shared_ptr<const PrivacyProfile> inner_;
  double q_;
  bool attained_;
};

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_PROFILE_REVEALED_SAMPLE_PROFILE_H_
