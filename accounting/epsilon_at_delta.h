#ifndef EPSLEDGER_ACCOUNTING_EPSILON_AT_DELTA_H_
#define EPSLEDGER_ACCOUNTING_EPSILON_AT_DELTA_H_

#include <optional>

namespace epsledger::accounting {

// The smallest epsilon at which the history is (epsilon, delta)-DP.
struct EpsilonAtDelta {
  // Natural logarithm of delta: -inf (delta = 0) to 0. Deltas below 1e-308 are welcome.
  double log_delta = 0;
  // The delta that was asked for, where it was not given as a logarithm: messages name it.
  std::optional<double> given_delta = std::nullopt;
  // log(delta) rounded down, so that the answer holds at delta itself. delta in [0, 1].
  static EpsilonAtDelta FromDelta(double delta);
  // True only if `delta` is at most the one that was asked for; compared exactly where that was not
  // given as a logarithm.
  bool Allows(double delta) const;
};

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_EPSILON_AT_DELTA_H_
