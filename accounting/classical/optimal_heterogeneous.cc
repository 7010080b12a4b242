#include "accounting/classical/optimal_heterogeneous.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "accounting/classical/binomial_mass.h"
#include "accounting/classical/optimal_homogeneous.h"
#include "accounting/classical/smallest_epsilon.h"
#include "accounting/event/domain.h"
#include "accounting/numeric/constants.h"
#include "accounting/numeric/rounding.h"

namespace epsledger::accounting {
namespace {

constexpr double kMostUses = 0x1p53;

// An unevaluated sum of two doubles.
struct Pair {
  double head;
  double tail;
};

// head + tail = a + b exactly (Knuth's TwoSum).
Pair TwoSum(double a, double b) {
  const double sum = a + b;
  const double b_part = sum - a;
  return Pair{sum, (a - (sum - b_part)) + (b - b_part)};
}

// Returns how often each positive epsilon is spent; nullopt for invalid parameters.
std::optional<std::map<double, double>> CountsByEpsilon(
    const std::vector<CountedParameters>& events) {
  std::map<double, double> counts;
  for (const CountedParameters& e : events) {
    const double epsilon = e.parameters.epsilon;
    if (!(epsilon >= 0 && e.parameters.delta >= 0 && e.count >= 0) ||
        e.count != std::floor(e.count)) {
      return std::nullopt;
    }
    if (epsilon > 0 && e.count > 0) counts[epsilon] += e.count;
  }
  // Beyond 2^53 a sum of counts is rounded; twice the sum is certainly enough, with a loose answer.
  for (auto& [epsilon, count] : counts) {
    if (count > kMostUses) count *= 2;
  }
  return counts;
}

// Returns the only entry of at most one. If nothing was spent, this is one randomized response of
// epsilon 0.
std::pair<double, double> Only(const std::map<double, double>& counts) {
  if (counts.empty()) return {0, 1};
  return {counts.begin()->first, counts.begin()->second};
}

// log(sum) + reference, moved outward; terms were added with equal sign.
Bounds LogOfSums(double reference, double lower, double upper, double additions) {
  const auto slack = [&](double x) { return 4 * kUlp * (std::abs(reference) + std::abs(x) + 1); };
  const double log_lower = std::log(RoundDownNonNegative(lower, additions));
  const double log_upper = std::log(RoundUpNonNegative(upper, additions));
  return Bounds{
      lower > 0 && std::isfinite(log_lower)
          ? std::min(0.0, NextDown(reference + log_lower - slack(log_lower)))
          : -kInfinity,
      upper == 0 ? -kInfinity : std::min(0.0, NextUp(reference + log_upper + slack(log_upper)))};
}

}  // namespace

std::optional<EnumeratedComposition> EnumeratedComposition::Create(
    const std::vector<CountedParameters>& events) {
  const std::optional<std::map<double, double>> counts = CountsByEpsilon(events);
  if (!counts) return std::nullopt;
  double size = 1;
  for (const auto& [epsilon, count] : *counts) {
    size *= count + 1;
    if (!(size <= kLargestOutcomeCount) || epsilon > kLargestEpsilon) return std::nullopt;
  }
  EnumeratedComposition result;
  result.log_keep_ = LogKeep(events);
  result.outcomes_.push_back(Outcome{0, 0, 0, 0});
  for (const auto& [epsilon, count] : *counts) {
    const BinomialMass mass(epsilon, count);
    bool exact = true;
    std::vector<Outcome> next;
    next.reserve(result.outcomes_.size() * static_cast<size_t>(count + 1));
    for (double j = 0; j <= count; ++j) {
      const Approximation log_mass = mass.LogMass(j);
      // The product without error, head + tail: it is a multiple of 2^-1074.
      const double head = epsilon * (2 * j - count);
      const double tail = std::fma(epsilon, 2 * j - count, -head);
      for (const Outcome& o : result.outcomes_) {
        const Pair sum = TwoSum(o.loss, head);
        const Pair tails = TwoSum(o.loss_tail, tail);
        const Pair rest = TwoSum(sum.tail, tails.head);
        const Pair loss = TwoSum(sum.head, rest.head);
        exact = exact && tails.tail == 0 && rest.tail == 0;
        const double log_sum = o.log_mass + log_mass.value;
        next.push_back(Outcome{loss.head, loss.tail, log_sum,
                               o.error + log_mass.error + kUlp * std::abs(log_sum)});
      }
    }
    result.outcomes_ = std::move(next);
    result.largest_loss_ = RoundUp(result.largest_loss_ + RoundUp(epsilon * count));
    // The roundings of tails, which are below 2^-52 of the largest loss. Most sums have none.
    if (!exact) result.loss_error_ += 0x1p-100 * result.largest_loss_;
  }
  return result;
}

ProfileValue EnumeratedComposition::ProfileAt(double epsilon) const {
  // Bounds on the distance of a loss from epsilon.
  const auto gap = [&](const Outcome& o) {
    const Pair difference = TwoSum(o.loss, -epsilon);
    const double value = difference.head + (difference.tail + o.loss_tail);
    const double error = loss_error_ + 2 * kUlp * std::abs(value);
    return Bounds{value - error, value + error};
  };
  const double additions = 2 * static_cast<double>(outcomes_.size()) + 8;
  double reference = -kInfinity;
  for (const Outcome& o : outcomes_) {
    if (gap(o).upper > 0) reference = std::max(reference, o.log_mass);
  }
  if (reference == -kInfinity && epsilon >= 0) return {{-kInfinity, -kInfinity}, {0, 0}};
  ProfileValue value;
  if (reference == -kInfinity) {
    value.log_delta = Bounds{-kInfinity, -kInfinity};
  } else {
    double lower = 0;
    double upper = 0;
    for (const Outcome& o : outcomes_) {
      const Bounds g = gap(o);
      if (!(g.upper > 0)) continue;
      const double mass = std::exp(o.log_mass - reference);
      const double error = o.error + kUlp * (6 + std::abs(o.log_mass - reference));
      lower += mass * -std::expm1(-std::max(0.0, g.lower)) * std::max(0.0, 1 - error);
      upper += mass * -std::expm1(-g.upper) * (1 + 2 * error) + 0x1p-1022;
    }
    value.log_delta = LogOfSums(reference, lower, upper, additions);
  }
  value.log_complement = LogOfComplement(value.log_delta);
  if (value.log_delta.upper < -kLog2) return value;
  // A delta near 1 is more accurate through its complement.
  reference = -kInfinity;
  for (const Outcome& o : outcomes_) {
    reference = std::max(reference, o.log_mass - std::max(0.0, gap(o).lower));
  }
  double lower = 0;
  double upper = 0;
  for (const Outcome& o : outcomes_) {
    const Bounds g = gap(o);
    const double log_low = o.log_mass - std::max(0.0, g.upper) - reference;
    const double log_high = o.log_mass - std::max(0.0, g.lower) - reference;
    const double error = o.error + kUlp * (8 + 2 * std::abs(log_low) + 2 * std::abs(reference));
    lower += std::exp(log_low) * std::max(0.0, 1 - error);
    upper += std::exp(log_high) * (1 + 2 * error) + 0x1p-1022;
  }
  const auto narrow = [](Bounds& bounds, const Bounds& other) {
    bounds = Bounds{std::max(bounds.lower, other.lower), std::min(bounds.upper, other.upper)};
  };
  narrow(value.log_complement, LogOfSums(reference, lower, upper, additions));
  narrow(value.log_delta, LogOfComplement(value.log_complement));
  return value;
}

Bounds EnumeratedComposition::LogDelta(double epsilon) const {
  if (!std::isfinite(epsilon)) return Bounds{-kInfinity, 0};
  return WithReveal(log_keep_, ProfileAt(epsilon));
}

Bounds EnumeratedComposition::Epsilon(double log_delta) const {
  if (log_delta >= 0) return Bounds{0, 0};
  if (!std::isfinite(largest_loss_)) return Bounds{0, kInfinity};
  const auto at = [&](double epsilon) { return LogDelta(epsilon); };
  // Lies above the rounded losses, so that their errors leave no doubt about the largest loss.
  return SmallestEpsilon(at, at, RoundUpNonNegative(largest_loss_, 4), log_delta);
}

std::optional<Bounds> OptimalLogDelta(const std::vector<CountedParameters>& events,
                                      double epsilon) {
  const std::optional<std::map<double, double>> counts = CountsByEpsilon(events);
  if (!counts) return std::nullopt;
  if (counts->size() <= 1) {
    const auto [each, count] = Only(*counts);
    return OptimalLogDelta(each, count, LogKeep(events), epsilon);
  }
  const std::optional<EnumeratedComposition> all = EnumeratedComposition::Create(events);
  if (!all) return std::nullopt;
  return all->LogDelta(epsilon);
}

std::optional<Bounds> OptimalEpsilon(const std::vector<CountedParameters>& events,
                                     double log_delta) {
  const std::optional<std::map<double, double>> counts = CountsByEpsilon(events);
  if (!counts) return std::nullopt;
  if (counts->size() <= 1) {
    const auto [each, count] = Only(*counts);
    return OptimalEpsilon(each, count, LogKeep(events), log_delta);
  }
  const std::optional<EnumeratedComposition> all = EnumeratedComposition::Create(events);
  if (!all) return std::nullopt;
  return all->Epsilon(log_delta);
}

}  // namespace epsledger::accounting
