#include "accounting/gaussian/log_mixture.h"

#include <algorithm>
#include <cmath>

#include "accounting/numeric/constants.h"

namespace epsledger::accounting {

LogMixture LogMixtureAt(double t, double shift, double q, double relative_error) {
  const double a = shift * t - 0.5 * shift * shift;
  const double a_error = (std::abs(shift * t) + shift * shift) * (relative_error + 2 * kUlp);
  if (a > 30) {
    const double rest = q + (1 - q) * std::exp(-a);
    const double value = a + std::log(rest);
    return LogMixture{{value, a_error + kUlp * (8 + a + std::abs(value))}, q / rest};
  }
  const double y = q * std::expm1(a);
  const double ratio = 1 + y;
  const double error = 4 * kUlp * std::abs(y);
  if (!(ratio > 2 * error)) return LogMixture{{-kInfinity, kInfinity}, 0};
  const double value = std::log1p(y);
  // The derivative q e^a / (1 + y) is at most 1, and grows by less than e over an error below 1.
  const double slope = q * std::exp(a) / ratio;
  const double steepest = a_error < 1 ? std::min(1.0, 2.72 * slope * (1 + 8 * kUlp)) : 1;
  return LogMixture{
      {value, steepest * a_error + error / (ratio - error) + 2 * kUlp * std::abs(value)}, slope};
}

}  // namespace epsledger::accounting
