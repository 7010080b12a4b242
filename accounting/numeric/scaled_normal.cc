#include "accounting/numeric/scaled_normal.h"

#include <cmath>

#include "accounting/numeric/constants.h"
#include "accounting/numeric/normal.h"

namespace epsledger::accounting {
namespace {

// From here on down a tail is kept as its logarithm: the error of NormalCdf is relative for normal
// doubles only.
constexpr double kLeastTail = 1e-290;

}  // namespace

Computed ScaledNormalCdf(double argument, double argument_error, double log_scale) {
  const double size = std::abs(argument) + argument_error;
  const double direct = NormalCdf(argument);
  if (direct > kLeastTail || std::isnan(direct)) {
    const double scale = std::exp(log_scale);
    // Over |z| moved < .01 the density changes by less than 1%; beyond, it is at most .4.
    const double density = size * argument_error < 0.01
                               ? 1.02 * std::exp(-0.5 * argument * argument - kLogSqrt2Pi)
                               : 0.4;
    const double value = scale * direct;
    return Computed{value, scale * (kNormalRelativeError * direct + density * argument_error) +
                               4 * kUlp * value + kSubnormalError};
  }
  const double log_tail = LogNormalCdf(argument);
  if (std::isinf(log_tail)) return Computed{0, kSubnormalError};
  const double value = std::exp(log_scale + log_tail);
  // d log Phi / dz is at most |z| + 1 / |z| for z < 0.
  const double exponent = (size + 1) * argument_error + kNormalRelativeError * std::abs(log_tail) +
                          2 * kUlp * (std::abs(log_scale) + std::abs(log_tail) + 4);
  return Computed{value, exponent < 0.01 ? 1.01 * exponent * value + kSubnormalError : kInfinity};
}

}  // namespace epsledger::accounting
