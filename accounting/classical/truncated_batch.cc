#include "accounting/classical/truncated_batch.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "accounting/classical/binomial_mass.h"
#include "accounting/numeric/constants.h"
#include "accounting/numeric/rounding.h"

namespace epsledger::accounting {
namespace {

// The range of BinomialMass.
constexpr double kLargestLogOdds = 700;
// The range of BinomialMass.
constexpr double kMostTrials = 9007199254740992.0;
// More terms of a tail are bounded by a geometric series.
constexpr int kMostTerms = 10'000;

struct BothTails {
  Bounds at_least;  // P[K >= successes]
  Bounds below;     // P[K < successes]
};

Bounds Complement(Bounds p) {
  return Bounds{RoundDownNonNegative(1 - p.upper), std::min(1.0, RoundUp(1 - p.lower))};
}

// P[K = k] + P[K = k + 1] + ... (up) or P[K = k] + P[K = k - 1] + ..., k on that side of the mean.
Bounds SumOutward(double q, double n, double k, bool up) {
  const double log_odds = std::log(q) - std::log1p(-q);
  const double log_odds_error = 2 * kUlp * (std::abs(log_odds) + std::abs(std::log(q)) + 1);
  // BinomialMass counts the likelier outcome.
  const BinomialMass mass(std::max(std::abs(log_odds), std::numeric_limits<double>::min()), n);
  const Approximation first = mass.LogMass(log_odds > 0 ? k : n - k);
  // d log P / d log_odds = k - n q, whose own derivative is at most n / 4.
  const double moved =
      (std::abs(k - n * q) + kUlp * n + n * log_odds_error) * log_odds_error + first.error;
  double sum = 1;
  double term = 1;
  double ratio = 0;
  int terms = 1;
  bool ended = false;
  for (double j = k; terms < kMostTerms; j += up ? 1 : -1) {
    ratio = up ? (n - j) / (j + 1) * (q / (1 - q)) : j / (n - j + 1) * ((1 - q) / q);
    if (ratio == 0 || (ratio < 1 && term * ratio < 1e-17 * sum * (1 - ratio))) {
      ended = true;
      break;
    }
    term *= ratio;
    sum += term;
    ++terms;
  }
  // Ratios fall from the mean on: the rest is below a geometric series.
  const double operations = 8.0 * terms + 16;
  double rest = 1e-17 * sum;
  if (!ended) {
    const double next = RoundUp(ratio, 8);
    rest = next < 1 ? term * next / (1 - next) : kInfinity;
  }
  const double high = std::exp(RoundUp(first.value + moved, 2));
  const double low = std::exp(RoundDown(first.value - moved, 2));
  return Bounds{RoundDownNonNegative(low * sum, operations),
                std::min(1.0, RoundUp(high * (sum + rest), operations))};
}

BothTails TailsAt(double q, int64_t trials, int64_t successes) {
  if (successes <= 0) return {{1, 1}, {0, 0}};
  if (successes > trials) return {{0, 0}, {1, 1}};
  if (q == 1) return {{1, 1}, {0, 0}};
  const auto n = static_cast<double>(trials);
  const auto k = static_cast<double>(successes);
  if (std::log(q) < 1 - kLargestLogOdds) {
    const Bounds rare{0, std::min(1.0, RoundUp(n * q))};  // P[K >= 1] <= n q
    return {rare, Complement(rare)};
  }
  if (k > n * q) {
    const Bounds tail = SumOutward(q, n, k, true);
    return {tail, Complement(tail)};
  }
  const Bounds tail = SumOutward(q, n, k - 1, false);
  return {Complement(tail), tail};
}

}  // namespace

TruncatedBatch TruncateBatch(double q, int64_t others, int64_t capacity) {
  const auto n = static_cast<double>(others);
  const auto b = static_cast<double>(capacity);
  const BothTails tails = TailsAt(q, others, capacity);
  TruncatedBatch batch{tails.at_least, tails.below.upper, 0};
  // K >= capacity alone says kept <= q capacity / (capacity + 1).
  batch.kept = std::min(q, RoundUp(q * (b / (b + 1)), 4));
  if (batch.full.lower > 0 && n < kMostTrials) {
    const double both =
        RoundUp(b / (n + 1), 2) * TailsAt(q, others + 1, capacity + 1).at_least.upper;
    batch.kept = std::min(batch.kept, RoundUp(both / batch.full.lower, 4));
  }
  return batch;
}

}  // namespace epsledger::accounting
