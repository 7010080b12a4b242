#ifndef EPSLEDGER_ACCOUNTING_AUDIT_BINOMIAL_TAIL_H_
#define EPSLEDGER_ACCOUNTING_AUDIT_BINOMIAL_TAIL_H_

// The tail of a binomial law, and confidence bounds on a proportion from a count.

#include <cstdint>

namespace epsledger::accounting {

// Returns >= P[B >= successes], B ~ Binomial(trials, 1 / (1 + e^-logit)), rounding included.
// 1 where `successes` is not above the mean; no caller needs more there. logit: any number, NaN
// gives 1. REQUIRES: trials in [1, 2^53].
// Relative excess: some 1e-13 (1 + |log P|) (binomial_mass.h) and 1e-15 per term summed.
// Cost: 8 sqrt(trials) terms of a few ns.
double BinomialUpperTail(double logit, int64_t trials, int64_t successes);

// The same, with the first term of the sum.
struct BinomialTail {
  double tail;  // >= P[B >= successes]
  double mass;  // >= P[B = successes]
};
BinomialTail BinomialUpperTailAndMass(double logit, int64_t trials, int64_t successes);

// The Clopper-Pearson bounds [CP34] on the logit of a proportion for which `successes` of `trials`
// independent trials were seen: each holds with probability >= 1 - failure_probability, whatever
// the proportion is. The incomplete beta function proposes an end and the tail above verifies it:
// an end is returned only where BinomialUpperTail there is at most the failure probability.
// The lower bound is -inf for no successes, the upper bound +inf for no failures; a bound is
// infinite too where its end is not verified. REQUIRES: 0 <= successes <= trials in [1, 2^53];
// failure_probability in (0, 1).
// Tightness: some 1e-12 (1 + |logit|). Cost: 10 us at 1e5 trials.
double LogitLowerBound(int64_t successes, int64_t trials, double failure_probability);
double LogitUpperBound(int64_t successes, int64_t trials, double failure_probability);

// 1 / (1 + e^-logit), rounded down and up; in [0, 1].
double ProportionDown(double logit);
double ProportionUp(double logit);

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_AUDIT_BINOMIAL_TAIL_H_
