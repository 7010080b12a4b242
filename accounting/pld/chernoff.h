#ifndef EPSLEDGER_ACCOUNTING_PLD_CHERNOFF_H_
#define EPSLEDGER_ACCOUNTING_PLD_CHERNOFF_H_

#include <cmath>

namespace epsledger::accounting {

// Returns the smallest k with (1 - e^{-v})_+ <= e^{c v + k} for every real v, attained at e^v = 1 +
// 1/c. So log delta(epsilon) <= log E[e^{cL}] - c epsilon + k for every c > 0 ([CKS20] Prop 12 in
// other words). c > 0.
inline double LogChernoffConstant(double c) { return -c * std::log1p(1 / c) - std::log1p(c); }

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_PLD_CHERNOFF_H_
