#include "accounting/audit/one_run_trade_off.h"

#include <algorithm>
#include <cmath>

#include "absl/functional/function_ref.h"
#include "accounting/audit/gaussian_hypothesis.h"
#include "accounting/event/status_macros.h"
#include "accounting/gaussian/trade_off.h"
#include "accounting/numeric/rounding.h"
#include "accounting/numeric/search.h"

namespace epsledger::accounting {
namespace {

constexpr double kLargestMu = 64;
constexpr double kSmallestProbability = 1e-12;

// Let Q_i >= 0 be the smallest P[W >= i] that f allows, W the number of right guesses, given P[W >=
// c] = `probability`. Returns true (contradicted) as soon as one Q_i is above 1. `type_two_error`
// returns a lower bound on f.
bool Contradicts(const OneRunCounts& counts, double probability,
                 absl::FunctionRef<double(double alpha)> type_two_error) {
  const auto canaries = static_cast<double>(counts.canaries);
  const auto guesses = static_cast<double>(counts.guesses);
  double tail = probability;  // Q_{i+1}
  double above = 0;           // sum over w > i + 1 of Q_w
  for (int64_t i = counts.correct - 1; i >= 0; --i) {
    const auto next = static_cast<double>(i + 1);
    // r_{i+1} = sum over w > i of w q_w / m, by parts.
    const double right = RoundDownNonNegative((next * tail + above) / canaries, 3);
    above = RoundDownNonNegative(above + tail);
    // h_i >= f^-1(1 - r_{i+1}), where f = f^-1 is non-increasing.
    const double wrong = type_two_error(std::min(1.0, NextUp(1 - right)));
    const double forced =
        RoundDownNonNegative((canaries * wrong + above) / (guesses - static_cast<double>(i)), 3);
    tail = std::max(tail, forced);
    if (tail > 1) return true;
  }
  return false;
}

}  // namespace

bool ContradictsTradeOff(const OneRunCounts& counts, const TradeOffFunction& f,
                         double probability) {
  return Contradicts(counts, probability, [&f](double alpha) { return f.At(alpha).lower; });
}

double OneRunTradeOffPValue(const OneRunCounts& counts, const TradeOffFunction& f) {
  // A contradiction at one probability is a contradiction at every larger one.
  double contradicted = 1;
  if (!ContradictsTradeOff(counts, f, contradicted)) return 1;
  double allowed = kSmallestProbability;
  if (ContradictsTradeOff(counts, f, allowed)) return allowed;
  while (contradicted > allowed * (1 + 0x1p-10)) {
    const double middle = std::sqrt(contradicted * allowed);
    (ContradictsTradeOff(counts, f, middle) ? contradicted : allowed) = middle;
  }
  return contradicted;
}

absl::StatusOr<OneRunGaussianAudit> AuditOneRunGaussian(const OneRunCounts& counts,
                                                        const AuditTarget& target) {
  RETURN_IF_ERROR(Validate(target));
  RETURN_IF_ERROR(Validate(counts));
  const auto allowed = [&](double mu) {
    return Contradicts(counts, target.failure_probability(),
                       [mu](double alpha) {
                         return GaussianTradeOff({mu, mu}, alpha).lower;
                       })
               ? -1.0
               : 1.0;
  };
  OneRunGaussianAudit audit;
  if (allowed(0) > 0) return audit;
  double fails = 0.5;
  while (fails < kLargestMu && allowed(fails) < 0) fails *= 2;
  if (fails >= kLargestMu) fails = kLargestMu;
  audit.mu_lower = NarrowCrossing(allowed, 0, fails, 1e-6, 40).holds;
  audit.epsilon_lower_if_gaussian = GaussianEpsilonLower(audit.mu_lower, target.delta);
  return audit;
}

}  // namespace epsledger::accounting
