#include "accounting/numeric/normal.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "boost/math/policies/policy.hpp"
#include "boost/math/special_functions/erf.hpp"

#include "accounting/numeric/constants.h"

namespace epsledger::accounting {
namespace {

constexpr double kSqrt2 = 1.41421356237309504880;

// erfc_inv in double throughout (promotion to long double costs several times as much for one ulp),
// and never an exception.
using Policy = boost::math::policies::policy<
    boost::math::policies::domain_error<boost::math::policies::ignore_error>,
    boost::math::policies::pole_error<boost::math::policies::ignore_error>,
    boost::math::policies::overflow_error<boost::math::policies::ignore_error>,
    boost::math::policies::underflow_error<boost::math::policies::ignore_error>,
    boost::math::policies::evaluation_error<boost::math::policies::ignore_error>,
    boost::math::policies::promote_double<false>>;

// For x from here on, the ratios of the Mills integrals come from their continued fraction.
constexpr double kContinuedFractionFrom = 2.0;

// r_n = I_n / I_{n-1} = n / (x + r_{n+1}), run backwards from far enough out. An error in r_{n+1}
// shrinks by r_n^2 / n <= exp(-x / sqrt(n)) roughly, so that from N on it is exp(-2 x sqrt(N)):
// N = (20 / x)^2 leaves exp(-40). The start is the fixed point of the recurrence.
void Ratios(double x, double* ratios, int kept) {
  if (x > 1e8) {  // r_n = n / x to all digits
    for (int n = kept; n >= 1; --n) ratios[n] = n / x;
    return;
  }
  const int last = kept + 12 + static_cast<int>(400 / (x * x));
  double r = 2.0 * last / (x + std::sqrt(x * x + 4.0 * last));
  for (int n = last; n >= 1; --n) {
    r = n / (x + r);
    if (n <= kept) ratios[n] = r;
  }
}

// exp(-z^2 / 2) with the rounding of z^2 put back: relative error 2 ulp at any z.
double ExpMinusHalfSquare(double z) {
  const double square = z * z;
  const double lost = std::fma(z, z, -square);
  return std::exp(-0.5 * square) * (1 - 0.5 * lost);
}

// 1 - Phi(x), x >= 0.
double UpperTail(double x) {
  if (x > 40) return 0;
  return ExpMinusHalfSquare(x) * (MillsRatio(x) / kSqrt2Pi);
}

}  // namespace

std::array<double, 12> MillsIntegrals(double x) {
  std::array<double, 12> integral;
  integral[0] = MillsRatio(x);
  if (x < kContinuedFractionFrom) {
    // Forwards: I_{n+1} = n I_{n-1} - x I_n loses only a few digits at x < 2.
    integral[1] = 1 - x * integral[0];
    for (int n = 1; n < 11; ++n) {
      integral[n + 1] = std::max(0.0, n * integral[n - 1] - x * integral[n]);
    }
    return integral;
  }
  double ratios[12];
  Ratios(x, ratios, 11);
  for (int n = 1; n < 12; ++n) integral[n] = integral[n - 1] * ratios[n];
  return integral;
}

double LogNormalCdf(double z) {
  if (std::isnan(z)) return z;
  if (z == -kInfinity) return -kInfinity;
  if (z > 0) return std::log1p(-UpperTail(z));
  return -0.5 * z * z - kLogSqrt2Pi + std::log(MillsRatio(-z));
}

double NormalCdf(double z) {
  if (std::isnan(z)) return z;
  return z > 0 ? 1 - UpperTail(z) : UpperTail(-z);
}

double NormalQuantile(double p) { return -NormalUpperQuantile(p); }

double NormalUpperQuantile(double p) {
  if (std::isnan(p) || p < 0 || p > 1) return std::numeric_limits<double>::quiet_NaN();
  if (p == 0) return kInfinity;
  if (p == 1) return -kInfinity;
  if (p == 0.5) return 0;
  if (p > 0.5) return -NormalUpperQuantile(1 - p);  // 1 - p is exact
  if (p < 1e-290) {
    // 2 p would be subnormal: Newton on log(1 - Phi), from the asymptote.
    const double log_p = std::log(p);
    double z = std::sqrt(-2 * (log_p + std::log(37.0) + kLogSqrt2Pi));
    for (int i = 0; i < 4; ++i) {
      z += (LogNormalCdf(-z) - log_p) * MillsRatio(z);
    }
    return z;
  }
  return kSqrt2 * boost::math::erfc_inv(2 * p, Policy());
}

Bounds NormalUpperQuantileBounds(double p) {
  Bounds bounds{-kInfinity, kInfinity};
  if (std::isnan(p)) return bounds;
  if (p <= 0) return Bounds{kInfinity, kInfinity};
  if (p >= 1) return Bounds{-kInfinity, -kInfinity};
  if (p > 0.5) {
    const Bounds mirrored = NormalUpperQuantileBounds(1 - p);  // 1 - p is exact
    return Bounds{-mirrored.upper, -mirrored.lower};
  }
  const double t = NormalUpperQuantile(p);
  const double log_p = std::log(p);
  const double slack = kNormalRelativeError + 8 * kUnitRoundoff * (std::abs(log_p) + 1);
  for (double width = 4 * kUnitRoundoff * (std::abs(t) + 1); width < 1; width *= 2) {
    if (bounds.lower == -kInfinity && LogNormalCdf(-(t - width)) - slack >= log_p) {
      bounds.lower = t - width;
    }
    if (bounds.upper == kInfinity && LogNormalCdf(-(t + width)) + slack <= log_p) {
      bounds.upper = t + width;
    }
    if (bounds.lower != -kInfinity && bounds.upper != kInfinity) break;
  }
  return bounds;
}

}  // namespace epsledger::accounting
