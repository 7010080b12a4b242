#ifndef EPSLEDGER_ACCOUNTING_CLASSICAL_BASIC_AND_ADVANCED_H_
#define EPSLEDGER_ACCOUNTING_CLASSICAL_BASIC_AND_ADVANCED_H_

// Basic and advanced composition of (epsilon_i, delta_i)-DP events. Every result is rounded up.

#include <optional>
#include <vector>

#include "accounting/classical/approximate_dp.h"
#include "accounting/epsilon_at_delta.h"

namespace epsledger::accounting {

// (sum epsilon_i, sum delta_i) ([DR14] Thm 3.16). The delta may exceed 1.
ApproximateDpParameters BasicComposition(const std::vector<CountedParameters>& events);

// Returns the epsilon of `total` where `at` allows its delta, else +inf.
double BasicEpsilon(const ApproximateDpParameters& total, const EpsilonAtDelta& at);

// Returns the worst privacy profile of one (epsilon0, delta0)-DP mechanism: log delta(epsilon) for
// every epsilon, also below epsilon0 ([KOV15] Thm 3.1: the dominating pair has four outcomes).
//   epsilon >= epsilon0: delta0
//   |epsilon| < epsilon0: delta0 + (1 - delta0) (e^epsilon0 - e^epsilon) / (1 + e^epsilon0)
//   epsilon <= -epsilon0: 1 - (1 - delta0) e^epsilon
double ApproximateDpLogDelta(const ApproximateDpParameters& parameters, double epsilon);

// The (epsilon, delta) of a group of `size`: (k epsilon, delta (e^{k eps} - 1) / (e^eps - 1))
// ([Vadhan17] Lemma 2.2).
ApproximateDpParameters GroupPrivacy(const ApproximateDpParameters& parameters, double size);

// The sums over a history that advanced composition needs.
struct AdvancedSums {
  double squares = 0;  // sum epsilon_i^2
  double drift = 0;    // sum epsilon_i (e^{epsilon_i} - 1)
  double delta = 0;    // sum delta_i
};
AdvancedSums SumForAdvanced(const std::vector<CountedParameters>& events);

// sqrt(2 log(1/slack) sum epsilon_i^2) + sum epsilon_i (e^epsilon_i - 1), at delta
// sum delta_i + slack ([DRV10] Thm III.3, [DR14] Thm 3.20; with different epsilon_i by the same
// Azuma argument). log_slack <= 0; returns 0 if nothing was spent.
double AdvancedEpsilon(const AdvancedSums& sums, double log_slack);

// Returns the log of sum delta_i + slack for the smallest slack whose AdvancedEpsilon is at most
// epsilon; 0 (delta = 1) if no such slack exists.
double AdvancedLogDelta(const AdvancedSums& sums, double epsilon);

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_CLASSICAL_BASIC_AND_ADVANCED_H_
