#ifndef EPSLEDGER_TESTS_ACCOUNTING_CLASSICAL_KOV_CLOSED_FORM_H_
#define EPSLEDGER_TESTS_ACCOUNTING_CLASSICAL_KOV_CLOSED_FORM_H_

// Closed-form bounds on optimal composition ([KOV15] Thm 3.4 for equal parameters, which is a
// special case of Thm 3.5 for different parameters). Every result is rounded up.

#include <vector>

#include "accounting/classical/approximate_dp.h"

namespace epsledger::accounting {

// Returns epsilon >= the smallest of
//
//   sum epsilon_i,   A + sqrt(2 V log(e + sqrt(V) / slack)),   A + sqrt(2 V log(1 / slack)),
//   A = sum epsilon_i (e^epsilon_i - 1) / (e^epsilon_i + 1),   V = sum epsilon_i^2,
//
// with which the composition is (epsilon, KovLogDelta(events, log_slack))-DP. log_slack <= 0; -inf
// gives sum epsilon_i. NaN gives that too. O(events).
double KovEpsilon(const std::vector<CountedParameters>& events, double log_slack);

// log(1 - (1 - slack) prod (1 - delta_i)^{n_i}).
double KovLogDelta(const std::vector<CountedParameters>& events, double log_slack);

// Returns the log of a slack whose KovLogDelta is at most log_delta, rounded down; NaN if the
// deltas alone are more than that.
double KovLogSlack(const std::vector<CountedParameters>& events, double log_delta);

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_TESTS_ACCOUNTING_CLASSICAL_KOV_CLOSED_FORM_H_
