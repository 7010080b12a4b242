#ifndef EPSLEDGER_ACCOUNTING_NUMERIC_LOG_SPACE_H_
#define EPSLEDGER_ACCOUNTING_NUMERIC_LOG_SPACE_H_

// Arithmetic on numbers that are kept as natural logarithms, and its building blocks, exponentials
// without cancellation. -inf is the logarithm of zero mass and a valid operand everywhere. A NaN
// operand gives NaN.

namespace epsledger::accounting {

// log(e^a + e^b). -inf is neutral, +inf absorbs (boost::math::logaddexp(-inf, 2) is -inf).
// Relative error of e^result: below 4 ulp.
double LogAddExp(double a, double b);

// log(e^a - e^b) for a >= b; -inf where they are equal, NaN for a < b.
double LogSubExp(double a, double b);

// log(1 - e^x) for x <= 0; -inf at 0, NaN for x > 0. Free of cancellation at both ends
// ([Maechler12] eq. 7).
double Log1mExp(double x);

// log(e^x - 1) for x >= 0; -inf at 0, NaN for x < 0. Finite wherever x is.
double LogExpm1(double x);

// e^x - 1 - x, never negative. Relative error below 8 ulp for every x (a series near 0).
double Expm1MinusX(double x);

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_NUMERIC_LOG_SPACE_H_
