#include "accounting/trade_off/laplace.h"

#include <algorithm>
#include <cmath>

#include "accounting/numeric/constants.h"
#include "accounting/numeric/rounding.h"

namespace epsledger::accounting {
namespace {

// The three branches agree to first order where they meet, so a branch chosen wrongly because of
// rounding is off by the square of the rounding.
double TradeOff(double theta, double alpha) {
  const double shrink = std::exp(-theta);
  if (alpha >= 0.5) return shrink * (1 - alpha);
  if (alpha < 0.5 * shrink) return 1 - std::exp(theta) * alpha;  // at least 1/2
  return shrink / (4 * alpha);
}

double Delta(double theta, double epsilon) {
  if (epsilon >= theta) return 0;
  if (epsilon <= -theta) return -std::expm1(epsilon);
  return -std::expm1(0.5 * (epsilon - theta));
}

}  // namespace

Bounds LaplaceTradeOff(Bounds theta, double alpha) {
  if (std::isnan(alpha) || std::isnan(theta.lower) || std::isnan(theta.upper)) return Bounds{0, 1};
  if (alpha >= 1) return Bounds{0, 0};
  const double ceiling = std::min(1.0, RoundUp(1 - std::max(alpha, 0.0)));
  if (alpha <= 0)
    return Bounds{theta.upper == kInfinity ? 0.0 : 1.0, theta.lower == kInfinity ? 0.0 : 1.0};
  // The function decreases as theta grows.
  return Bounds{std::min(ceiling, RoundDownNonNegative(TradeOff(theta.upper, alpha), 6)),
                std::min(ceiling, RoundUpNonNegative(TradeOff(theta.lower, alpha), 6))};
}

Bounds LaplaceDelta(Bounds theta, double epsilon) {
  if (std::isnan(epsilon) || std::isnan(theta.lower) || std::isnan(theta.upper)) return {0, 1};
  return Bounds{RoundDownNonNegative(Delta(theta.lower, epsilon), 4),
                std::min(1.0, RoundUpNonNegative(Delta(theta.upper, epsilon), 4))};
}

}  // namespace epsledger::accounting
