#include "accounting/renyi/closed_form.h"

#include <algorithm>
#include <cmath>

#include "accounting/classical/approximate_dp.h"
#include "accounting/numeric/constants.h"
#include "accounting/numeric/log_space.h"
#include "accounting/numeric/rounding.h"

namespace epsledger::accounting {
namespace {

// log(1 + m) / (a - 1) for m = M - 1 known to `operations` ulp; log_m where m overflows.
double FromMoment(double order, double m, double operations) {
  return RoundUp(std::log1p(RoundUp(m, operations)) / (order - 1), 3);
}

// log E_Q[(P/Q)^a] for two outcomes of likelihood ratio e^lambda and e^-lambda and probabilities
// p and p e^-lambda under P, equal elsewhere; p_minus is p (1 - e^-lambda).
//   M - 1 = p (e^x - 1) + p e^-lambda (e^-x - 1) = (1 - e^-x) (p (e^x - 1) + p_minus),
// x = (a - 1) lambda: a product and a sum of positive numbers.
double TwoOutcomes(double order, double lambda, double p, double p_minus) {
  const double x = (order - 1) * lambda;
  if (x < 700) {
    const double m = -std::expm1(-x) * (p * std::expm1(x) + p_minus);
    return FromMoment(order, m, 8 + 2 * x);
  }
  // M <= p e^x + 1.
  const double log_m = LogAddExp(std::log(p) + x, 0);
  return RoundUp(log_m / (order - 1), 10);
}

}  // namespace

double GaussianRenyi(double order, double mu) {
  if (mu == 0) return 0;
  return RoundUp(0.5 * order * mu * mu, 3);
}

double LaplaceRenyi(double order, double noise_multiplier, double shift) {
  const double theta = RoundUp(shift / noise_multiplier);
  if (!std::isfinite(theta)) return kInfinity;
  // M = a/(2a-1) e^{(a-1) theta} + (a-1)/(2a-1) e^{-a theta}; the terms of first order cancel.
  // The code uses 1/a, since 2a - 1 overflows at orders near 1e308.
  const double inverse = 1 / order;
  const double weight = 1 / (2 - inverse);
  const double rest = ((order - 1) * inverse) * weight;
  const double x = (order - 1) * theta;
  double divergence = kInfinity;
  if (x < 700) {
    const double m = weight * Expm1MinusX(x) + rest * Expm1MinusX(-order * theta);
    divergence = FromMoment(order, m, 16 + 4 * order * theta);
  } else {
    const double log_m = LogAddExp(std::log(weight) + x, -order * theta);
    divergence = RoundUp(log_m / (order - 1), 10);
  }
  if (!(divergence > 0)) divergence = kInfinity;
  // The mechanism is theta-DP ([DMNS06]).
  return std::min({divergence, theta, PureDpRenyi(order, theta)});
}

double PureDpRenyi(double order, double epsilon) {
  if (epsilon == 0) return 0;
  if (!std::isfinite(epsilon)) return kInfinity;
  const double p = 1 / (1 + std::exp(-epsilon));
  const double exact = TwoOutcomes(order, epsilon, p, std::tanh(0.5 * epsilon));
  return std::min({exact, epsilon, RoundUp(0.5 * order * epsilon * epsilon, 3)});
}

double BoundedRangeRenyi(double order, double epsilon) {
  if (epsilon == 0) return 0;
  // The largest moment over all positions of the range (README, "Bounded range"):
  //   M = A/a s^{a-1} / (1 - e^-eps),  s = (a-1) A / (a B),  A = 1 - e^{-a eps},
  //   B = e^-eps (1 - e^{-(a-1) eps}).
  const double excess = order - 1;
  const double log_a = Log1mExp(-order * epsilon);
  const double log_b = Log1mExp(-excess * epsilon);
  const double log_c = Log1mExp(-epsilon);
  const double shrink = std::log1p(-1 / order);
  const double log_order = std::log(order);
  const double divergence =
      (shrink + log_a - log_b + epsilon) + (log_a - log_order - log_c) / excess;
  const double magnitude = std::abs(shrink) + std::abs(log_a) + std::abs(log_b) + epsilon +
                           (std::abs(log_a) + log_order + std::abs(log_c) + 4) / excess;
  const double optimal = NextUp(divergence + 16 * kUnitRoundoff * magnitude);
  return std::min({std::isnan(optimal) ? kInfinity : optimal,
                   RoundUp(0.125 * order * epsilon * epsilon, 3), PureDpRenyi(order, epsilon)});
}

double RandomizedResponseRenyi(double order, double noise_parameter, int64_t num_buckets) {
  const double lambda = RandomizedResponseEpsilon(noise_parameter, num_buckets);
  if (!std::isfinite(lambda)) return kInfinity;
  const double truth = 1 - noise_parameter;
  const double p = truth + noise_parameter / static_cast<double>(num_buckets);
  return std::min({TwoOutcomes(order, lambda, p, truth), lambda, PureDpRenyi(order, lambda)});
}

}  // namespace epsledger::accounting
