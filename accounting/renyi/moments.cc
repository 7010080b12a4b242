#include "accounting/renyi/moments.h"

#include <algorithm>
#include <cmath>

#include "accounting/event/domain.h"
#include "accounting/numeric/rounding.h"

namespace epsledger::accounting {

Conversion EpsilonFromMoments(absl::FunctionRef<double(double)> divergence, double log_delta) {
  Conversion best{kInfinity, 0};
  if (std::isnan(log_delta)) return best;
  for (int l = 1; l <= kLargestMoment; ++l) {
    const double epsilon = RoundUp(divergence(l + 1) - log_delta / l, 4);
    if (epsilon < best.value) best = Conversion{epsilon, l + 1.0};
  }
  best.value = std::max(0.0, best.value);
  return best;
}

Conversion LogDeltaFromMoments(absl::FunctionRef<double(double)> divergence, double epsilon) {
  Conversion best{0, 0};
  if (std::isnan(epsilon)) return best;
  for (int l = 1; l <= kLargestMoment; ++l) {
    const double d = divergence(l + 1);
    const double error = 8 * kUnitRoundoff * l * (d + std::abs(epsilon));
    const double log_delta = NextUp(l * (d - epsilon) + error);
    if (log_delta < best.value) best = Conversion{log_delta, l + 1.0};
  }
  return best;
}

}  // namespace epsledger::accounting
