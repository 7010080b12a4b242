#ifndef EPSLEDGER_ACCOUNTING_PROFILE_TRADE_OFF_CURVE_PROFILE_H_
#define EPSLEDGER_ACCOUNTING_PROFILE_TRADE_OFF_CURVE_PROFILE_H_

#include <vector>

#include "accounting/event/mechanism_event.h"
#include "accounting/profile/privacy_profile.h"

namespace epsledger::accounting {

// The largest profile that a trade-off function f, promised for both orders of every pair, allows:
// delta(epsilon) = sup_a (1 - f(a) - e^epsilon a) over the points of the curve ([DRS19] Prop 2.12);
// only the lower convex hull of the points matters. Not exact.
// Error: 16 ulp of the largest of 1 - f(a) - a and |e^epsilon - 1| a. Cost: O(log points).
class TradeOffCurveProfile final : public PrivacyProfile {
 public:
  // REQUIRES: Validate(curve) is OK.
  explicit TradeOffCurveProfile(const TradeOffCurve& curve);

  Bounds LogDelta(double epsilon) const override;
  Bounds TailUnderQ(double epsilon) const override;
  double InfinityMass() const override { return infinity_mass_; }
  bool exact() const override { return false; }

 private:
  struct Point {
    double type_one;
    double type_two;
  };
  // Returns the hull point with the largest 1 - f(a) - x a, up to rounding.
  size_t Best(double x) const;

  std::vector<Point> hull_;  // type_one increasing, convex
  double infinity_mass_;
};

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_PROFILE_TRADE_OFF_CURVE_PROFILE_H_
