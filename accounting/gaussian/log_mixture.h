#ifndef EPSLEDGER_ACCOUNTING_GAUSSIAN_LOG_MIXTURE_H_
#define EPSLEDGER_ACCOUNTING_GAUSSIAN_LOG_MIXTURE_H_

#include "accounting/numeric/computed.h"

namespace epsledger::accounting {

// A logarithm, and its derivative in the shift's own exponent, which is no bound.
struct LogMixture {
  Computed value;
  double slope;  // in [0, 1]
};

// The log of the density of (1 - q) N(0, 1) + q N(shift, 1) over that of N(0, 1) at t,
//
//   log(1 + q (e^a - 1)),   a = shift t - shift^2 / 2,
//
// for every shift within a relative `relative_error` of the one given. Shift of either sign,
// q in (0, 1). The error is infinite where 1 + q (e^a - 1) has no digits left. Cost: 30 ns.
LogMixture LogMixtureAt(double t, double shift, double q, double relative_error);

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_GAUSSIAN_LOG_MIXTURE_H_
