#ifndef EPSLEDGER_ACCOUNTING_EPSILON_AT_DELTA_H_
#define EPSLEDGER_ACCOUNTING_EPSILON_AT_DELTA_H_

#include <optional>

namespace epsledger::accounting {

// The smallest epsilon at which the history is (epsilon, delta)-DP.
struct EpsilonAtDelta {
  // Natural logarithm of delta: -inf (delta = 0) to 0. Deltas below 1e-308 are allowed.
  double log_delta = 0;
  // The delta as the caller gave it, for messages; unset if the caller gave a logarithm.
  std::optional<double> given_delta = std::nullopt;
  // Rounds log(delta) down, so that the answer holds at delta itself. delta in [0, 1].
  static EpsilonAtDelta FromDelta(double delta);
  // True only if `delta` is at most the delta in question. Compares exactly where given_delta is
  // set.
  bool Allows(double delta) const;
};

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_EPSILON_AT_DELTA_H_
