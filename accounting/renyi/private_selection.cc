#include "accounting/renyi/private_selection.h"

#include <algorithm>
#include <cmath>

#include "accounting/event/domain.h"
#include "accounting/numeric/rounding.h"
#include "accounting/numeric/search.h"

namespace epsledger::accounting {
namespace {

// Between the orders, less 1, at which the bound is tried.
constexpr double kOrderRatio = 0.7071;

// log E K at gamma = e^-x: log of eta (e^x - 1) / (1 - e^{-eta x}), the logarithmic law's
// (e^x - 1) / x at eta = 0. Increasing in x from 0.
double LogMean(double x, double shape) {
  // (1 - e^{-eta x}) / eta, positive for either sign of eta.
  const double below = shape == 0 ? x : -std::expm1(-shape * x) / shape;
  const double log_above = x < 700 ? std::log(std::expm1(x)) : x;
  return log_above - std::log(below);
}

}  // namespace

double LogInverseGamma(double mean, double shape) {
  const double log_mean = std::log(mean);
  // Holds where the mean of the law is certainly above the wanted mean: a larger log(1/gamma) only
  // raises the bound.
  const auto excess = [&](double log_x) {
    const double x = std::exp(log_x);
    const double value = LogMean(x, shape);
    return log_mean - value + 1e-13 * (1 + std::abs(value) + x);
  };
  double fails = -60;
  double holds = std::log(2 * log_mean + 1);
  for (int i = 0; i < 60 && !(excess(holds) <= 0); ++i) {
    fails = holds;
    holds += 1;
  }
  if (!(excess(holds) <= 0)) return kInfinity;
  return RoundUp(std::exp(NarrowCrossing(excess, holds, fails, 1e-12, 200).holds), 4);
}

PrivateSelection::PrivateSelection(absl::FunctionRef<double(double)> one_run, double mean,
                                   double shape)
    : log_mean_(RoundUpNonNegative(std::log(mean))), constant_(0) {
  if (mean == 1) return;
  const double log_inverse_gamma = LogInverseGamma(mean, shape);
  const auto at = [&](double log_excess) {
    const double b = 1 + std::exp(log_excess);
    const double d = one_run(b);
    return RoundUp((1 - 1 / b) * d + log_inverse_gamma / b, 8);
  };
  double best = log_inverse_gamma;  // b = 1
  best = std::min(best, MinimizeFrom(at, 1, 1, -10, 20, 1e-6, 60).value);
  constant_ = std::isnan(best) ? kInfinity : RoundUp((1 + shape) * best, 4);
  double least = kInfinity;
  for (double excess = 0x1p20; excess >= 0x1p-6; excess *= kOrderRatio) {
    const double order = 1 + excess;
    const double bound = AtOrder(order, one_run(order));
    if (!(bound < least)) continue;
    least = bound;
    above_.emplace_back(order, least);
  }
}

double PrivateSelection::Divergence(double order, double one_run) const {
  if (log_mean_ == 0) return one_run;
  if (!(order > 1)) return kInfinity;
  const double here = AtOrder(order, one_run);
  // Orders fall; the last that is not below this one has the least bound.
  double least = here;
  for (const auto& [other, bound] : above_) {
    if (other < order) break;
    least = std::min(least, bound);
  }
  return least;
}

double PrivateSelection::AtOrder(double order, double one_run) const {
  return RoundUp(one_run + constant_ + RoundUp(log_mean_ / (order - 1), 2), 4);
}

}  // namespace epsledger::accounting
