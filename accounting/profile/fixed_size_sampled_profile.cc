#include "accounting/profile/fixed_size_sampled_profile.h"

namespace epsledger::accounting {

FixedSizeSampledProfile::FixedSizeSampledProfile(const std::shared_ptr<const PrivacyProfile>& inner,
                                                 double q)
    : above_(inner, q), below_(inner, q) {}

Bounds FixedSizeSampledProfile::LogDelta(double epsilon) const {
  return epsilon >= 0 ? above_.LogDelta(epsilon) : below_.LogDelta(epsilon);
}

Bounds FixedSizeSampledProfile::TailUnderQ(double epsilon) const {
  if (epsilon > 0) return above_.TailUnderQ(epsilon);
  if (epsilon < 0) return below_.TailUnderQ(epsilon);
  // A kink: the slope to the right is that of one pair, and to the left that of the other.
  return Bounds{above_.TailUnderQ(0).lower, below_.TailUnderQ(0).upper};
}

ProfilePoint FixedSizeSampledProfile::Around(double epsilon, double error) const {
  if (epsilon - error > 0) return above_.Around(epsilon, error);
  if (epsilon + error < 0) return below_.Around(epsilon, error);
  return PrivacyProfile::Around(epsilon, error);
}

}  // namespace epsledger::accounting
