#include "accounting/gaussian/calibration.h"

#include <cmath>
#include <limits>

#include "accounting/gaussian/profile.h"
#include "accounting/numeric/rounding.h"
#include "accounting/numeric/search.h"

namespace epsledger::accounting {

double LargestGaussianMu(double epsilon, double log_delta) {
  if (std::isnan(epsilon) || std::isnan(log_delta)) return 0;
  if (log_delta >= 0) return kInfinity;
  if (log_delta == -kInfinity) return 0;
  // In log mu: the answer may be 1e-300 at epsilon = 0.
  const auto excess = [&](double log_mu) {
    return GaussianLogDelta(std::exp(log_mu), epsilon).upper - log_delta;
  };
  double holds = 0;
  double fails = 0;
  double step = 1;
  if (excess(0) <= 0) {
    while (excess(fails) <= 0) {
      holds = fails;
      fails += step;
      step *= 2;
      if (fails > 709) return std::exp(holds);
    }
  } else {
    while (!(excess(holds) <= 0)) {
      fails = holds;
      holds -= step;
      step *= 2;
      if (holds < -740) return 0;
    }
  }
  const Crossing crossing = NarrowCrossing(excess, holds, fails, 1e-16);
  return std::exp(crossing.holds);
}

}  // namespace epsledger::accounting
