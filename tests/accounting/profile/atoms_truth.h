#ifndef EPSLEDGER_TESTS_ACCOUNTING_PROFILE_ATOMS_TRUTH_H_
#define EPSLEDGER_TESTS_ACCOUNTING_PROFILE_ATOMS_TRUTH_H_

// The privacy profile of a pair of discrete laws, outcome by outcome, at 512 bits.

#include <vector>

#include "tests/accounting/mpfr_real.h"

namespace epsledger::accounting {

struct Outcome {
  Real p;
  Real q;
};

// sum (p - x q)_+, x = e^epsilon.
inline Real DeltaTruth(const std::vector<Outcome>& outcomes, double epsilon) {
  const Real x = Exp(epsilon);
  Real sum = 0;
  for (const Outcome& o : outcomes) {
    const Real more = o.p - x * o.q;
    if (Real(0) < more) sum = sum + more;
  }
  return sum;
}

// Q[p > x q] with a factor of `slack` on x. A slack just below 1 gives Q[L >= epsilon].
inline Real TailTruth(const std::vector<Outcome>& outcomes, double epsilon, double slack) {
  const Real x = Exp(epsilon) * Real(slack);
  Real sum = 0;
  for (const Outcome& o : outcomes) {
    if (x * o.q < o.p) sum = sum + o.q;
  }
  return sum;
}

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_TESTS_ACCOUNTING_PROFILE_ATOMS_TRUTH_H_
