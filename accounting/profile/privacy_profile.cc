#include "accounting/profile/privacy_profile.h"

#include <algorithm>
#include <cmath>

#include "accounting/numeric/constants.h"
#include "accounting/numeric/rounding.h"

namespace epsledger::accounting {
namespace {

double DeltaUpper(const PrivacyProfile& profile, double epsilon) {
  if (epsilon == -kInfinity) return 1;
  if (epsilon == kInfinity) return std::min(1.0, RoundUpNonNegative(profile.InfinityMass(), 0));
  const double log_delta = profile.LogDelta(epsilon).upper;
  if (log_delta == -kInfinity) return 0;
  return std::min(1.0, RoundUp(std::exp(log_delta), 1));
}

double DeltaLower(const PrivacyProfile& profile, double epsilon) {
  if (epsilon == -kInfinity) return 1;
  if (epsilon == kInfinity) return 0;  // an infinite mass is not known to be attained
  return RoundDownNonNegative(std::exp(profile.LogDelta(epsilon).lower), 1);
}

double TailUpper(const PrivacyProfile& profile, double epsilon) {
  if (epsilon == -kInfinity) return 1;
  return epsilon == kInfinity ? 0 : profile.TailUnderQ(epsilon).upper;
}

double TailLower(const PrivacyProfile& profile, double epsilon) {
  if (epsilon == kInfinity) return 0;
  // Q may have mass where P has none: L = -inf there.
  return epsilon == -kInfinity ? 0 : profile.TailUnderQ(epsilon).lower;
}

}  // namespace

ProfilePoint PrivacyProfile::Around(double epsilon, double error) const {
  if (std::isnan(epsilon) || !(error >= 0)) return ProfilePoint{{0, 1}, {0, 1}};
  if (error == 0 && std::isfinite(epsilon)) {
    const Bounds log_delta = LogDelta(epsilon);
    return ProfilePoint{
        {RoundDownNonNegative(std::exp(log_delta.lower), 1),
         log_delta.upper == -kInfinity ? 0 : std::min(1.0, RoundUp(std::exp(log_delta.upper), 1))},
        TailUnderQ(epsilon)};
  }
  // Both decrease in epsilon. inf - inf: the interval is the whole line.
  const double low = error == 0           ? epsilon
                     : error == kInfinity ? -kInfinity
                                          : NextDown(epsilon - error);
  const double high = error == 0           ? epsilon
                      : error == kInfinity ? kInfinity
                                           : NextUp(epsilon + error);
  return ProfilePoint{{DeltaLower(*this, high), DeltaUpper(*this, low)},
                      {TailLower(*this, high), TailUpper(*this, low)}};
}

}  // namespace epsledger::accounting
