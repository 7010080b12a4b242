#ifndef EPSLEDGER_ACCOUNTING_RENYI_LOG_MOMENT_H_
#define EPSLEDGER_ACCOUNTING_RENYI_LOG_MOMENT_H_

#include <cmath>

#include "accounting/numeric/rounding.h"

namespace epsledger::accounting {

// Returns D >= log(M) / (order - 1), given log(M - 1) to within `error`. An M near 1 keeps its
// digits.
inline double DivergenceFromExcess(double log_excess, double error, double order) {
  const double high = NextUp(log_excess + error);
  const double log_moment = high > 40 ? NextUp(high + std::exp(-high)) : std::log1p(std::exp(high));
  return RoundUp(log_moment / (order - 1), 6);
}

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_RENYI_LOG_MOMENT_H_
