#include "accounting/renyi/sampled_gaussian.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include "accounting/numeric/constants.h"
#include "accounting/numeric/log_space.h"
#include "accounting/numeric/normal.h"
#include "accounting/numeric/rounding.h"
#include "accounting/renyi/bernoulli_integrand.h"
#include "accounting/renyi/closed_form.h"
#include "accounting/renyi/log_moment.h"

namespace epsledger::accounting {
namespace {

// Integer orders up to this one use the binomial sum; beyond it the quadrature is cheaper.
constexpr int kLargestSummedOrder = 256;
// Orders closer to 1 than this are answered at this order (the divergence grows with the order).
constexpr double kSmallestExcess = 1e-6;
// The target for the relative aliasing error is below e^-32 = 1e-14.
constexpr double kAliasingTarget = 32;
// A stretch of grid points whose sum is proved below e^-34 of the answer is not evaluated.
constexpr double kNegligibleExponent = 34;
// Work limit of one quadrature, in points; beyond it a closed form is used.
constexpr int64_t kMaxPoints = 20'000;
// Runs of grid points no longer than this are evaluated without a check whether they matter.
constexpr int64_t kRun = 64;

// A trapezoid rule in progress; all values are scaled by e^-shift.
class TrapezoidSum {
 public:
  TrapezoidSum(const BernoulliIntegrand& integrand, double step, double shift)
      : integrand_(integrand), step_(step), shift_(shift) {}

  double t(int64_t i) const { return static_cast<double>(i) * step_; }
  void AddPoints(int64_t first, int64_t last) {
    for (int64_t i = first; i <= last; ++i) {
      const Computed f = integrand_.At(t(i), shift_);
      sum_ += f.value;
      error_ += f.error;
    }
    points_ += last - first + 1;
  }
  // A bound on points that were not evaluated, as the log of their unscaled sum.
  void AddBound(double log_bound) { bounded_ += std::exp(log_bound - shift_) * (1 + 1e-9); }

  int64_t points() const { return points_; }
  double shift() const { return shift_; }
  double step() const { return step_; }
  // Returns h * (sum + all that the sum may lack), still scaled; includes the 1/sqrt(2 pi).
  double Upper() const {
    const double rounding = 2 * kUlp * static_cast<double>(points_ + 16) * sum_;
    return step_ * (sum_ + error_ + rounding + bounded_ + 1e-300) * std::exp(-kLogSqrt2Pi) *
           (1 + 16 * kUlp);
  }

 private:
  const BernoulliIntegrand& integrand_;
  const double step_;
  const double shift_;
  double sum_ = 0;
  double error_ = 0;
  double bounded_ = 0;
  int64_t points_ = 0;
};

// (M - 1) <= (S + A (2 + 2 |b| q)) / (1 - A factor) in logs, S the trapezoid sum and A the aliasing
// factor (README, "Aliasing").
double Close(const TrapezoidSum& trapezoid, double log_aliasing, double absolute, double relative,
             double order) {
  const double aliasing = std::exp(log_aliasing) * (1 + 1e-9);
  if (!(aliasing * relative < 0.5)) return kInfinity;
  const double upper = (trapezoid.Upper() + aliasing * absolute * std::exp(-trapezoid.shift())) /
                       (1 - aliasing * relative);
  if (!(upper > 0) || !std::isfinite(upper)) return kInfinity;
  const double log_upper = std::log(upper);
  const double log_m = trapezoid.shift() + log_upper;
  return DivergenceFromExcess(log_m, 8 * kUlp * (trapezoid.shift() + std::abs(log_upper) + 1),
                              order);
}

// Bounds the grid points first..last of the remove side where they cannot matter and evaluates them
// where they can. Returns false if that takes too many points.
bool SumRemove(const BernoulliIntegrand& integrand, double order, int64_t first, int64_t last,
               double log_left_limit, double log_answer, TrapezoidSum& trapezoid) {
  std::vector<std::pair<int64_t, int64_t>> runs;
  runs.reserve(96);
  runs.emplace_back(first, last);
  while (!runs.empty()) {
    const auto [i, j] = runs.back();
    runs.pop_back();
    if (j - i < kRun) {
      trapezoid.AddPoints(i, j);
      if (trapezoid.points() > kMaxPoints) return false;
      continue;
    }
    const double a = trapezoid.t(i);
    const double b = trapezoid.t(j);
    double log_bound = kInfinity;
    if (b <= integrand.zero()) {
      // y <= 0: F is at most its limit on the left.
      const double nearest = a > 0 ? a : b < 0 ? b : 0;
      log_bound = log_left_limit - 0.5 * nearest * nearest;
    } else if (a >= integrand.zero()) {
      // y >= 0: F <= g^a, and log g is convex, so it lies below its chord; order * chord - t^2/2 is
      // a parabola.
      const double log_g_a = integrand.LogG(a);
      const double slope = (integrand.LogG(b) - log_g_a) / (b - a);
      const double top = std::clamp(order * slope, a, b);
      const double chord = order * (log_g_a + slope * (top - a));
      log_bound = chord - 0.5 * top * top + 16 * kUlp * (std::abs(chord) + top * top + 1);
    }
    const double log_run = log_bound + std::log(static_cast<double>(j - i + 1));
    if (log_run < log_answer - kNegligibleExponent) {
      trapezoid.AddBound(log_run);
      continue;
    }
    const int64_t middle = i + (j - i) / 2;
    runs.emplace_back(i, middle);
    runs.emplace_back(middle + 1, j);
  }
  return true;
}

// Returns the t of the rightmost maximum of g^order phi, from the fixed point of its stationarity
// condition.
double RightPeak(const BernoulliIntegrand& integrand, double order) {
  const double far = order * integrand.inverse_s();
  double t = far;
  for (int i = 0; i < 40; ++i) {
    const double next = far * integrand.Weight(t);
    if (!(std::abs(next - t) > 1e-3)) break;
    t = next;
  }
  return t;
}

}  // namespace

double SampledGaussianConvexityBound(const SampledGaussian& mechanism, double order) {
  const double q = mechanism.sampling_probability;
  const double s = mechanism.noise_multiplier;
  // g^a <= 1 - q + q e^{a u} by convexity of t^a, and E_Q[e^{a u}] = e^{a (a-1) / (2 s^2)}.
  const double k = 0.5 * order / s * ((order - 1) / s);
  if (!std::isfinite(k)) return GaussianRenyi(order, RoundUp(1 / s));  // sampling cannot hurt
  double divergence;
  if (k < 700) {
    divergence = RoundUp(std::log1p(RoundUp(q * std::expm1(k), 8 + 4 * k)) / (order - 1), 4);
  } else {
    const double log_q = std::log(q);
    const double log_m = LogAddExp(std::log1p(-q), log_q + k);
    divergence = RoundUp((log_m + 16 * kUlp * (k + std::abs(log_q))) / (order - 1), 4);
  }
  return std::min(divergence, GaussianRenyi(order, RoundUp(1 / s)));
}

double SampledGaussianIntegerOrder(const SampledGaussian& mechanism, int order) {
  const double q = mechanism.sampling_probability;
  const double s = mechanism.noise_multiplier;
  if (q == 1) return GaussianRenyi(order, RoundUp(1 / s));
  // M - 1 = sum_k C(a,k) (1-q)^(a-k) q^k (e^{k(k-1)/(2 s^2)} - 1) ([MTZ19] Sec 3.3, with the
  // binomial weights' sum of 1 taken out): all terms are positive.
  const double log_q = std::log(q);
  const double log_rest = std::log1p(-q);
  std::vector<double> log_terms;
  log_terms.reserve(order);
  double log_choose = std::log(static_cast<double>(order));
  double top = -kInfinity;
  double magnitude = 0;
  for (int k = 2; k <= order; ++k) {
    log_choose += std::log(static_cast<double>(order - k + 1) / k);
    const double exponent = 0.5 * k / s * ((k - 1) / s);
    if (!std::isfinite(exponent)) return kInfinity;
    const double log_gain = LogExpm1(exponent);
    const double from_q = k * log_q;
    const double from_rest = (order - k) * log_rest;
    const double log_term = log_choose + from_rest + from_q + log_gain;
    log_terms.push_back(log_term);
    top = std::max(top, log_term);
    // log C(a, k) is at most a log 2 and carries an ulp of each of its k steps.
    magnitude = std::max(magnitude, (1 + 0.25 * k) * order * kLog2 - from_q - from_rest +
                                        std::abs(log_gain) + 2 * exponent);
  }
  double sum = 0;
  for (const double log_term : log_terms) sum += std::exp(log_term - top);
  const double log_m = top + std::log(sum);
  return DivergenceFromExcess(log_m, 8 * kUlp * (magnitude + order), order);
}

double SampledGaussianQuadrature(const SampledGaussian& mechanism, double order) {
  const double q = mechanism.sampling_probability;
  const double s = mechanism.noise_multiplier;
  if (q == 1) return GaussianRenyi(order, RoundUp(1 / s));
  const BernoulliIntegrand integrand(order, q, s);
  const double far = order * integrand.inverse_s();
  if (!(far < 1e12)) return kInfinity;

  // The rough size of the answer, from a few points: decides the step and the range, proves
  // nothing.
  const double right = RightPeak(integrand, order);
  const double log_peak = order * integrand.LogG(right) - 0.5 * right * right;
  const double shift = std::max(0.0, log_peak);
  double largest = 0;
  for (const double t : {-1.0, 1.0, integrand.inverse_s(), 2 * integrand.inverse_s(), right}) {
    largest = std::max(largest, integrand.At(t, shift).value);
  }
  if (!(largest > 1e-250) || !std::isfinite(largest)) return kInfinity;
  const double log_answer = shift + std::log(largest);

  // The widest step whose aliasing is far below the answer: analytic for |Im t| < pi s, and
  // |f(t + i c)| <= e^{c^2/2} (g^a + 1 + a |y|) phi.
  const double absolute = 2 + 2 * order * q;
  const double want = kAliasingTarget + std::log1p(absolute * std::exp(-log_answer)) + kLog2;
  const double c = std::min(std::sqrt(2 * want), kPi * s * (1 - 1e-9));
  const double step = 2 * kPi * c / (want + 0.5 * c * c);
  if (!(12 / step < static_cast<double>(kMaxPoints)))
    return kInfinity;  // one hump alone takes too many points
  const double cycles = 2 * kPi * c / step;
  const double log_aliasing = kLog2 + 0.5 * c * c - cycles - std::log1p(-std::exp(-cycles));

  // The grid runs from where the left tail, F(-q) phi, to where the right tail, g^a phi, is
  // negligible.
  const double log_left_limit = integrand.LogLeftLimit();
  const double left =
      std::sqrt(2 * std::max(0.5, kNegligibleExponent + 4 + log_left_limit - log_answer)) + step;
  const double beyond =
      std::sqrt(2 * (kNegligibleExponent + 4 + std::max(0.0, log_peak - log_answer) +
                     std::max(0.0, -log_answer))) +
      step;
  if (!((far + beyond + left) / step < 1e15)) return kInfinity;
  const int64_t first = -static_cast<int64_t>(std::ceil(left / step));
  const int64_t last = static_cast<int64_t>(std::ceil((far + beyond) / step));

  TrapezoidSum trapezoid(integrand, step, shift);
  // Points left of the first: log phi falls by at least |t| a unit.
  const double t_first = -trapezoid.t(first);
  trapezoid.AddBound(log_left_limit - 0.5 * t_first * t_first -
                     std::log(std::expm1(t_first * step)));
  // Points right of the last: a log g - t^2/2 falls by at least t - a/s a unit.
  const double t_last = trapezoid.t(last);
  const double log_last = order * integrand.LogG(t_last);
  trapezoid.AddBound(log_last - 0.5 * t_last * t_last +
                     16 * kUlp * (std::abs(log_last) + t_last * t_last) -
                     std::log(std::expm1((t_last - far) * step * (1 - 1e-9))));
  if (!SumRemove(integrand, order, first, last, log_left_limit, log_answer, trapezoid))
    return kInfinity;
  return Close(trapezoid, log_aliasing, absolute, 1, order);
}

double SampledGaussianRemoveRenyi(const SampledGaussian& mechanism, double order) {
  if (std::isnan(order) || !(order > 1)) return kInfinity;
  order = std::max(order, 1 + kSmallestExcess);
  const double bound = SampledGaussianConvexityBound(mechanism, order);
  if (mechanism.sampling_probability == 1 || order == kInfinity) return bound;
  const double whole = std::floor(order);
  if (whole == order && order <= kLargestSummedOrder) {
    return std::min(bound, SampledGaussianIntegerOrder(mechanism, static_cast<int>(order)));
  }
  const double quadrature = SampledGaussianQuadrature(mechanism, order);
  if (quadrature < kInfinity) return std::min(bound, quadrature);
  if (order > kLargestSummedOrder) return bound;
  // log M is convex in the order: at most its chord between the integers on either side.
  const double n = whole;
  const double below =
      n < 2 ? 0 : (n - 1) * SampledGaussianIntegerOrder(mechanism, static_cast<int>(n));
  const double above = n * SampledGaussianIntegerOrder(mechanism, static_cast<int>(n) + 1);
  const double theta = order - n;
  return std::min(bound, RoundUp(((1 - theta) * below + theta * above) / (order - 1), 6));
}

double SampledGaussianAddRenyi(const SampledGaussian& mechanism, double order) {
  const double remove = SampledGaussianRemoveRenyi(mechanism, order);
  const double q = mechanism.sampling_probability;
  const double s = mechanism.noise_multiplier;
  if (q == 1 || !(order > 1) || order == kInfinity) return remove;
  order = std::max(order, 1 + kSmallestExcess);
  const double b = 1 - order;
  const BernoulliIntegrand integrand(b, q, s);
  // (1-a) log g - t^2/2 is concave, its peak left of 0 where t = (1-a)/s Weight(t): bisection.
  double low = b * integrand.inverse_s();
  double high = 0;
  for (int i = 0; i < 60 && high - low > 1e-3; ++i) {
    const double middle = 0.5 * (low + high);
    const bool right_of_peak = b * integrand.inverse_s() * integrand.Weight(middle) < middle;
    (right_of_peak ? high : low) = middle;
  }
  const double peak = 0.5 * (low + high);
  const double shift = std::max(0.0, b * integrand.LogG(peak) - 0.5 * peak * peak);
  double largest = 0;
  for (const double t : {peak, peak - 1, -1.0, 1.0, integrand.inverse_s()}) {
    largest = std::max(largest, integrand.At(t, shift).value);
  }
  if (!(largest > 1e-250) || !std::isfinite(largest)) return remove;
  const double log_answer = shift + std::log(largest);

  // |g(t + i c)| >= g(t) cos(c / (2 s)): the strip costs cos^{-(a-1)} (README, "The add side").
  const double absolute = 2 + 2 * -b * q;
  const double want = kAliasingTarget + std::log1p(absolute * std::exp(-log_answer)) + kLog2;
  double c = 0;
  double step = 0;
  double candidate = std::min(std::sqrt(2 * want), kPi * s * 0.999);
  for (int i = 0; i < 90; ++i, candidate *= 0.8) {
    const double cost = 0.5 * candidate * candidate + b * std::log(std::cos(0.5 * candidate / s));
    const double candidate_step = 2 * kPi * candidate / (want + cost);
    if (candidate_step > step) {
      step = candidate_step;
      c = candidate;
    } else if (candidate_step < 0.5 * step) {
      break;
    }
  }
  if (!(12 / step < static_cast<double>(kMaxPoints))) return remove;
  const double cycles = 2 * kPi * c / step;
  const double log_aliasing = kLog2 + 0.5 * c * c - cycles - std::log1p(-std::exp(-cycles));
  const double log_relative = b * std::log(std::cos(0.5 * c / s));

  const double log_left_limit = integrand.LogLeftLimit();
  const double left =
      std::max(std::sqrt(2 * std::max(0.5, kNegligibleExponent + 4 + log_left_limit - log_answer)),
               1.0) +
      step;
  const double mean = integrand.inverse_s();
  const double beyond =
      std::sqrt(2 * (kNegligibleExponent + 4 + std::max(0.0, std::log(-b * q) - log_answer))) +
      step;
  if (!((left + mean + beyond) / step < static_cast<double>(kMaxPoints))) return remove;
  const int64_t first = -static_cast<int64_t>(std::ceil(left / step));
  const int64_t last = static_cast<int64_t>(std::ceil((mean + beyond) / step));
  TrapezoidSum trapezoid(integrand, step, shift);
  const double t_first = -trapezoid.t(first);
  trapezoid.AddBound(log_left_limit - 0.5 * t_first * t_first -
                     std::log(std::expm1(t_first * step)));
  // Right of the last: F <= |b| y <= |b| q e^u.
  const double t_last = trapezoid.t(last);
  trapezoid.AddBound(std::log(-b * q) + integrand.u(t_last) - 0.5 * t_last * t_last -
                     std::log(std::expm1((t_last - mean) * step * (1 - 1e-9))));
  trapezoid.AddPoints(first, last);
  return std::min(remove, Close(trapezoid, log_aliasing + log_relative, absolute, 1, order));
}

}  // namespace epsledger::accounting
