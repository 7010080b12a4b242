#include "accounting/classical/optimal_homogeneous.h"

#include <algorithm>
#include <cmath>

#include "accounting/classical/basic_and_advanced.h"
#include "accounting/classical/binomial_mass.h"
#include "accounting/classical/log_concave_sum.h"
#include "accounting/classical/smallest_epsilon.h"
#include "accounting/event/domain.h"
#include "accounting/numeric/constants.h"
#include "accounting/numeric/log_space.h"
#include "accounting/numeric/rounding.h"

namespace epsledger::accounting {
namespace {

constexpr double kLargestCount = 0x1p53;
constexpr double kTolerance = 1.6e-8;     // 1e5 blocks, 2e-9 wide
constexpr double kRoughTolerance = 1e-4;  // 1e3 blocks, for searches

// Returns how far the loss of `successes` lies above epsilon. It has one rounding: the sign is
// right, and since both terms are multiples of 2^-1074 the result never underflows to 0.
double Gap(const BinomialMass& mass, double successes, double epsilon) {
  return std::fma(mass.epsilon0(), 2 * successes - mass.count(), -epsilon);
}

// The smallest j with a loss above epsilon. REQUIRES: 0 <= epsilon < epsilon0 count.
double FirstAbove(const BinomialMass& mass, double epsilon) {
  const double trials = mass.count();
  const double difference = std::min(trials, std::floor(epsilon / mass.epsilon0()));
  double j = std::min(trials, std::floor(difference / 2 + trials / 2));
  while (j > 0 && Gap(mass, j - 1, epsilon) > 0) --j;
  while (j < trials && !(Gap(mass, j, epsilon) > 0)) ++j;
  return j;
}

// log sum_{j >= first} P(j) (1 - e^{epsilon - L_j}): all terms positive, and log-concave since both
// log P and log(1 - e^{-gap}) are concave in j.
Bounds LogDeltaByTerms(const BinomialMass& mass, double first, double epsilon, double tolerance) {
  const auto term = [&](double j) {
    const Approximation log_p = mass.LogMass(j);
    const double log_weight = std::log(-std::expm1(-Gap(mass, j, epsilon)));
    const double value = log_p.value + log_weight;
    return Approximation{value, log_p.error + kUlp * (4 + std::abs(log_weight) + std::abs(value))};
  };
  // -(log(1 - e^{-g}))'' = 1 / (4 sinh^2(g/2)) <= 1 / g^2, and a step of j is one of 2 epsilon0 in
  // g.
  const auto curvature = [&](double low, double high) {
    const double weight = 2 * mass.epsilon0() / Gap(mass, low, epsilon);
    return RoundUp(mass.LogMassCurvature(low, high) + weight * weight, 4);
  };
  const double start = std::clamp(mass.Mode(), std::min(first + 1, mass.count()), mass.count());
  return LogConcaveSum(term, curvature, first, mass.count(), start, tolerance);
}

// 1 - delta = sum_{j < first} P(j) + sum_{j >= first} P(j) e^{epsilon - L_j}.
Bounds LogComplementByTerms(const BinomialMass& mass, double first, double epsilon,
                            double tolerance) {
  const auto curvature = [&](double low, double high) { return mass.LogMassCurvature(low, high); };
  const auto tilted = [&](double j) {
    const Approximation log_p = mass.LogMass(j);
    const double gap = Gap(mass, j, epsilon);
    const double value = log_p.value - gap;
    return Approximation{value, log_p.error + kUlp * (gap + std::abs(value))};
  };
  // The tilted law is Q, whose mode is below count / 2 < first.
  const Bounds above = LogConcaveSum(tilted, curvature, first, mass.count(), first, tolerance);
  if (first == 0) return above;
  const Bounds below = LogConcaveSum([&](double j) { return mass.LogMass(j); }, curvature, 0,
                                     first - 1, std::min(mass.Mode(), first - 1), tolerance);
  const double lower = LogAddExp(above.lower, below.lower);
  const double upper = LogAddExp(above.upper, below.upper);
  return Bounds{RoundDown(lower, 4) - 4 * kUlp, RoundUp(upper, 4) + 4 * kUlp};
}

Bounds AtMostOne(Bounds log) { return Bounds{std::min(0.0, log.lower), std::min(0.0, log.upper)}; }

bool Known(double epsilon0, double count) {
  return epsilon0 >= 0 && count >= 1 && (count == std::floor(count) || count == kInfinity);
}

Bounds LogDelta(double epsilon0, double count, Bounds log_keep, double epsilon, double tolerance) {
  if (!Known(epsilon0, count) || !std::isfinite(epsilon)) return Bounds{-kInfinity, 0};
  if (count <= kLargestCount && epsilon0 <= kLargestEpsilon) {
    return WithReveal(log_keep, RandomizedResponseProfile(epsilon0, count, epsilon, tolerance));
  }
  // Lower bound: fewer runs, or runs of a smaller epsilon0, are a post-processing. Upper bound:
  // basic composition.
  const ProfileValue least = RandomizedResponseProfile(
      std::min(epsilon0, kLargestEpsilon), std::min(count, kLargestCount), epsilon, tolerance);
  const double sum = epsilon0 == 0 ? 0 : RoundUp(count * epsilon0);
  const double revealed = std::min(0.0, LogReveal(log_keep).upper);
  const double delta = RoundUpNonNegative(std::exp(revealed), 8 + std::abs(revealed));
  const double upper = std::isfinite(sum) && std::isfinite(count)
                           ? ApproximateDpLogDelta({sum, std::min(1.0, delta)}, epsilon)
                           : 0;
  return Bounds{std::min(upper, WithReveal(log_keep, least).lower), upper};
}

}  // namespace

ProfileValue RandomizedResponseProfile(double epsilon0, double count, double epsilon,
                                       double tolerance) {
  if (epsilon < 0) {
    // The pair is its own reverse: delta(-e) = 1 - e^-e + e^-e delta(e).
    const ProfileValue mirrored = RandomizedResponseProfile(epsilon0, count, -epsilon, tolerance);
    const double floor = Log1mExp(epsilon);
    const auto combine = [&](double log_delta) { return LogAddExp(floor, epsilon + log_delta); };
    const double lower = combine(mirrored.log_delta.lower);
    const double upper = combine(mirrored.log_delta.upper);
    return ProfileValue{AtMostOne({RoundDown(lower, 8) - 8 * kUlp, RoundUp(upper, 8) + 8 * kUlp}),
                        AtMostOne({RoundDown(epsilon + mirrored.log_complement.lower),
                                   RoundUp(epsilon + mirrored.log_complement.upper)})};
  }
  // No loss above epsilon.
  if (epsilon0 == 0 || std::fma(epsilon0, count, -epsilon) <= 0) {
    return ProfileValue{{-kInfinity, -kInfinity}, {0, 0}};
  }
  const BinomialMass mass(epsilon0, count);
  const double first = FirstAbove(mass, epsilon);
  ProfileValue value;
  value.log_delta = AtMostOne(LogDeltaByTerms(mass, first, epsilon, tolerance));
  value.log_complement = LogOfComplement(value.log_delta);
  if (value.log_delta.upper > -kLog2) {
    const Bounds complement = AtMostOne(LogComplementByTerms(mass, first, epsilon, tolerance));
    value.log_complement = Bounds{std::max(value.log_complement.lower, complement.lower),
                                  std::min(value.log_complement.upper, complement.upper)};
    const Bounds log_delta = LogOfComplement(value.log_complement);
    value.log_delta = Bounds{std::max(value.log_delta.lower, log_delta.lower),
                             std::min(value.log_delta.upper, log_delta.upper)};
  }
  return value;
}

Bounds OptimalLogDelta(double epsilon0, double count, Bounds log_keep, double epsilon) {
  return LogDelta(epsilon0, count, log_keep, epsilon, kTolerance);
}

Bounds OptimalEpsilon(double epsilon0, double count, Bounds log_keep, double log_delta) {
  if (!Known(epsilon0, count)) return Bounds{0, kInfinity};
  if (log_delta >= 0) return Bounds{0, 0};
  // Rounded up, so that every loss is proved to be at most this.
  const double largest = epsilon0 == 0 ? 0 : RoundUp(count * epsilon0);
  if (!std::isfinite(largest) || std::isnan(log_delta)) return Bounds{0, kInfinity};
  const auto at = [&](double epsilon) {
    return LogDelta(epsilon0, count, log_keep, epsilon, kTolerance);
  };
  const auto rough_at = [&](double epsilon) {
    return LogDelta(epsilon0, count, log_keep, epsilon, kRoughTolerance);
  };
  return SmallestEpsilon(at, rough_at, largest, log_delta);
}

Bounds OptimalLogDelta(const ApproximateDpParameters& each, double count, double epsilon) {
  if (!(each.delta >= 0)) return Bounds{-kInfinity, 0};
  return OptimalLogDelta(each.epsilon, count, LogKeep({{each, count}}), epsilon);
}

Bounds OptimalEpsilon(const ApproximateDpParameters& each, double count, double log_delta) {
  if (!(each.delta >= 0)) return Bounds{0, kInfinity};
  return OptimalEpsilon(each.epsilon, count, LogKeep({{each, count}}), log_delta);
}

}  // namespace epsledger::accounting
