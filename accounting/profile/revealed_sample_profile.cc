#include "accounting/profile/revealed_sample_profile.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "accounting/numeric/constants.h"
#include "accounting/numeric/log_space.h"
#include "accounting/numeric/rounding.h"

namespace epsledger::accounting {
RevealedSampleProfile::RevealedSampleProfile(std::shared_ptr<const PrivacyProfile> inner, double q,
                                             bool attained)
    : inner_(std::move(inner)), q_(q), attained_(attained) {}

Bounds RevealedSampleProfile::LogDelta(double epsilon) const {
  const Bounds inner = inner_->LogDelta(epsilon);
  const double log_q = std::log(q_);
  Bounds drawn{
      inner.lower == -kInfinity ? -kInfinity : RoundDown(inner.lower + RoundDown(log_q, 2)),
      inner.upper == -kInfinity ? -kInfinity : RoundUp(inner.upper + RoundUp(log_q, 2))};
  if (epsilon < 0 && q_ < 1) {
    const double rest = std::log1p(-q_) + Log1mExp(epsilon);
    drawn.lower = RoundDown(LogAddExp(drawn.lower, RoundDown(rest, 6)), 6);
    drawn.upper = RoundUp(LogAddExp(drawn.upper, RoundUp(rest, 6)), 6);
  }
  return Bounds{std::min(0.0, drawn.lower), std::min(0.0, drawn.upper)};
}

Bounds RevealedSampleProfile::TailUnderQ(double epsilon) const {
  const Bounds inner = inner_->TailUnderQ(epsilon);
  // Records that are not drawn have no loss.
  const double above = epsilon < 0 ? 1 - q_ : 0;
  const double not_below = epsilon <= 0 ? 1 - q_ : 0;
  return Bounds{std::max(0.0, RoundDown(q_ * inner.lower + above, 3)),
                std::min(1.0, RoundUpNonNegative(q_ * inner.upper + not_below, 3))};
}

double RevealedSampleProfile::InfinityMass() const {
  return RoundUpNonNegative(q_ * inner_->InfinityMass());
}

double RevealedSampleProfile::SmallestLoss() const {
  return q_ < 1 ? std::min(0.0, inner_->SmallestLoss()) : inner_->SmallestLoss();
}

double RevealedSampleProfile::LargestLoss() const {
  return q_ < 1 ? std::max(0.0, inner_->LargestLoss()) : inner_->LargestLoss();
}

}  // namespace epsledger::accounting
