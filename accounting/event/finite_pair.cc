#include "accounting/event/finite_pair.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "accounting/numeric/compensated_sum.h"
#include "accounting/numeric/constants.h"
#include "accounting/numeric/rounding.h"

namespace epsledger::accounting {
namespace {

// An outcome is tiny below this.
constexpr double kSmallestNormal = 1e-290;
// The absolute error of MissingMass.
constexpr double kMissingError = 1e-23;

// The mass of one outcome under both laws.
struct Masses {
  double p;
  double q;
};

// What one law lacks: nothing, once its numbers are divided, or a mass.
struct Missing {
  double divisor = 1;
  double relative_error = 0;  // of the numbers after the division
  Bounds mass{0, 0};
};
Missing MissingOf(const std::vector<double>& probabilities) {
  const double missing = MissingMass(probabilities);
  if (missing == 0) return {.relative_error = 2 * kMissingError};
  if (missing <= kSumRounding) return {.divisor = 1 - missing, .relative_error = 2 * kUlp};
  return {
      .mass = {RoundDownNonNegative(missing - kMissingError), RoundUp(missing + kMissingError)}};
}

// `relative_error` is that of every mass.
FinitePair Sorted(const std::vector<Masses>& all, Bounds only_p, Bounds only_q,
                  double relative_error) {
  FinitePair pair;
  CompensatedSum p_alone, q_alone, tiny_p, tiny_q;
  for (const auto& [p, q] : all) {
    if (q == 0) {
      p_alone.Add(p);
    } else if (p == 0) {
      q_alone.Add(q);
    } else if (q < kSmallestNormal || p / q < kSmallestNormal) {
      tiny_p.Add(p);
      tiny_q.Add(q);
      pair.has_tiny = true;
    } else {
      pair.outcomes.push_back({p / q, q});
    }
  }
  std::sort(pair.outcomes.begin(), pair.outcomes.end(),
            [](const auto& a, const auto& b) { return a.ratio > b.ratio; });
  size_t last = 0;
  for (size_t i = 0; i < pair.outcomes.size();) {
    const double ratio = pair.outcomes[i].ratio;
    CompensatedSum q;
    for (; i < pair.outcomes.size() && pair.outcomes[i].ratio == ratio; ++i) {
      q.Add(pair.outcomes[i].q);
    }
    pair.outcomes[last++] = {ratio, q.value()};
  }
  pair.outcomes.resize(last);
  const auto plus = [&](Bounds mass, const CompensatedSum& alone, const CompensatedSum& tiny) {
    const double known = alone.value();
    return Bounds{
        RoundDownNonNegative(mass.lower + known * (1 - relative_error), 4),
        std::min(1.0, RoundUpNonNegative(mass.upper + (known + tiny.value()) * (1 + relative_error),
                                         4))};
  };
  pair.only_p = plus(only_p, p_alone, tiny_p);
  pair.only_q = plus(only_q, q_alone, tiny_q);
  pair.relative_error = RoundUp(relative_error + 3 * kUlp);  // of the ratio and of the sum
  return pair;
}

std::vector<Masses> MassesOf(const DominatingPair& event, const Missing& p, const Missing& q) {
  std::vector<Masses> all(event.first_probabilities.size());
  for (size_t i = 0; i < all.size(); ++i) {
    all[i] = {event.first_probabilities[i] / p.divisor, event.second_probabilities[i] / q.divisor};
  }
  return all;
}

}  // namespace

double MissingMass(const std::vector<double>& probabilities) {
  CompensatedSum rest;
  rest.Add(1);
  for (const double p : probabilities) rest.Add(-p);
  return rest.value();
}

double FinitePair::LargestLoss() const {
  if (outcomes.empty()) return 0;
  const double loss = std::max(std::abs(std::log(outcomes.front().ratio)),
                               std::abs(std::log(outcomes.back().ratio)));
  return RoundUp(loss + 2 * relative_error, 3);
}

FinitePair FinitePairOf(const DominatingPair& event) {
  const Missing p = MissingOf(event.first_probabilities);
  const Missing q = MissingOf(event.second_probabilities);
  return Sorted(MassesOf(event, p, q), p.mass, q.mass,
                RoundUp(p.relative_error + q.relative_error));
}

FinitePair SampledFinitePairOf(const DominatingPair& event, double sampling_probability,
                               Adjacency direction) {
  const double s = sampling_probability;
  const Missing p = MissingOf(event.first_probabilities);
  const Missing q = MissingOf(event.second_probabilities);
  std::vector<Masses> all = MassesOf(event, p, q);
  // The outcome that P lacks is Q's in the mixture too.
  double relative_error = RoundUp(p.relative_error + q.relative_error + 2 * kUlp);
  if (q.mass.upper > 0) {
    all.push_back({0, q.mass.upper});
    // The mass that is missing is at least kSumRounding.
    relative_error = RoundUp(relative_error + kMissingError / kSumRounding);
  }
  for (Masses& outcome : all) outcome.p = (1 - s) * outcome.q + s * outcome.p;
  const Bounds only_p{RoundDownNonNegative(s * p.mass.lower), RoundUpNonNegative(s * p.mass.upper)};
  if (direction == Adjacency::kRemove) return Sorted(all, only_p, {0, 0}, relative_error);
  for (Masses& outcome : all) std::swap(outcome.p, outcome.q);
  return Sorted(all, {0, 0}, only_p, relative_error);
}

FinitePair ResponseAgainstNothing(const RandomizedResponse& event, Adjacency direction) {
  const double buckets = static_cast<double>(event.num_buckets);
  // The true value, and all others together.
  std::vector<Masses> all = {
      {(1 - event.noise_parameter) + event.noise_parameter / buckets, 1 / buckets},
      {event.noise_parameter * ((buckets - 1) / buckets), (buckets - 1) / buckets}};
  if (direction == Adjacency::kAdd) {
    for (Masses& outcome : all) std::swap(outcome.p, outcome.q);
  }
  return Sorted(all, {0, 0}, {0, 0}, 4 * kUlp);
}

DominatingPair Reverse(const DominatingPair& event) {
  return DominatingPair{event.second_probabilities, event.first_probabilities};
}

bool IsItsOwnReverse(const DominatingPair& event) {
  std::vector<std::pair<double, double>> forward, backward;
  for (const auto& [p, q] : MassesOf(event, {}, {})) {
    forward.emplace_back(p, q);
    backward.emplace_back(q, p);
  }
  std::sort(forward.begin(), forward.end());
  std::sort(backward.begin(), backward.end());
  return forward == backward;
}

}  // namespace epsledger::accounting
