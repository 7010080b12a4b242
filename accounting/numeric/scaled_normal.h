#ifndef EPSLEDGER_ACCOUNTING_NUMERIC_SCALED_NORMAL_H_
#define EPSLEDGER_ACCOUNTING_NUMERIC_SCALED_NORMAL_H_

#include "accounting/numeric/computed.h"

namespace epsledger::accounting {

// More than a value can be off because it, or what it is made of, is below the smallest normal
// double.
inline constexpr double kSubnormalError = 1e-320;

// Returns e^log_scale Phi(z) for every real z within `argument_error` of `argument`. Phi(z) may be
// far below the smallest double: e^700 Phi(-40) is not lost. |value - truth| <= error; the relative
// error is below 1e-14 where Phi is above 1e-290, and 1e-11 elsewhere, plus what `argument_error`
// moves. log_scale in [-700, 700]. Cost: 20 ns, 60 ns below 1e-290.
Computed ScaledNormalCdf(double argument, double argument_error, double log_scale);

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_NUMERIC_SCALED_NORMAL_H_
