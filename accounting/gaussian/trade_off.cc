#include "accounting/gaussian/trade_off.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "accounting/numeric/constants.h"
#include "accounting/numeric/normal.h"
#include "accounting/numeric/rounding.h"

namespace epsledger::accounting {

Bounds GaussianTradeOff(Bounds mu, double alpha) {
  if (std::isnan(alpha) || std::isnan(mu.lower) || std::isnan(mu.upper)) return Bounds{0, 1};
  if (mu.lower == kInfinity) return Bounds{0, 0};
  if (alpha <= 0) return Bounds{mu.upper == kInfinity ? 0.0 : 1.0, 1};
  if (alpha >= 1) return Bounds{0, 0};
  if (mu.upper == 0) {
    const double rest = 1 - alpha;
    const double missing = 1 - rest;  // exact: rest is alpha's exact complement, or at least 1/2
    return Bounds{missing < alpha ? NextDown(rest) : rest, missing > alpha ? NextUp(rest) : rest};
  }
  const Bounds t = NormalUpperQuantileBounds(alpha);
  // Phi rounded outward by its own error and that of the subtraction inside.
  const auto phi = [](double z, double sign) {
    const double value = NormalCdf(z);
    return value * (1 + sign * (2 * kNormalRelativeError + 4 * kUnitRoundoff)) +
           sign * std::numeric_limits<double>::denorm_min();
  };
  const double z_low = RoundDown(t.lower - mu.upper);
  const double z_high = RoundUp(t.upper - mu.lower);
  // f(x) <= 1 - x for every trade-off function.
  return Bounds{std::max(0.0, phi(z_low, -1)), std::min({1.0, NextUp(1 - alpha), phi(z_high, +1)})};
}

}  // namespace epsledger::accounting
