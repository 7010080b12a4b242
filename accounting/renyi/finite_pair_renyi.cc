#include "accounting/renyi/finite_pair_renyi.h"

#include <algorithm>
#include <cmath>

#include "accounting/numeric/compensated_sum.h"
#include "accounting/numeric/constants.h"
#include "accounting/numeric/log_space.h"
#include "accounting/numeric/rounding.h"

namespace epsledger::accounting {
namespace {

// Above this (order - 1) * loss the moment is kept as a logarithm.
constexpr double kLargestExponent = 650;

// A logarithm with the rounding of its two terms.
Bounds LogOfQuotient(double numerator_less, double denominator_less) {
  const double above = std::log1p(-numerator_less);
  const double below = std::log1p(-denominator_less);
  const double error = 4 * kUlp * (std::abs(above) + std::abs(below));
  return Bounds{NextDown(above - below - error), NextUp(above - below + error)};
}

}  // namespace

FinitePairRenyi::FinitePairRenyi(const FinitePair& pair)
    : delta_(pair.outcomes.empty() ? 1 : pair.Alone()), largest_loss_(0) {
  if (delta_ >= 1) return;
  // P' = P / (1 - only_p) and Q' = Q / (1 - only_q).
  double least = 0;
  double most = 0;
  if (delta_ > 0) {
    least = LogOfQuotient(pair.only_q.upper, pair.only_p.lower).lower;
    most = LogOfQuotient(pair.only_q.lower, pair.only_p.upper).upper;
  }
  const double factor =
      (1 + pair.relative_error) * (1 + pair.relative_error) / RoundDown(1 - pair.only_p.upper);
  for (const auto& [ratio, q] : pair.outcomes) {
    const double loss = std::log(ratio);
    const double error = 2 * pair.relative_error + 2 * kUlp * std::abs(loss);
    const double low = RoundDown(loss - error + least, 2);
    const double high = RoundUp(loss + error + most, 2);
    Outcome outcome{RoundUp(ratio * q * factor, 8), std::abs(low) < std::abs(high) ? high : low};
    if (low < 0 && high > 0) {
      // The divergence grows with the size of a loss; that of -w counts less than that of w, by a
      // factor of 1 + w at most for w below 1.
      outcome.loss = std::max(-low, high);
      outcome.p = RoundUp(outcome.p * (1 + outcome.loss), 2);
    }
    largest_loss_ = std::max(largest_loss_, high);
    outcomes_.push_back(outcome);
  }
}

// With E(z) = e^z - 1 - z >= 0, and as the masses of P' and Q' both sum to 1,
//   M - 1 = E_Q'[e^{aL} - 1 - a (e^L - 1)] = E_P'[E((a-1) L) + (a-1) E(-L)]:
// a sum of terms that are not negative, each growing with |L|.
double FinitePairRenyi::Divergence(double order) const {
  if (outcomes_.empty()) return 0;
  if (std::isnan(order)) return kInfinity;
  if (order == kInfinity) return largest_loss_;
  const double excess = order - 1;
  double largest = 0;
  for (const Outcome& outcome : outcomes_) {
    largest = std::max(largest, excess * std::abs(outcome.loss));
  }
  if (!(largest < kLargestExponent)) {
    // M = E_P'[e^{(a-1) L}], scaled by its largest term.
    double scale = -kInfinity;
    double magnitude = 0;
    for (const Outcome& outcome : outcomes_) {
      scale = std::max(scale, std::log(outcome.p) + excess * outcome.loss);
      magnitude =
          std::max(magnitude, std::abs(std::log(outcome.p)) + excess * std::abs(outcome.loss));
    }
    double sum = 0;
    for (const Outcome& outcome : outcomes_) {
      sum += std::exp(std::log(outcome.p) + excess * outcome.loss - scale);
    }
    const double error = kUlp * (8 * magnitude + static_cast<double>(outcomes_.size()) + 8);
    const double divergence = RoundUp((scale + std::log(sum) + error) / excess, 6);
    return std::isnan(divergence) ? kInfinity : std::min(std::max(0.0, divergence), largest_loss_);
  }
  CompensatedSum sum;
  for (const Outcome& outcome : outcomes_) {
    const double z = excess * outcome.loss;
    // At order 1: the limit of the sum over a - 1.
    sum.Add(excess == 0 ? outcome.p * Expm1MinusX(-outcome.loss)
                        : outcome.p * (Expm1MinusX(z) + excess * Expm1MinusX(-outcome.loss)));
  }
  const double total = RoundUp(sum.value(), 24 + 4 * largest);
  const double divergence = excess == 0 ? total : RoundUp(std::log1p(total) / excess, 4);
  return std::isnan(divergence) ? kInfinity : std::min(divergence, largest_loss_);
}

}  // namespace epsledger::accounting
