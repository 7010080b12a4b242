#ifndef EPSLEDGER_ACCOUNTING_NUMERIC_ROUNDING_H_
#define EPSLEDGER_ACCOUNTING_NUMERIC_ROUNDING_H_

// Directed rounding by hand: moves the result of a few double operations in round-to-nearest
// outward by at least their possible error (accounting/README.md, "Error budget").

#include <cmath>
#include <limits>

#include "accounting/numeric/constants.h"

namespace epsledger::accounting {

// The next double above x. NaN becomes +inf: an upper bound that is not known is no bound.
inline double NextUp(double x) { return std::isnan(x) ? kInfinity : std::nextafter(x, kInfinity); }

// The next double below x. NaN becomes -inf.
inline double NextDown(double x) {
  return std::isnan(x) ? -kInfinity : std::nextafter(x, -kInfinity);
}

// Returns y >= every real t with |t - x| <= operations * 2^-52 * |x| + operations * 2^-1074:
// the possible error of x after that many additions of equal sign, multiplications, divisions,
// roots and library calls of error below 1 ulp each. NaN becomes +inf.
inline double RoundUp(double x, double operations = 1) {
  constexpr double kTiny = std::numeric_limits<double>::denorm_min();
  return NextUp(x + (std::abs(x) * (operations * 2 * kUnitRoundoff) + operations * kTiny));
}

// The mirror image of RoundUp. NaN becomes -inf.
inline double RoundDown(double x, double operations = 1) {
  constexpr double kTiny = std::numeric_limits<double>::denorm_min();
  return NextDown(x - (std::abs(x) * (operations * 2 * kUnitRoundoff) + operations * kTiny));
}

// RoundUp for a quantity that is never negative and exactly zero only where it is truly zero.
inline double RoundUpNonNegative(double x, double operations = 1) {
  return x == 0 ? 0 : RoundUp(x, operations);
}

// RoundDown, but never below zero.
inline double RoundDownNonNegative(double x, double operations = 1) {
  const double y = RoundDown(x, operations);
  return y > 0 ? y : 0;
}

// 1 - x for x in [0, 1], exactly or rounded outward: the difference is exact for x >= 1/2
// (Sterbenz) and for x = 0.
inline double OneMinusUp(double x) {
  return x == 0 || x >= 0.5 ? 1 - x : std::fmin(1.0, NextUp(1 - x));
}
inline double OneMinusDown(double x) { return x == 0 || x >= 0.5 ? 1 - x : NextDown(1 - x); }

// Adds count * x to `sum`, rounded up; exact where the result is a double. All three >= 0.
inline void AddProductUp(double& sum, double count, double x) {
  double product = count * x;
  // Below 2^-960 the error of the product itself may not be a double.
  if (count > 0 && x > 0 && (product < 0x1p-960 || std::fma(count, x, -product) > 0)) {
    product = NextUp(product);
  }
  const double total = sum + product;
  const double added = total - sum;  // [Knuth97] 4.2.2 Thm B: the error of the addition, exactly
  const double error = (sum - (total - added)) + (product - added);
  sum = error > 0 || std::isnan(error) ? NextUp(total) : total;
}

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_NUMERIC_ROUNDING_H_
