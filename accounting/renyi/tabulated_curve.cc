#include "accounting/renyi/tabulated_curve.h"

#include <algorithm>

#include "accounting/event/domain.h"
#include "accounting/numeric/rounding.h"

namespace epsledger::accounting {

TabulatedRenyiCurve::TabulatedRenyiCurve(const RenyiCurve& curve)
    : orders_(curve.orders), divergences_(curve.divergences), hull_orders_{1}, hull_values_{0} {
  for (size_t i = divergences_.size(); i-- > 1;) {
    divergences_[i - 1] = std::min(divergences_[i - 1], divergences_[i]);
  }
  for (size_t i = 0; i < orders_.size(); ++i) {
    const double x = orders_[i];
    const double y = divergences_[i] == 0 ? 0 : RoundUp((x - 1) * divergences_[i], 2);
    // The last hull point is removed while it lies on or above the chord from the point before it
    // to here. Rounding may keep or drop a point that lies on it to the last digit: both give a
    // valid bound.
    while (hull_orders_.size() >= 2) {
      const size_t n = hull_orders_.size();
      const double from_x = hull_orders_[n - 2], from_y = hull_values_[n - 2];
      const double chord = from_y + (y - from_y) * ((hull_orders_[n - 1] - from_x) / (x - from_x));
      if (hull_values_[n - 1] < chord) break;
      hull_orders_.pop_back();
      hull_values_.pop_back();
    }
    hull_orders_.push_back(x);
    hull_values_.push_back(y);
  }
}

double TabulatedRenyiCurve::Divergence(double order) const {
  const auto next = std::lower_bound(orders_.begin(), orders_.end(), order);
  if (next == orders_.end()) return kInfinity;
  const double monotone = divergences_[next - orders_.begin()];
  const size_t i =
      std::lower_bound(hull_orders_.begin(), hull_orders_.end(), order) - hull_orders_.begin();
  const double share = (order - hull_orders_[i - 1]) / (hull_orders_[i] - hull_orders_[i - 1]);
  const double value = hull_values_[i - 1] + share * (hull_values_[i] - hull_values_[i - 1]);
  // Divided by order - 1: the rounding of the sum is relative to its larger end.
  const double error = 8 * 2 * kUnitRoundoff * std::max(hull_values_[i], hull_values_[i - 1]);
  return std::min(monotone, RoundUp((value + error) / (order - 1), 4));
}

}  // namespace epsledger::accounting
