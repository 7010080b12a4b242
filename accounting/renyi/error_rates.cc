#include "accounting/renyi/error_rates.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "accounting/event/domain.h"
#include "accounting/numeric/constants.h"
#include "accounting/numeric/log_space.h"
#include "accounting/numeric/rounding.h"
#include "accounting/numeric/search.h"

namespace epsledger::accounting {
namespace {

// Returns at most log E_Q[(dP/dQ)^a] of two outcomes, from the logarithms of their probabilities.
double LogMomentBelow(double order, double log_p, double log_rest_p, double log_q,
                      double log_rest_q) {
  const double first = order * log_p + (1 - order) * log_q;
  const double second = order * log_rest_p + (1 - order) * log_rest_q;
  if (first == kInfinity || second == kInfinity) return kInfinity;
  // A term of probability 0 under both laws is no term.
  const double moment = std::isnan(first)    ? second
                        : std::isnan(second) ? first
                                             : LogAddExp(first, second);
  double magnitude = 1;
  for (const double x : {log_p, log_rest_p, log_q, log_rest_q}) {
    if (std::isfinite(x)) magnitude += order * std::abs(x);
  }
  return moment - 8 * kUlp * magnitude;
}

// True if a test with these errors proves a divergence above `divergence`, in one of the orders.
bool Exceeds(double order, double divergence, bool both_orders, double alpha, double beta) {
  const double k = RoundUpNonNegative((order - 1) * divergence, 2);
  const double log_power = std::log1p(-beta);
  const double log_beta = std::log(beta);
  const double log_alpha = std::log(alpha);
  const double log_rest = std::log1p(-alpha);
  return LogMomentBelow(order, log_power, log_beta, log_alpha, log_rest) > k ||
         (both_orders && LogMomentBelow(order, log_alpha, log_rest, log_power, log_beta) > k);
}

// The divergence of two outcomes is convex in beta and 0 at beta = 1 - alpha: the errors of all
// smaller beta exceed it too.
double BetaAtOrder(double order, double divergence, bool both_orders, double alpha) {
  if (!std::isfinite(divergence)) return 0;
  const double never = RoundDown(1 - alpha);
  const double least = std::numeric_limits<double>::min();
  const auto allowed = [&](double log_beta) {
    return Exceeds(order, divergence, both_orders, alpha, std::exp(log_beta)) ? -1.0 : 1.0;
  };
  if (!(never > least) || allowed(std::log(least)) > 0) return 0;
  const double top = std::log(never);
  if (allowed(top) < 0) return never;
  return RoundDownNonNegative(
      std::exp(NarrowCrossing(allowed, std::log(least), top, 1e-15, 70).holds), 2);
}

}  // namespace

Conversion TypeTwoErrorFromRenyi(absl::FunctionRef<double(double order)> divergence,
                                 bool both_orders, double delta, double alpha) {
  Conversion best{0, 0};
  const double kept = RoundDown(1 - delta);
  if (!(kept > 0) || !(alpha < 1)) return best;
  // The release of (0, delta) reveals all with probability delta and nothing otherwise ([KOV15] Thm
  // 3.1); the errors are then those of the rest times 1 - delta.
  const double inner = delta == 0 ? alpha : std::min(1.0, RoundUp(alpha / kept));
  const auto at = [&](double log_excess) {
    const double order = 1 + std::exp(log_excess);
    const double beta = BetaAtOrder(order, divergence(order), both_orders, inner);
    if (beta > best.value) best = Conversion{beta, order};
    return -beta;
  };
  // beta need not have one maximum over the orders.
  constexpr double kFirst = -13, kLast = 20, kStep = 0.5;
  double start = kFirst;
  for (double x = kFirst; x <= kLast; x += kStep) {
    const double before = best.value;
    at(x);
    if (best.value > before) start = x;
  }
  MinimizeFrom(at, start, 0.5 * kStep, kFirst, kLast, 1e-6, 40);
  if (delta > 0) best.value = RoundDownNonNegative(best.value * kept);
  return best;
}

}  // namespace epsledger::accounting
