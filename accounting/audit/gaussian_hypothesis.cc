#include "accounting/audit/gaussian_hypothesis.h"

#include <algorithm>
#include <cmath>

#include "accounting/gaussian/profile.h"
#include "accounting/numeric/rounding.h"

namespace epsledger::accounting {

double GaussianEpsilonLower(double mu, double delta) {
  if (!(mu > 0) || !(delta > 0)) return 0;
  // Epsilon falls as delta grows; delta is rounded up.
  const double log_delta = std::min(RoundUp(std::log(delta)), 0.0);
  return std::max(GaussianEpsilon({mu, mu}, log_delta).lower, 0.0);
}

}  // namespace epsledger::accounting
