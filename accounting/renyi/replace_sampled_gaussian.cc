#include "accounting/renyi/replace_sampled_gaussian.h"

#include <algorithm>
#include <cmath>

#include "accounting/gaussian/log_mixture.h"
#include "accounting/numeric/computed.h"
#include "accounting/numeric/constants.h"
#include "accounting/numeric/rounding.h"
#include "accounting/renyi/moment_quadrature.h"

namespace epsledger::accounting {
namespace {

constexpr double kLeastOrder = 1 + 1e-6;
constexpr double kMostGridPoints = 20'000;

MomentPair::Point PointAt(double t, double shift, double q) {
  const Computed above = LogMixtureAt(t, shift, q, 0).value;
  const Computed below = LogMixtureAt(t, -shift, q, 0).value;
  const double log_ratio = above.value - below.value;
  const double half = 0.5 * t * t;
  return {{log_ratio, above.error + below.error + kUlp * std::abs(log_ratio)},
          {below.value - half, below.error + kUlp * (std::abs(below.value) + 2 * half)}};
}

}  // namespace

double ReplaceSampledGaussianRenyi(const SampledGaussian& mechanism, double order) {
  const double q = mechanism.sampling_probability;
  const double fallback =
      SampledGaussianConvexityBound({q, 0.5 * mechanism.noise_multiplier}, order);
  const double a = std::max(order, kLeastOrder);  // the divergence grows with the order
  const double shift = RoundUp(1 / mechanism.noise_multiplier);  // and with the shift
  if (!(q < 1) || !(shift > 1e-6 && shift < 1e3) || !(a < 1e5)) return fallback;

  // To the right the log of P over N(0, 1) rises by at most the shift, and Q is at least (1 - q)
  // N(0, 1); to the left r^a - 1 - a (r - 1) <= a, and Q is at most N(-shift, 1) where that is
  // larger than N(0, 1).
  const auto at = [&](double t) { return PointAt(t, shift, q); };
  const auto right = [&](double t) {
    const Computed log_p = LogMixtureAt(t, shift, q, 0).value;
    return a * (log_p.value + log_p.error - std::log1p(-q));
  };
  const auto left = [&](double t) {
    return std::log(a) + 1e-9 + std::max(0.0, shift * t - 0.5 * shift * shift);
  };
  const double log_least =  // near (a (a - 1) / 2) E[(r - 1)^2], to choose the step by
      std::log(a * (a - 1)) + 2 * std::log(q * std::min(1.0, shift));
  const MomentPair pair{at, shift, true, {right, a * shift}, {left, shift}};
  return std::min(fallback, MomentQuadrature(pair, a, log_least, kMostGridPoints));
}

}  // namespace epsledger::accounting
