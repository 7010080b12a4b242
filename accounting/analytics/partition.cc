#include "accounting/analytics/partition.h"

#include <algorithm>
#include <cmath>

#include "accounting/numeric/constants.h"
#include "accounting/numeric/normal.h"
#include "accounting/numeric/rounding.h"

namespace epsledger::accounting {

Bounds LogKeptAlone(const PartitionSelection& event) {
  // threshold - 1 is rounded once and divided once: a relative error of 2^-52 of `distance`.
  const double distance = (event.threshold - 1) / event.noise_multiplier;
  double log_kept;
  double slack;
  if (event.noise == Noise::kGaussian) {
    log_kept = LogNormalCdf(-distance);
    // d log Phi(-t) / d log t is at most t^2 + t <= 2 |log Phi(-t)| + t for t > 0, and below 1 for
    // t < 0.
    slack = (kNormalRelativeError + 16 * kUnitRoundoff) * (1 + std::abs(log_kept));
  } else if (distance >= 0) {
    log_kept = -kLog2 - distance;
    slack = 8 * kUnitRoundoff * (1 + distance);
  } else {
    log_kept = std::log1p(-0.5 * std::exp(distance));
    slack = 16 * kUnitRoundoff;
  }
  if (std::isnan(log_kept)) return Bounds{-kInfinity, 0};
  return Bounds{RoundDown(log_kept - slack), std::min(0.0, RoundUp(log_kept + slack))};
}

double KeptAlone(const PartitionSelection& event) {
  return std::min(1.0, RoundUp(std::exp(LogKeptAlone(event).upper), 2));
}

}  // namespace epsledger::accounting
