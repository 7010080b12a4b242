#include "accounting/numeric/log_space.h"

#include <cmath>
#include <limits>

#include "accounting/numeric/constants.h"

namespace epsledger::accounting {
namespace {}  // namespace

double LogAddExp(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return a + b;
  const double high = a > b ? a : b;
  const double low = a > b ? b : a;
  if (low == -kInfinity || high == kInfinity) return high;
  return high + std::log1p(std::exp(low - high));
}

double LogSubExp(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return a + b;
  if (b == -kInfinity) return a;
  if (a == kInfinity) return b == kInfinity ? std::numeric_limits<double>::quiet_NaN() : kInfinity;
  return a + Log1mExp(b - a);
}

double Log1mExp(double x) {
  if (x > 0) return std::numeric_limits<double>::quiet_NaN();
  return x > -kLog2 ? std::log(-std::expm1(x)) : std::log1p(-std::exp(x));
}

double LogExpm1(double x) {
  if (x < 0) return std::numeric_limits<double>::quiet_NaN();
  return x > 1 ? x + std::log1p(-std::exp(-x)) : std::log(std::expm1(x));
}

double Expm1MinusX(double x) {
  if (x == kInfinity) return kInfinity;
  if (std::abs(x) >= 0.5) return std::expm1(x) - x;
  // x^2/2 (1 + x/3 (1 + x/4 (...))): at |x| = 1/2 the first omitted term, x^15 / 17! 2, is below
  // 2e-19 of the sum.
  double sum = 1;
  for (int k = 16; k >= 3; --k) sum = 1 + sum * x / k;
  return 0.5 * x * x * sum;
}

}  // namespace epsledger::accounting
