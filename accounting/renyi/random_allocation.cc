#include "accounting/renyi/random_allocation.h"

#include <algorithm>
#include <cmath>

#include "accounting/event/domain.h"
#include "accounting/numeric/constants.h"
#include "accounting/numeric/log_space.h"
#include "accounting/numeric/normal.h"
#include "accounting/numeric/rounding.h"
#include "accounting/renyi/closed_form.h"

namespace epsledger::accounting {
namespace {

// The height of the strip that the add side's outer trapezoid rule uses.
constexpr double kHeight = 0.7;
// Below this the grid of the add side takes too many points, and the closed form is used.
constexpr double kSmallestNoiseMultiplier = 0.3;
constexpr int kDegree = RandomAllocationGaussian::kLargestOrder;

// Coefficients of z^0 .. z^kDegree as logarithms; all are positive.
using LogSeries = std::vector<double>;

LogSeries Multiply(const LogSeries& a, const LogSeries& b) {
  LogSeries product(kDegree + 1);
  for (int n = 0; n <= kDegree; ++n) {
    double top = -kInfinity;
    for (int k = 0; k <= n; ++k) top = std::max(top, a[k] + b[n - k]);
    double sum = 0;
    for (int k = 0; k <= n; ++k) sum += std::exp(a[k] + b[n - k] - top);
    product[n] = top == -kInfinity ? top : top + std::log(sum);
  }
  return product;
}

// An upper bound on log phi(v), v = e^x, by the trapezoid rule in t, from 1 - phi where phi is near
// 1 and from phi itself where it is small. On |Im t| <= c <= pi s / 2 the real part of v r stays
// positive, so |1 - e^{-v r}| <= min(|v r|, 2) and |e^{-v r}| <= 1: the integrals there are at most
// e^{c^2/2} min(v, 2) and e^{c^2/2}.
double LogPhiUpper(double x, double s) {
  constexpr double kWant = 42;
  constexpr double kReach = 9;  // 2 Phi(-9) < 3e-19
  const double v = std::exp(x);
  const double c = std::min(std::sqrt(2 * kWant), 0.5 * kPi * s * (1 - 1e-9));
  const double step = 2 * kPi * c / (kWant + 0.5 * c * c);
  const double inverse = 1 / s;
  const double half = 0.5 * inverse * inverse;
  // r phi(t) peaks at 1/s. Omitted points lower the first sum, which is the safe side.
  const int first = -static_cast<int>(std::ceil(kReach / step));
  const int last = static_cast<int>(std::ceil((kReach + inverse) / step));
  double one_minus_phi = 0;
  double phi = 0;
  for (int i = first; i <= last; ++i) {
    const double t = i * step;
    const double vr = std::exp(x + t * inverse - half);
    const double density = std::exp(-0.5 * t * t);
    one_minus_phi += -std::expm1(-vr) * density;
    // vr is off by its exponent's rounding, e^{-vr} by that times vr: e^{-vr (1 - tiny)} is above.
    phi += std::exp(-vr * (1 - 1e-12)) * density;
  }
  const double scale = step * std::exp(-kLogSqrt2Pi);
  // Exponents are below 100 + |x| + (9 + 1/s)/s: that many ulp for each point.
  const double ulps = 16 + 4 * (100 + std::abs(x) + (kReach + inverse) * inverse) +
                      static_cast<double>(last - first);
  const double aliasing = 2 * std::exp(0.5 * c * c - 2 * kPi * c / step) * 1.01;
  const double lower = one_minus_phi * scale * (1 - ulps * kUlp) - aliasing * std::min(v, 2.0);
  const double upper = phi * scale * (1 + ulps * kUlp) + aliasing + 1e-18;
  double log_phi = 0;
  if (lower > 0 && lower < 1) log_phi = RoundUp(std::log1p(-lower), 2);
  return std::min(log_phi, RoundUp(std::log(upper), 2));
}

}  // namespace

RandomAllocationGaussian::RandomAllocationGaussian(int64_t rounds, double noise_multiplier)
    : rounds_(static_cast<double>(rounds)), noise_multiplier_(noise_multiplier) {
  if (rounds_ == 1) return;
  const double s = noise_multiplier_;
  const double half = 0.5 / s / s;
  const double log_t = std::log(rounds_);
  // Coefficient k of one round, with 1/t and the mean e^{-1/(2 s^2)} put in: the coefficients of
  // the power are then log M_a - log a!.
  LogSeries power(kDegree + 1);
  LogSeries result(kDegree + 1, -kInfinity);
  result[0] = 0;
  // The largest logarithm that enters degree k: every part of a product has a lower degree.
  std::vector<double> magnitude(kDegree + 1);
  for (int k = 0; k <= kDegree; ++k) {
    power[k] = k * (k - 1) * half - std::lgamma(k + 1.0) - k * log_t;
    magnitude[k] = k * (k - 1) * half + 2 * (std::lgamma(k + 1.0) + k * log_t);
  }
  int products = 0;
  for (int64_t n = rounds; n > 0; n /= 2) {
    if (n % 2 == 1) {
      result = Multiply(result, power);
      ++products;
    }
    if (n > 1) {
      power = Multiply(power, power);
      ++products;
    }
  }
  // A coefficient of degree n that is off by n e makes one of degree m of a product off by m e at
  // most (degree 0 is exactly 1), plus the product's own rounding: errors add up over the products,
  // they do not double.
  remove_log_moment_.resize(kDegree + 1);
  for (int a = 2; a <= kDegree; ++a) {
    const double log_moment = result[a] + std::lgamma(a + 1.0);
    const double error =
        a * (products + 2.0) * 4 * kUlp * (2 * magnitude[a] + std::abs(result[a]) + 2 * a);
    remove_log_moment_[a] = std::max(0.0, NextUp(log_moment + error));
  }

  // The add side's grid. In x = log v the integrand e^{bx} phi(e^x)^t is analytic for |Im x| <
  // pi/2, where its integral is at most cos(c)^{-b} times that on the real line, since |phi(v
  // e^{ic})|
  // <= phi(v cos c).
  if (!(s >= kSmallestNoiseMultiplier)) return;
  const double worst_cost = -(kDegree - 1) * std::log(std::cos(kHeight));
  const double cycles = 38 + worst_cost;
  step_ = 2 * kPi * kHeight / cycles;
  log_aliasing_ = kLog2 - cycles + 1e-9;
  // The grid runs from where e^{bx} is negligible at b = 1 (phi <= 1) to where phi^t is negligible.
  first_x_ = -log_t - 40;
  for (int i = 0; i < 4000; ++i) {
    const double x = first_x_ + i * step_;
    const double log_phi = LogPhiUpper(x, s);
    const double value = log_phi == 0 ? 0 : RoundUp(rounds_ * log_phi);
    log_phi_t_.push_back(std::min(0.0, value));
    if (value + (kDegree - 1) * (x + log_t) < -60 && x > -log_t) break;
    if (log_phi < -40) break;
  }
}

double RandomAllocationGaussian::Remove(double order) const {
  const double whole = GaussianRenyi(order, RoundUp(1 / noise_multiplier_));
  if (!(order > 1)) return kInfinity;
  if (rounds_ == 1 || !(order <= kLargestOrder)) return whole;
  const int below = static_cast<int>(order);
  const double left = below < 2 ? 0 : remove_log_moment_[below];
  if (below == order) return std::min(whole, RoundUp(left / (order - 1), 2));
  if (below == kLargestOrder) return whole;
  const double right = remove_log_moment_[below + 1];
  const double share = order - below;
  return std::min(whole, RoundUp(((1 - share) * left + share * right) / (order - 1), 8));
}

double RandomAllocationGaussian::AddIntegral(double order) const {
  if (log_phi_t_.empty()) return kInfinity;
  const double b = order - 1;
  const double log_t = std::log(rounds_);
  double top = -kInfinity;
  std::vector<double> logs;
  logs.reserve(log_phi_t_.size());
  for (size_t i = 0; i < log_phi_t_.size(); ++i) {
    // In units of t: v t = e^{x + log t}.
    const double log_value =
        b * (first_x_ + static_cast<double>(i) * step_ + log_t) + log_phi_t_[i];
    logs.push_back(log_value);
    top = std::max(top, log_value);
  }
  double sum = 0;
  for (const double log_value : logs) sum += std::exp(log_value - top);
  // Left tail: phi <= 1, a geometric series. Right tail, from X on: phi falls with v, and v^c
  // e^{-vr}
  // <= (c/e)^c r^{-c} gives phi(v) <= (c/e)^c v^{-c} e^{c (c+1)/(2 s^2)}; with c t = b + m the sum
  // is at most e^{(b - c t)(x - X)} times the bound at X.
  const double left = b * (first_x_ + log_t) - std::log(std::expm1(b * step_));
  const double last_x = first_x_ + static_cast<double>(log_phi_t_.size() - 1) * step_;
  const double half = 0.5 / noise_multiplier_ / noise_multiplier_;
  double right = kInfinity;
  for (double m = 1; m < 1e7; m *= 2) {
    const double c = (b + m) / rounds_;
    const double log_phi = c * (std::log(c) - 1) - c * last_x + c * (c + 1) * half;
    right =
        std::min(right, b * (last_x + log_t) + rounds_ * log_phi - std::log(std::expm1(m * step_)));
  }
  double log_sum = top + std::log(sum);
  log_sum = LogAddExp(LogAddExp(log_sum, left + 1e-9), right + 1e-9);
  const double log_gamma = std::lgamma(b);
  const double aliasing = std::exp(log_aliasing_ - b * std::log(std::cos(kHeight)));
  if (!(aliasing < 0.5)) return kInfinity;
  // I <= h sum / (1 - aliasing).
  const double log_moment = log_sum + std::log(step_) - log_gamma - std::log1p(-aliasing);
  const double magnitude = std::abs(top) + b * (std::abs(first_x_) + log_t + 8) +
                           std::abs(log_gamma) + 4.0 * static_cast<double>(logs.size()) + 16;
  const double upper = NextUp(log_moment + 4 * kUlp * magnitude);
  if (!(upper < kInfinity)) return kInfinity;
  return std::max(upper, 0.0) / b;
}

double RandomAllocationGaussian::Add(double order) const {
  if (!(order > 1)) return kInfinity;
  const double mu = RoundUp(1 / noise_multiplier_);
  double best = GaussianRenyi(order, mu);
  if (rounds_ == 1) return best;
  // (a + t - 1) / (2 t s^2): E[G^{1-a}] <= prod E[r^{(1-a)/t}].
  best = std::min(best, RoundUp(0.5 * mu * mu * (1 + (order - 1) / rounds_), 6));
  if (order >= 2 && order <= kLargestOrder) {
    best = std::min(best, RoundUp(AddIntegral(order), 2));
  } else if (order < 2) {
    best = std::min(best, RoundUp(AddIntegral(2), 4));  // the divergence grows with the order
  }
  return best;
}

}  // namespace epsledger::accounting
