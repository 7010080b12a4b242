#include "accounting/renyi/conversion.h"

#include <algorithm>
#include <cmath>

#include "accounting/event/domain.h"
#include "accounting/numeric/constants.h"
#include "accounting/numeric/log_space.h"
#include "accounting/numeric/rounding.h"
#include "accounting/numeric/search.h"

namespace epsledger::accounting {
namespace {

// In log(a - 1): sufficient at a smooth minimum, where the objective is flat to second order.
constexpr double kSearchTolerance = 2e-5;
// At a kink (where the second hump of a sampled Gaussian's moment takes over within a thousandth of
// an order) the objective moves as far as log(a - 1) does.
constexpr double kKinkTolerance = 1.5e-8;
// An order so close to 1 that its divergence is an upper bound on the KL divergence, accurate to a
// few digits.
constexpr double kKlOrder = 1 + 1e-6;

// log sqrt(1 - e^{-KL}): the largest delta at epsilon = 0 ([BH78]; TV is the same both ways).
double LogTotalVariation(double kl) {
  if (!(kl < kInfinity)) return 0;
  if (kl == 0) return -kInfinity;
  return std::min(0.0, RoundUp(0.5 * Log1mExp(-kl), 4) + 4 * kUlp);
}

// Returns the log(a - 1) of the minimum if D_a were rho a.
double StartFromRho(double excess_squared) {
  if (!(excess_squared > 0) || !std::isfinite(excess_squared)) return 0;
  return std::clamp(0.5 * std::log(excess_squared), std::log(1e-3), std::log(1e8));
}

// Returns the minimum of an objective with one minimum, smooth or kinked.
Minimum Search(absl::FunctionRef<double(double)> objective, double start) {
  const double low = std::log(kSmallestOrderExcess);
  const double high = std::log(kLargestOrderExcess);
  const Minimum smooth = MinimizeFrom(objective, start, 0.5, low, high, kSearchTolerance);
  if (!std::isfinite(smooth.value)) return smooth;
  const double step = 4 * kSearchTolerance;
  const double rise = std::max(objective(std::max(low, smooth.at - step)),
                               objective(std::min(high, smooth.at + step))) -
                      smooth.value;
  if (rise <= 1e-7 * std::abs(smooth.value)) return smooth;
  const Minimum kink = MinimizeFrom(objective, smooth.at, step, low, high, kKinkTolerance);
  return kink.value < smooth.value ? kink : smooth;
}

double FirstFinite(absl::FunctionRef<double(double)> divergence) {
  const double at_two = divergence(2);
  return std::isfinite(at_two) ? at_two : divergence(1.1) * 2;
}

}  // namespace

double EpsilonAtOrder(double order, double divergence, double log_delta) {
  const double excess = order - 1;
  const double shrink = std::log1p(-1 / order);
  const double log_order = std::log(order);
  const double from_delta = -(log_delta + log_order) / excess;
  const double epsilon = (divergence + shrink) + from_delta;
  const double magnitude =
      std::abs(divergence) + std::abs(shrink) + (std::abs(log_delta) + log_order) / excess;
  if (!(magnitude < kInfinity)) return kInfinity;
  // `shrink` near a = 1 carries the rounding of 1/a, relative to a - 1.
  return NextUp(epsilon + 8 * kUlp * magnitude + kUlp / excess);
}

double LargestDivergence(double order, double epsilon, double log_delta) {
  const double at_zero = EpsilonAtOrder(order, 0, log_delta);
  if (!(at_zero < kInfinity)) return -kInfinity;
  double divergence = RoundDown(epsilon - at_zero, 2);
  // Checks the guarantee on the returned number itself.
  for (int i = 0; i < 8 && EpsilonAtOrder(order, divergence, log_delta) > epsilon; ++i) {
    divergence -= 16 * kUlp * (std::abs(divergence) + std::abs(epsilon) + std::abs(at_zero));
  }
  return EpsilonAtOrder(order, divergence, log_delta) <= epsilon ? divergence : -kInfinity;
}

Conversion EpsilonFromRenyi(absl::FunctionRef<double(double)> divergence, double log_delta) {
  if (std::isnan(log_delta) || log_delta == -kInfinity) {
    // At delta = 0 no finite order gives a bound, except if nothing was released.
    return Conversion{divergence(kKlOrder) == 0 && divergence(2) == 0 ? 0 : kInfinity, 0};
  }
  if (log_delta >= 0) return Conversion{0, 0};
  const auto objective = [&](double log_excess) {
    const double order = 1 + std::exp(log_excess);
    return EpsilonAtOrder(order, divergence(order), log_delta);
  };
  const double start = StartFromRho(-log_delta / (0.5 * FirstFinite(divergence)));
  const Minimum best = Search(objective, start);
  const double order = 1 + std::exp(best.at);
  if (best.value <= 0) return Conversion{0, order};
  if (log_delta >= LogTotalVariation(divergence(kKlOrder))) return Conversion{0, kKlOrder};
  return Conversion{best.value, order};
}

Conversion LogDeltaFromRenyi(absl::FunctionRef<double(double)> divergence, double epsilon) {
  if (std::isnan(epsilon)) return Conversion{0, 0};
  const auto objective = [&](double log_excess) {
    const double order = 1 + std::exp(log_excess);
    const double excess = order - 1;
    const double d = divergence(order);
    const double shrink = std::log1p(-1 / order);
    const double log_order = std::log(order);
    const double magnitude = excess * (d + std::abs(shrink) + std::abs(epsilon)) + log_order;
    if (!(magnitude < kInfinity)) return kInfinity;
    return NextUp(excess * (d + shrink - epsilon) - log_order + 8 * kUlp * magnitude + kUlp);
  };
  const double rho = 0.5 * FirstFinite(divergence);
  const double root = (epsilon - rho) / (2 * rho);
  const Minimum best = Search(objective, StartFromRho(root > 0 ? root * root : 0));
  Conversion conversion{std::min(0.0, best.value), 1 + std::exp(best.at)};
  if (epsilon >= 0) {
    // delta(epsilon) <= delta(0) for epsilon >= 0.
    const double log_variation = LogTotalVariation(divergence(kKlOrder));
    if (log_variation < conversion.value) conversion = Conversion{log_variation, kKlOrder};
  }
  return conversion;
}

}  // namespace epsledger::accounting
