#ifndef EPSLEDGER_ACCOUNTING_AUDIT_GAUSSIAN_HYPOTHESIS_H_
#define EPSLEDGER_ACCOUNTING_AUDIT_GAUSSIAN_HYPOTHESIS_H_

// Turns a lower bound on mu into a lower bound on epsilon where, and only where, the trade-off
// function is known to be Gaussian.

namespace epsledger::accounting {

// <= the smallest epsilon at which exactly mu-GDP is (epsilon, delta)-DP. 0 for delta = 0, although
// the truth is +inf for every mu > 0: an audit never returns a value that no count can show.
// REQUIRES: mu in [0, inf), delta in [0, 1).
double GaussianEpsilonLower(double mu, double delta);

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_AUDIT_GAUSSIAN_HYPOTHESIS_H_
