#include "accounting/classical/smallest_epsilon.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "accounting/event/domain.h"
#include "accounting/numeric/rounding.h"
#include "accounting/numeric/search.h"

namespace epsledger::accounting {
namespace {

// log_delta - target, where both may be -inf.
double Excess(double log_delta, double target) {
  if (log_delta <= target) return log_delta == target ? 0 : std::max(log_delta - target, -1e300);
  return log_delta - target;
}

}  // namespace

Bounds SmallestEpsilon(absl::FunctionRef<Bounds(double)> log_delta_at,
                       absl::FunctionRef<Bounds(double)> rough_log_delta_at, double largest,
                       double log_delta) {
  if (std::isnan(log_delta)) return Bounds{0, kInfinity};
  if (log_delta >= 0) return Bounds{0, 0};
  const auto excess = [&](double epsilon) {
    return Excess(log_delta_at(epsilon).upper, log_delta);
  };
  const auto rough = [&](double epsilon) {
    const Bounds bounds = rough_log_delta_at(epsilon);
    return Excess(bounds.lower / 2 + bounds.upper / 2, log_delta);
  };
  const Bounds at_largest = log_delta_at(largest);
  if (at_largest.lower > log_delta) return Bounds{kInfinity, kInfinity};
  double upper = largest;
  double low = 0;
  double slope = 0;  // of log delta, downhill, near the answer
  if (!(at_largest.upper <= log_delta)) {
    upper = kInfinity;
  } else if (excess(0) <= 0) {
    return Bounds{0, 0};
  } else if (log_delta > -kInfinity) {
    // First a rough search, then two ends around its result, then the real search between them.
    const double near = rough(0) > 0 ? NarrowCrossing(rough, largest, 0, 1e-9, 60).holds : 0;
    double pad = 4e-9 * near + std::numeric_limits<double>::min();
    double high = std::min(largest, near + pad);
    double at_high = excess(high);
    while (at_high > 0 && high < largest) {
      low = high;
      high = std::min(largest, near + (pad *= 16));
      at_high = excess(high);
    }
    low = std::min(low, near);
    for (double step = 4e-9 * near; low == 0 && near > 0; step *= 16) {
      const double epsilon = near - step;
      if (!(epsilon > 0)) break;
      if (excess(epsilon) > 0) {
        low = epsilon;
      } else {
        high = epsilon;
      }
    }
    const Crossing crossing = NarrowCrossing(excess, high, low, 2e-15, 40);
    upper = crossing.holds;
    low = crossing.fails;
    const double wide = std::max(upper * 1e-7, upper - low);
    const double before = rough(std::max(0.0, upper - wide));
    slope = (before - rough(upper)) / wide;
  }
  if (upper == 0) return Bounds{0, 0};
  // Steps down from the upper end until the profile proves that epsilon is too small.
  const double from = std::min(upper, largest);
  double step = 8 * kUnitRoundoff * from + std::numeric_limits<double>::denorm_min();
  const double shortfall = log_delta - log_delta_at(from).lower;
  if (slope > 0 && std::isfinite(shortfall)) {
    step = std::max(step, std::min(1.5 * shortfall / slope, 1e-11 * from));
  }
  for (double epsilon = from - step; epsilon > 0; step *= 4, epsilon -= step) {
    if (log_delta_at(epsilon).lower > log_delta) return Bounds{epsilon, upper};
  }
  return Bounds{0, upper};
}

}  // namespace epsledger::accounting
