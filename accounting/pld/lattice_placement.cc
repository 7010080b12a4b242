#include "accounting/pld/lattice_placement.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace epsledger::accounting {
namespace {

constexpr double kSmallestLowerMass = 2e-14;
constexpr double kLargestLoss = 1e7;

// Returns a number strictly below x: an atom at a multiple of x must lie above a lattice point, not
// on it, so that the measure from below keeps the largest loss.
double CutTo28Bits(double x) {
  int exponent = 0;
  const double mantissa = std::frexp(x, &exponent);
  return std::ldexp(std::ceil(std::ldexp(mantissa, 28)) - 1, exponent - 28);
}

// Bisects between a point where `beyond` holds and one where it does not; returns the point where
// it holds.
template <class Condition>
double Narrow(double holds, double fails, const Condition& beyond) {
  for (int i = 0; i < 24 && std::abs(holds - fails) > 0.02 * std::abs(holds); ++i) {
    const double middle = 0.5 * (holds + fails);
    (beyond(middle) ? holds : fails) = middle;
  }
  return holds;
}

// Steps from 0 by growing steps until `beyond` holds, or until the end.
template <class Condition>
double StepOut(double end, double first_step, const Condition& beyond) {
  const double sign = end > 0 ? 1 : -1;
  const double limit = std::min(std::abs(end), kLargestLoss);
  double fails = 0;
  for (double at = std::min(first_step, limit);; at = std::min(4 * at, limit)) {
    if (beyond(sign * at)) return Narrow(sign * at, sign * fails, beyond);
    if (at >= limit) return sign * limit;
    fails = at;
  }
}

}  // namespace

Bounds LossRange(const PrivacyProfile& profile, double log_tail) {
  constexpr double kFirstStep = 1e-7;
  const auto above = [&](double epsilon) { return profile.LogDelta(epsilon).upper <= log_tail; };
  const auto below = [&](double epsilon) {
    const double mass = 1 - std::exp(profile.LogDelta(epsilon).upper) -
                        std::exp(epsilon) * profile.TailUnderQ(epsilon).upper;
    return mass <= kSmallestLowerMass;
  };
  Bounds range{0, 0};
  if (profile.SmallestLoss() < 0) {
    range.lower = StepOut(profile.SmallestLoss(), kFirstStep, below);
  }
  if (profile.LargestLoss() > 0) {
    range.upper = StepOut(profile.LargestLoss(), kFirstStep, above);
  }
  return range;
}

Lattice CoveringLattice(const PrivacyProfile& profile, Bounds range, double interval) {
  Lattice lattice;
  lattice.interval = interval;
  lattice.first = static_cast<int64_t>(std::floor(range.lower / interval));
  double upper = range.upper;
  // Including the largest loss costs a point or two and avoids a tail.
  if (profile.LargestLoss() <= upper + 2 * interval) upper = profile.LargestLoss();
  lattice.last = static_cast<int64_t>(std::ceil(upper / interval));
  lattice.last = std::max(lattice.last, lattice.first + 2);
  return lattice;
}

double AlignedInterval(double interval, const std::vector<double>& spacings,
                       const std::vector<double>& weights) {
  double heaviest = 0;
  double spacing = 0;
  for (size_t i = 0; i < spacings.size(); ++i) {
    // Atoms closer than the interval cannot all have a point: this would take too many points.
    if (spacings[i] >= 0.5 * interval && spacings[i] > 0 && weights[i] > heaviest) {
      heaviest = weights[i];
      spacing = spacings[i];
    }
  }
  if (heaviest == 0) return CutTo28Bits(interval);
  // Candidates divide the heaviest spacing; the others decide among them.
  const double least = std::max(1.0, std::ceil(spacing / interval));
  double best = CutTo28Bits(spacing / least);
  double best_cost = std::numeric_limits<double>::infinity();
  for (double parts = least; parts <= 2 * least && parts < least + 200; ++parts) {
    const double candidate = CutTo28Bits(spacing / parts);
    double cost = 0;
    for (size_t i = 0; i < spacings.size(); ++i) {
      if (spacings[i] <= 0) continue;
      const double ratio = spacings[i] / candidate;
      cost += weights[i] * (ratio - std::floor(ratio)) * candidate;
    }
    if (cost < 0.7 * best_cost) {
      best_cost = cost;
      best = candidate;
    }
  }
  return best;
}

}  // namespace epsledger::accounting
