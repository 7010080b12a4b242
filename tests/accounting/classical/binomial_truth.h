#ifndef EPSLEDGER_TESTS_ACCOUNTING_CLASSICAL_BINOMIAL_TRUTH_H_
#define EPSLEDGER_TESTS_ACCOUNTING_CLASSICAL_BINOMIAL_TRUTH_H_

// The composition of randomized response at 512 bits, term by term as in the definition.

#include "tests/accounting/mpfr_real.h"

namespace epsledger::accounting {

// log n!: the product below 1000, Stirling's series with 11 terms (below 1e-60 there) above.
inline Real LogFactorialTruth(double n) {
  if (n < 1000) {
    Real product = 1;
    for (double i = 2; i <= n; ++i) product = product * i;
    return Log(product);
  }
  // B_2k / (2k (2k-1)).
  const Real coefficients[] = {Real(1) / 12,           Real(-1) / 360,       Real(1) / 1260,
                               Real(-1) / 1680,        Real(1) / 1188,       Real(-691) / 360360,
                               Real(1) / 156,          Real(-3617) / 122400, Real(43867) / 244188,
                               Real(-174611) / 125400, Real(77683) / 5796};
  const Real x = n;
  Real sum = (x + 0.5) * Log(x) - x + Log(Real(2) * Real::Pi()) / 2;
  Real power = Real(1) / x;
  for (const Real& c : coefficients) {
    sum = sum + c * power;
    power = power / (x * x);
  }
  return sum;
}

inline Real LogBinomialMassTruth(double epsilon0, double count, double j) {
  const Real e = epsilon0;
  return LogFactorialTruth(count) - LogFactorialTruth(j) - LogFactorialTruth(count - j) -
         e * (count - j) - Log1p(Exp(-e)) * count;
}

// Returns delta(epsilon) of `count` runs of pure randomized response: the sum of
// P(j) - e^epsilon Q(j) over the losses above epsilon, until the missing rest is below 1e-30 of the
// sum.
inline Real OptimalDeltaTruth(double epsilon0, double count, double epsilon) {
  const auto gap = [&](double j) { return Real(epsilon0) * (Real(2) * j - count) - epsilon; };
  double low = -1;
  double high = count;
  if (gap(count) <= Real(0)) return 0;
  while (high - low > 1) {
    const double middle = __builtin_floor((low + high) / 2);
    (Real(0) < gap(middle) ? high : low) = middle;
  }
  const Real up = Exp(epsilon0);
  const Real down = Exp(-Real(epsilon0));
  Real p = Exp(LogBinomialMassTruth(epsilon0, count, high));
  Real q = p * Exp(-gap(high));  // e^epsilon Q
  Real sum = 0;
  Real last = 0;
  for (double j = high; j <= count; ++j) {
    const Real term = p - q;
    sum = sum + term;
    if (term < last && term * 1e36 < sum) break;  // the ratio is then below 1 - 1e-6
    last = term;
    const Real ratio = Real(count - j) / (j + 1);
    p = p * ratio * up;
    q = q * ratio * down;
  }
  return sum;
}

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_TESTS_ACCOUNTING_CLASSICAL_BINOMIAL_TRUTH_H_
