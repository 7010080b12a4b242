#include "accounting/renyi/poisson_selection.h"

#include <algorithm>
#include <cmath>

#include "accounting/numeric/constants.h"
#include "accounting/numeric/log_space.h"
#include "accounting/numeric/rounding.h"
#include "accounting/renyi/conversion.h"

namespace epsledger::accounting {

PoissonSelection::PoissonSelection(absl::FunctionRef<double(double)> one_run, double mean)
    : mean_(mean) {
  double least = kInfinity;
  for (double excess = 0x1p20; excess >= 0x1p-6; excess *= 0.7071) {
    const double bound = AtOrder(1 + excess, one_run);
    if (!(bound < least)) continue;
    least = bound;
    above_.emplace_back(1 + excess, least);
  }
}

double PoissonSelection::Divergence(double order, absl::FunctionRef<double(double)> one_run) const {
  if (!(order > 1)) return kInfinity;
  double least = AtOrder(order, one_run);
  // Orders fall; the last that is not below this one has the least bound.
  for (const auto& [other, bound] : above_) {
    if (other < order) break;
    least = std::min(least, bound);
  }
  return least;
}

double PoissonSelection::AtOrder(double order, absl::FunctionRef<double(double)> one_run) const {
  const double excess = order - 1;
  const double epsilon = RoundDownNonNegative(std::log1p(1 / excess), 3);
  const double delta =
      RoundUpNonNegative(std::exp(std::min(0.0, LogDeltaFromRenyi(one_run, epsilon).value)), 2);
  const double exponent = excess * RoundUp(one_run(order) + mean_ * delta, 3);
  const double log_mean = std::log(mean_);
  const double log_moment = LogAddExp(-mean_, log_mean + exponent);
  const double error = 8 * kUlp * (std::abs(log_mean) + exponent + 1);
  const double bound = RoundUp((log_moment + error) / excess, 3);
  // A NaN has become +inf.
  return std::max(0.0, bound);
}

}  // namespace epsledger::accounting
