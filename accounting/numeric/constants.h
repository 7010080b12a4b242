#ifndef EPSLEDGER_ACCOUNTING_NUMERIC_CONSTANTS_H_
#define EPSLEDGER_ACCOUNTING_NUMERIC_CONSTANTS_H_

// Numbers that many files use, each rounded to the nearest double.

#include <limits>

namespace epsledger::accounting {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();
// Half an ulp of 1: one correctly rounded operation has at most this relative error.
inline constexpr double kUnitRoundoff = 0x1p-53;
// The distance from 1 to the next larger double.
inline constexpr double kUlp = 2 * kUnitRoundoff;
inline constexpr double kPi = 3.14159265358979323846;
inline constexpr double kTwoPi = 6.28318530717958647693;
inline constexpr double kSqrt2Pi = 2.50662827463100050242;
inline constexpr double kLog2 = 0.69314718055994530942;
// Beyond this epsilon e^epsilon is not a useful double.
inline constexpr double kLargestEpsilon = 700;

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_NUMERIC_CONSTANTS_H_
