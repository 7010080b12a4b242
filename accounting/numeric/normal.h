#ifndef EPSLEDGER_ACCOUNTING_NUMERIC_NORMAL_H_
#define EPSLEDGER_ACCOUNTING_NUMERIC_NORMAL_H_

// The standard normal distribution with stated errors (measured against MPFR by
// tests/accounting/numeric/normal_test.cc, with a margin added). phi is the density, Phi the
// distribution function, R(x) = (1 - Phi(x)) / phi(x) the Mills ratio.

#include <array>

#include "accounting/numeric/bounds.h"

namespace epsledger::accounting {

inline constexpr double kLogSqrt2Pi = 0.91893853320467274178;

// Relative error of LogNormalCdf and NormalCdf, each with the argument taken as exact.
inline constexpr double kNormalRelativeError = 0x1p-49;  // 16 ulp

// R(x) for x >= 0, in (0, 1.2534]. Relative error at most kMillsRelativeError (mills_ratio.h),
// which is less than kNormalRelativeError. x = +inf gives 0. Cost: 10 ns.
double MillsRatio(double x);

// I_n(x) = integral over t > 0 of t^n exp(-x t - t^2/2) for n = 0, ..., 11: I_0 is the Mills ratio
// and (-1)^n I_n its n-th derivative. REQUIRES: x >= 0 finite.
// Relative error: I_0 and I_1 at most 2^-46, the others at most 2^-30 (they weigh little).
std::array<double, 12> MillsIntegrals(double x);

// log Phi(z). -inf at -inf, 0 at +inf; accurate in both tails: -z^2/2 dominates below, Phi(-z)
// itself is returned (negated) above.
double LogNormalCdf(double z);

// Phi(z), relative error at most kNormalRelativeError wherever the result is a normal double.
double NormalCdf(double z);

// Returns the z with Phi(z) = p, for p in [0, 1]; -inf at 0, +inf at 1, 0 at 1/2. Not a bound: an
// approximation to some 1e-15 that callers verify with LogNormalCdf.
double NormalQuantile(double p);

// Returns the z with 1 - Phi(z) = p, without forming 1 - p.
double NormalUpperQuantile(double p);

// Returns bounds on the t with 1 - Phi(t) = p, widened until LogNormalCdf, with its error, proves
// them; a few ulp of 1 + |t| wide. p in [0, 1]: {inf, inf} at 0, {-inf, -inf} at 1. NaN gives
// {-inf, inf}.
Bounds NormalUpperQuantileBounds(double p);

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_NUMERIC_NORMAL_H_
