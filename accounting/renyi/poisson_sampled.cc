#include "accounting/renyi/poisson_sampled.h"

#include <algorithm>
#include <cmath>

#include "accounting/classical/approximate_dp.h"
#include "accounting/event/domain.h"
#include "accounting/numeric/constants.h"
#include "accounting/numeric/log_space.h"
#include "accounting/numeric/rounding.h"
#include "accounting/renyi/closed_form.h"

namespace epsledger::accounting {
namespace {

// log(1 + e^log_m) / (order - 1) for log_m known to +- error; 0 for log_m = -inf.
double FromLogGain(double log_m, double error, double order) {
  if (log_m == -kInfinity) return 0;
  const double high = NextUp(log_m + error);
  const double log_moment = high < 0 ? std::log1p(std::exp(high)) : LogAddExp(0, high);
  return RoundUp(log_moment / (order - 1), 6);
}

// log(e^x - 1) for x known to a relative error of 2^-50, rounded up. Its derivative is at most
// 1 + 1/x.
double LogGain(double x) {
  if (x == 0) return -kInfinity;
  return NextUp(LogExpm1(x) + 8 * kUlp * (x + 1 + std::abs(std::log(x))));
}

// E[F(y)] / (a - 1) where y = q (r - 1), r = e^{+-epsilon} with probabilities 1/(1 + e^{+-epsilon})
// under Q, F = (1 + y)^b - 1 - b y: the mean of y is 0, so this is M - 1.
double SampledTwoOutcomes(double order, double epsilon, double q, double b) {
  if (epsilon == 0) return 0;
  double gain = 0;
  for (const double loss : {epsilon, -epsilon}) {
    const double weight = 1 / (1 + std::exp(loss));
    const double log_g = std::log1p(q * std::expm1(loss));
    const double power = b * log_g;
    if (!(std::abs(power) < 700) || !std::isfinite(log_g)) return kInfinity;  // the caller has more
    const double first = Expm1MinusX(power);
    const double second = Expm1MinusX(log_g);
    const double error = 16 * kUlp *
                         (first + std::abs(b) * second + std::abs(power * std::expm1(power)) +
                          std::abs(b * log_g * std::expm1(log_g)));
    gain += weight * (first - b * second + error) * (1 + 16 * kUlp * (1 + epsilon));
  }
  if (!(gain >= 0)) return kInfinity;
  return RoundUp(std::log1p(RoundUp(gain, 4)) / (order - 1), 4);
}

// Returns at least log((1 + y)^{1-a} - 1 + (a-1) y), y = -q (1 - t), t in [0, 1).
double LogRemainder(double order, double q, double t) {
  const double x = std::log1p(-q * (1 - t));
  const double power = (1 - order) * x;
  if (!(power < 700)) return kInfinity;
  const double remainder = Expm1MinusX(power) + (order - 1) * Expm1MinusX(x);
  return NextUp(std::log(remainder) + 32 * kUlp * (2 + power));
}

}  // namespace

PoissonSampledRenyi::PoissonSampledRenyi(absl::FunctionRef<double(double)> inner,
                                         double sampling_probability, bool exchangeable)
    : q_(sampling_probability), exchangeable_(exchangeable), log_gain_(kLargestOrder + 1) {
  for (int k = 2; k <= kLargestOrder; ++k) log_gain_[k] = LogGain((k - 1) * inner(k));
  for (double t = 0.9; t > 0.05; t -= 0.1) {
    // Markov's inequality for r^{1-k}, whose mean under Q is at most e^{(k-1) D_k}.
    double log_probability = 0;
    for (int k = 2; k <= kLargestOrder; ++k) {
      const double log_moment = LogAddExp(0, log_gain_[k]);
      const double error = 8 * kUlp * (k - (k - 1) * std::log(t) + std::abs(log_moment));
      log_probability = std::min(log_probability, (k - 1) * std::log(t) + log_moment + error);
    }
    small_ratios_.push_back(SmallRatio{t, log_probability});
  }
}

double SamplingConvexityRenyi(double order, double inner, double q) {
  const double k = RoundUpNonNegative((order - 1) * inner, 2);
  if (!(k < kInfinity)) return inner;  // sampling cannot hurt
  return std::min(inner,
                  FromLogGain(std::log(q) + LogGain(k), 8 * kUlp * (k - std::log(q) + 1), order));
}

double MixtureRenyi(double order, double first, double second, Bounds second_weight) {
  const double larger = std::max(first, second);
  const double w = second > first ? second_weight.upper : second_weight.lower;
  if (!(w > 0)) return first;
  if (!(w < 1)) return second;
  const double k_first = RoundUpNonNegative((order - 1) * first, 2);
  const double k_second = RoundUpNonNegative((order - 1) * second, 2);
  if (!(k_first < kInfinity && k_second < kInfinity)) return larger;
  const double log_w = std::log(w);
  const double log_rest = std::log1p(-w);
  const double log_gain = LogAddExp(log_rest + LogGain(k_first), log_w + LogGain(k_second));
  const double magnitude = k_first + k_second - log_w - log_rest + std::abs(log_gain) + 2;
  if (log_gain == -kInfinity) return 0;
  return std::min(larger, FromLogGain(log_gain, 8 * kUlp * magnitude, order));
}

double PoissonSampledRenyi::AtInteger(int order) const {
  // M - 1 = sum_{k>=2} C(a,k) (1-q)^{a-k} q^k (e^{(k-1) D_k} - 1): the total of 1 of the weights is
  // removed, and all terms are positive.
  const double log_q = std::log(q_);
  const double log_rest = std::log1p(-q_);
  double log_choose = std::log(static_cast<double>(order));
  double log_m = -kInfinity;
  double magnitude = 0;
  for (int k = 2; k <= order; ++k) {
    log_choose += std::log(static_cast<double>(order - k + 1) / k);
    if (log_gain_[k] == kInfinity) return kInfinity;
    if (log_gain_[k] == -kInfinity) continue;
    log_m = LogAddExp(log_m, log_choose + (order - k) * log_rest + k * log_q + log_gain_[k]);
    magnitude = std::max(magnitude, (1 + 0.25 * k) * order * kLog2 - k * log_q -
                                        (order - k) * log_rest + std::abs(log_gain_[k]));
  }
  return FromLogGain(log_m, 8 * kUlp * (magnitude + 4.0 * order), order);
}

double PoissonSampledRenyi::Remove(double order, double inner) const {
  if (!(order > 1)) return kInfinity;
  const double best = SamplingConvexityRenyi(order, inner, q_);
  if (!(order <= kLargestOrder)) return best;
  const int below = static_cast<int>(order);
  if (below == order) return std::min(best, AtInteger(below));
  if (below == kLargestOrder) return best;
  const double left = below < 2 ? 0 : (below - 1) * AtInteger(below);
  const double right = below * AtInteger(below + 1);
  const double share = order - below;
  return std::min(best, RoundUp(((1 - share) * left + share * right) / (order - 1), 8));
}

double PoissonSampledRenyi::Add(double order, double inner) const {
  if (!(order > 1)) return kInfinity;
  double best = SamplingConvexityRenyi(order, inner, q_);
  if (log_gain_[2] == -kInfinity) return 0;  // D_2 = 0: the two laws are equal
  const auto consider = [&](double log_m) {
    if (!(log_m < kInfinity)) return;
    best = std::min(best, FromLogGain(log_m, 8 * kUlp * (std::abs(log_m) + 4), order));
  };
  const double at_zero = LogRemainder(order, q_, 0);
  consider(at_zero + log_gain_[2]);
  for (const SmallRatio& small : small_ratios_) {
    const double above = LogRemainder(order, q_, small.t) - 2 * std::log1p(-small.t);
    consider(LogAddExp(above + log_gain_[2], at_zero + small.log_probability));
  }
  return exchangeable_ ? std::min(best, Remove(order, inner)) : best;
}

double PoissonSampledPureDpRemoveRenyi(double order, double epsilon, double q) {
  const double bound = PureDpRenyi(order, AmplifiedEpsilon(epsilon, q));
  if (!(order > 1) || epsilon > 700) return bound;
  return std::min(bound, SampledTwoOutcomes(order, epsilon, q, order));
}

double PoissonSampledPureDpAddRenyi(double order, double epsilon, double q) {
  const double bound = PoissonSampledPureDpRemoveRenyi(order, epsilon, q);
  if (!(order > 1) || epsilon > 700) return bound;
  // Randomized response is exchanged by swapping its outcomes: add is at most remove
  // (README, "Poisson sampling of any mechanism"), and has its own sum.
  return std::min(bound, SampledTwoOutcomes(order, epsilon, q, 1 - order));
}

}  // namespace epsledger::accounting
