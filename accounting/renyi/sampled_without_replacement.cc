#include "accounting/renyi/sampled_without_replacement.h"

#include <algorithm>
#include <cmath>

#include "accounting/event/domain.h"
#include "accounting/numeric/constants.h"
#include "accounting/numeric/log_space.h"
#include "accounting/numeric/normal.h"
#include "accounting/numeric/rounding.h"
#include "accounting/renyi/closed_form.h"
#include "accounting/renyi/sampled_gaussian.h"

namespace epsledger::accounting {
namespace {

constexpr double kMostPoints = 4000;
// The target for aliasing and tails is e^-38 of the answer.
constexpr double kLogNegligible = 38;

}  // namespace

double LogCentralMoment(int l, double noise_multiplier) {
  const double s = noise_multiplier;
  const double inverse = 1 / s;
  const double half = 0.5 * inverse * inverse;
  const double log_raw = l * (l - 1) * half;  // log E_Q[(dP/dQ)^l]
  // Jensen: B(l) >= B(2)^{l/2} = (e^{1/s^2} - 1)^{l/2}.
  const double log_least = 0.5 * l * LogExpm1(2 * half);
  if (!std::isfinite(log_raw) || !std::isfinite(log_least)) return kInfinity;
  // The integrand (e^w - 1)^l e^{-t^2/2}, w = t/s - 1/(2 s^2), is entire, and at height v at most
  // e^{v^2/2} (e^w + 1)^l e^{-t^2/2}, whose integral is below sqrt(2 pi) e^{v^2/2} 2^l E[r^l].
  const double want = kLog2 + l * kLog2 + log_raw - log_least + kLogNegligible;
  const double c = std::sqrt(2 * want);
  const double step = kPi * c / want;
  const double beyond = std::sqrt(2 * (kLogNegligible + 4 + log_raw - log_least)) + step;
  const double last_t = l * inverse + beyond;
  if (!((last_t + beyond) / step < kMostPoints)) return kInfinity;
  const int first = -static_cast<int>(std::ceil(beyond / step));
  const int last = static_cast<int>(std::ceil(last_t / step));

  std::vector<double> logs;
  logs.reserve(last - first + 1);
  double top = -kInfinity;
  double error = 0;
  for (int i = first; i <= last; ++i) {
    const double t = i * step;
    const double w = t * inverse - half;
    const double w_error = 4 * kUlp * (std::abs(t) * inverse + half);
    // |e^w - 1|, moved up by the possible error of w; in logs where e^w overflows.
    const double log_factor =
        w < 700 ? std::log(std::abs(std::expm1(w)) * (1 + 4 * kUlp) + 2 * std::exp(w) * w_error)
                : w + w_error;
    const double log_value = l * log_factor - 0.5 * t * t;
    logs.push_back(log_value);
    if (log_value > top) top = log_value;
    // Only the rounding of points that matter is counted.
    if (log_value > log_least - kLogNegligible) {
      error = std::max(error, 4 * kUlp * (l * (std::abs(log_factor) + 2) + t * t));
    }
  }
  double sum = 0;
  for (const double log_value : logs) sum += std::exp(log_value - top);
  const double points = static_cast<double>(logs.size());
  double log_sum = top + std::log(sum) + error + 4 * kUlp * (points + std::abs(top) + 8);
  // Tails: left |e^w - 1| <= 1, right it is <= e^w, and beyond A the sum of e^{-(A + ih)^2/2} is at
  // most e^{-A^2/2} / (e^{A h} - 1). Points left out of `error` weigh e^-38 together with these.
  const double a = beyond - step;
  const double log_tail = -0.5 * a * a - std::log(std::expm1(a * step)) + 1e-9;
  log_sum = LogAddExp(log_sum, log_tail);
  log_sum = LogAddExp(log_sum, log_raw + log_tail);
  log_sum = LogAddExp(log_sum, log_least - kLogNegligible + std::log(points) + 1e-9);
  const double log_integral = log_sum + std::log(step) - kLogSqrt2Pi;
  // 2 N / (e^{2 pi c / h} - 1) with 2 pi c / h = 2 want, c^2/2 = want.
  const double log_aliasing = kLog2 + l * kLog2 + log_raw + want - 2 * want + 1e-9;
  return NextUp(LogAddExp(log_integral, log_aliasing) +
                8 * kUlp * (std::abs(log_integral) + std::abs(log_raw) + want));
}

SampledWithoutReplacementGaussian::SampledWithoutReplacementGaussian(double sampling_fraction,
                                                                     double noise_multiplier)
    : fraction_(sampling_fraction), noise_multiplier_(noise_multiplier) {
  const double s = noise_multiplier_;
  const double precision = 1 / s / s;
  std::vector<double> log_central(kLargestOrder + 2, kInfinity);
  for (int l = 2; l <= kLargestOrder + 1; l += 2) {
    log_central[l] = LogCentralMoment(l, s);
    // Once past the cost limit, larger l also are: they only take more points.
    if (log_central[l] == kInfinity) break;
  }
  log_minimum_.resize(kLargestOrder + 1);
  log_minimum_[2] = RoundUp(
      std::min(2 * kLog2 + LogExpm1(RoundUp(precision, 2)), kLog2 + RoundUp(precision, 2)), 4);
  for (int j = 3; j <= kLargestOrder; ++j) {
    const double central =
        2 * kLog2 + 0.5 * (log_central[j / 2 * 2] + log_central[(j + 1) / 2 * 2]);
    const double raw = kLog2 + RoundUp(0.5 * j * (j - 1) * precision, 5);
    log_minimum_[j] = NextUp(std::min(central, raw) + 4 * kUlp * (std::abs(central) + 2));
    if (central == kInfinity) log_minimum_[j] = RoundUp(raw, 4);
  }
}

double SampledWithoutReplacementGaussian::AtInteger(int order) const {
  const double log_q = std::log(fraction_);
  double log_choose = std::log(static_cast<double>(order));
  double log_sum = -kInfinity;
  double magnitude = 1;
  for (int j = 2; j <= order; ++j) {
    log_choose += std::log(static_cast<double>(order - j + 1) / j);
    const double log_term = log_choose + j * log_q + log_minimum_[j];
    log_sum = LogAddExp(log_sum, log_term);
    magnitude =
        std::max(magnitude, (1 + 0.25 * j) * order * kLog2 - j * log_q + std::abs(log_minimum_[j]));
  }
  const double high = NextUp(log_sum + 8 * kUlp * (magnitude + 4.0 * order));
  if (!(high < kInfinity)) return kInfinity;
  const double log_moment = LogAddExp(0, high);
  return RoundUp((high < 0 ? std::log1p(std::exp(high)) : log_moment) / (order - 1), 8);
}

double SampledWithoutReplacementGaussian::Divergence(double order) const {
  if (!(order > 1)) return kInfinity;
  // 1 - q + q M, and M itself: the same mixture argument as for Poisson sampling.
  double best = SampledGaussianConvexityBound(SampledGaussian{fraction_, noise_multiplier_}, order);
  if (fraction_ == 1 || !(order <= kLargestOrder)) return best;
  const int below = static_cast<int>(order);
  if (below == order) return std::min(best, AtInteger(below));
  if (below == kLargestOrder) return best;
  // (a - 1) D_a is convex, 0 at a = 1: below its chord.
  const double left = below < 2 ? 0 : (below - 1) * AtInteger(below);
  const double right = below * AtInteger(below + 1);
  const double share = order - below;
  const double chord = ((1 - share) * left + share * right) / (order - 1);
  return std::min(best, RoundUp(chord, 8));
}

}  // namespace epsledger::accounting
