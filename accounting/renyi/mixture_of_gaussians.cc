#include "accounting/renyi/mixture_of_gaussians.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "accounting/numeric/constants.h"
#include "accounting/numeric/log_space.h"
#include "accounting/numeric/rounding.h"
#include "accounting/renyi/log_moment.h"
#include "accounting/renyi/moment_quadrature.h"

namespace epsledger::accounting {
namespace {

constexpr double kLeastMixtureOrder = 1 + 1e-6;
constexpr double kMostMixturePoints = 20'000;
// Terms of one divergence: points times parts.
constexpr double kMostMixtureTerms = 2e6;
// Below this weight of shift 0 it does not bound the density from below well.
constexpr double kUsefulAtZero = 0.01;

double Above(const GaussianMixture& mixture, double t) {
  const Computed value = mixture.At(t).value;
  return value.value + value.error;
}
double Below(const GaussianMixture& mixture, double t) {
  const Computed value = mixture.At(t).value;
  return value.value - value.error;
}

Computed Times(const Computed& x, double sign) { return {sign * x.value, x.error}; }

// log of a density over that of N(0, 1), times that of N(0, 1).
Computed OnLine(const Computed& log_ratio, double t) {
  const double half = 0.5 * t * t;
  return {log_ratio.value - half, log_ratio.error + kUlp * (std::abs(log_ratio.value) + 2 * half)};
}

// sum w_i (e^{a (a-1) (distance s_i)^2 / 2} - 1) as a divergence.
double ConvexityRenyi(const GaussianMixture& mixture, double order, double distance) {
  double log_excess = -kInfinity;
  double magnitude = 0;
  for (const MixturePart& part : mixture.parts()) {
    const double shift = distance * part.shift;
    const double exponent = RoundUp(0.5 * order * (order - 1) * shift * shift, 8);
    if (!(exponent < kInfinity)) return kInfinity;
    const double log_weight = std::log(part.weight);
    log_excess = LogAddExp(log_excess, log_weight + LogExpm1(exponent));
    magnitude = std::max(magnitude, exponent - log_weight);
  }
  if (mixture.parts().empty()) return 0;
  const double error =
      8 * kUlp * (magnitude + std::abs(log_excess) + static_cast<double>(mixture.terms()) + 4) +
      3 * mixture.relative_error() * (magnitude + 1);
  return DivergenceFromExcess(log_excess, error, order);
}

// A guess at log(E[r^a] - 1), near (a (a - 1) / 2) E[(r - 1)^2].
double LogLeast(const GaussianMixture& mixture, double order) {
  double mean = 0;
  for (const MixturePart& part : mixture.parts()) mean += part.weight * std::min(1.0, part.shift);
  return std::log(order * (order - 1)) + 2 * std::log(mean);
}

bool CanIntegrate(const GaussianMixture& mixture, double order) {
  return mixture.largest_shift() > 1e-6 && mixture.largest_shift() < 1e3 && order < 1e5;
}

double MostPoints(const GaussianMixture& mixture) {
  return std::min(kMostMixturePoints,
                  kMostMixtureTerms / static_cast<double>(mixture.parts().size() + 1));
}

double LargestShift(const GaussianMixture& mixture) {
  return mixture.largest_shift() * (1 + mixture.relative_error() + 4 * kUlp);
}

// -log of the weight of shift 0, rounded up.
double LogOneOverAtZero(const GaussianMixture& mixture) {
  return NextUp(-std::log(mixture.at_zero()) + 2 * mixture.relative_error() +
                kUlp * static_cast<double>(mixture.terms() + 8));
}

}  // namespace

double MixtureConvexityRenyi(const GaussianMixture& mixture, double order) {
  return ConvexityRenyi(mixture, std::max(order, kLeastMixtureOrder), 1);
}

double MixtureRemoveRenyi(const GaussianMixture& mixture, double order) {
  const double a = std::max(order, kLeastMixtureOrder);
  const double convexity = ConvexityRenyi(mixture, a, 1);
  if (!CanIntegrate(mixture, a)) return convexity;
  const double shift = LargestShift(mixture);
  const auto at = [&](double t) {
    return MomentPair::Point{mixture.At(t).value, OnLine({0, 0}, t)};
  };
  // Right of half the largest shift r >= 1, and the remainder is at most r^a; left of 0 r <= 1, and
  // it is at most a.
  const auto right = [&](double t) { return a * Above(mixture, t); };
  const auto left = [&](double) { return std::log(a) + 1e-9; };
  const MomentPair pair{at, shift, false, {right, a * shift}, {left, 0}};
  return std::min(convexity, MomentQuadrature(pair, a, LogLeast(mixture, a), MostPoints(mixture)));
}

double MixtureAddRenyi(const GaussianMixture& mixture, double order) {
  const double a = std::max(order, kLeastMixtureOrder);
  const double convexity = ConvexityRenyi(mixture, a, 1);
  if (!CanIntegrate(mixture, a)) return convexity;
  const double shift = LargestShift(mixture);
  const auto at = [&](double t) {
    const Computed log_density = mixture.At(t).value;
    return MomentPair::Point{Times(log_density, -1), OnLine(log_density, t)};
  };
  // Left of 0 r = 1/g >= 1, r^a g = g^{1-a}, and log g falls by at most the largest shift a unit.
  const bool at_zero = mixture.at_zero() > kUsefulAtZero;
  const auto right = [&](double t) { return std::log(a) + 1e-9 + Above(mixture, t); };
  const auto left = [&](double t) {
    return (a - 1) * (at_zero ? LogOneOverAtZero(mixture) : -Below(mixture, -t));
  };
  const MomentPair pair{at, shift, true, {right, shift}, {left, at_zero ? 0 : (a - 1) * shift}};
  return std::min(convexity, MomentQuadrature(pair, a, LogLeast(mixture, a), MostPoints(mixture)));
}

double MixtureReplaceRenyi(const GaussianMixture& mixture, double order) {
  const double a = std::max(order, kLeastMixtureOrder);
  const double convexity = ConvexityRenyi(mixture, a, 2);
  if (!CanIntegrate(mixture, a)) return convexity;
  const double shift = LargestShift(mixture);
  const auto at = [&](double t) {
    const Computed above = mixture.At(t).value;
    const Computed below = mixture.At(-t).value;
    const double log_ratio = above.value - below.value;
    return MomentPair::Point{{log_ratio, above.error + below.error + kUlp * std::abs(log_ratio)},
                             OnLine(below, t)};
  };
  const bool at_zero = mixture.at_zero() > kUsefulAtZero;
  const auto right = [&](double t) {
    return a * Above(mixture, t) +
           (a - 1) * (at_zero ? LogOneOverAtZero(mixture) : -Below(mixture, -t));
  };
  const auto left = [&](double t) { return std::log(a) + 1e-9 + Above(mixture, t); };
  const MomentPair pair{at, shift, true, {right, (at_zero ? a : 2 * a - 1) * shift}, {left, shift}};
  return std::min(convexity,
                  MomentQuadrature(pair, a, LogLeast(mixture, a), 0.5 * MostPoints(mixture)));
}

std::vector<MixturePart> CoarserMixture(std::vector<MixturePart> parts, size_t most) {
  if (parts.size() <= most) return parts;
  double largest = 0;
  for (const MixturePart& part : parts) largest = std::max(largest, part.shift);
  const double width = largest / static_cast<double>(most - 1);
  std::map<double, double> weights;  // by the shift moved up
  for (const MixturePart& part : parts) {
    const double up =
        std::min(largest, std::max(part.shift, std::ceil(part.shift / width) * width));
    weights[up] += part.weight;
  }
  std::vector<MixturePart> coarser;
  for (const auto& [shift, weight] : weights) coarser.push_back({shift, weight});
  return coarser;
}

}  // namespace epsledger::accounting
