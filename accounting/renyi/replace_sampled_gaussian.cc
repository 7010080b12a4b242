#include "accounting/renyi/replace_sampled_gaussian.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "accounting/gaussian/log_mixture.h"
#include "accounting/numeric/computed.h"
#include "accounting/numeric/constants.h"
#include "accounting/numeric/log_space.h"
#include "accounting/numeric/normal.h"
#include "accounting/numeric/rounding.h"
#include "accounting/renyi/log_moment.h"

namespace epsledger::accounting {
namespace {

constexpr double kLeastOrder = 1 + 1e-6;
// What is left out is aimed at e^-34 of the answer.
constexpr double kLeftOut = 34;
constexpr double kMostGridPoints = 20'000;
// Up to this order * |log r| the binomial series is used.
constexpr double kSeries = 0.05;

// One point of the integrand, its factors as logarithms.
struct Point {
  double t;
  Computed log_ratio;    // of P over Q
  Computed log_density;  // of Q, without the 1 / sqrt(2 pi)
};

Point PointAt(double t, double shift, double q) {
  const Computed above = LogMixtureAt(t, shift, q, 0).value;
  const Computed below = LogMixtureAt(t, -shift, q, 0).value;
  const double log_ratio = above.value - below.value;
  const double half = 0.5 * t * t;
  return Point{t,
               {log_ratio, above.error + below.error + kUlp * std::abs(log_ratio)},
               {below.value - half, below.error + kUlp * (std::abs(below.value) + 2 * half)}};
}

// r^a - 1 - a (r - 1) >= 0 for r = e^l, times e^-max(0, a l).
Computed Remainder(double order, Computed log_ratio) {
  const double l = log_ratio.value;
  const double power = order * l;
  const double scale = std::exp(-std::max(0.0, power));
  // The derivative in l is a (r^a - r).
  const double moved =
      1.1 * order * std::abs(std::expm1(power) - std::expm1(l)) * scale * log_ratio.error;
  if (order * std::abs(l) < kSeries) {
    // C(a,2) y^2 (1 + (a-2)/3 y (1 + (a-3)/4 y (...))): 12 terms leave 1e-16.
    const double y = std::expm1(l);
    double sum = 1;
    for (int k = 13; k >= 2; --k) sum = 1 + sum * ((order - k) / (k + 1)) * y;
    const double value = 0.5 * order * (order - 1) * y * y * sum * scale;
    return Computed{value, 40 * kUlp * value + moved};
  }
  if (power > kLeftOut) return Computed{1, 1.01 * order * log_ratio.error};  // at most r^a
  const double first = Expm1MinusX(power) * scale;
  const double second = order * Expm1MinusX(l) * scale;
  return Computed{first - second, 16 * kUlp * (first + second) * (3 + std::abs(power)) + moved};
}

}  // namespace

double ReplaceSampledGaussianRenyi(const SampledGaussian& mechanism, double order) {
  const double q = mechanism.sampling_probability;
  const double fallback =
      SampledGaussianConvexityBound({q, 0.5 * mechanism.noise_multiplier}, order);
  const double a = std::max(order, kLeastOrder);  // the divergence grows with the order
  const double shift = RoundUp(1 / mechanism.noise_multiplier);  // and with the shift
  if (!(q < 1) || !(shift > 1e-6 && shift < 1e3) || !(a < 1e5)) return fallback;

  // The integrand in the strip |Im t| <= c is at most e^{c^2/2} cos(c shift / 2)^{1-a} times the
  // one on the line, as |1 - q + q e^{z}| >= (1 - q + q e^{Re z}) cos(Im z / 2).
  const double log_least =  // near (a (a - 1) / 2) E[(r - 1)^2], to choose the step by
      std::log(a * (a - 1)) + 2 * std::log(q * std::min(1.0, shift));
  const double absolute = 1 + 2 * a;
  const double want = kLeftOut + std::max(0.0, std::log(absolute) - log_least);
  double c = 0;
  double step = 0;
  double candidate = std::min(std::sqrt(2 * want), 0.999 * kPi / shift);
  for (int i = 0; i < 90; ++i, candidate *= 0.8) {
    const double cost =
        0.5 * candidate * candidate - (a - 1) * std::log(std::cos(0.5 * candidate * shift));
    const double candidate_step = kTwoPi * candidate / (want + cost);
    if (candidate_step > step) {
      step = candidate_step;
      c = candidate;
    }
  }
  const double cycles = kTwoPi * c / step;
  const double aliasing =
      1.001 * std::exp(kLog2 + 0.5 * c * c - cycles - std::log1p(-std::exp(-cycles)));
  const double relative = 1.001 * std::exp((1 - a) * std::log(std::cos(0.5 * c * shift)));
  if (!(aliasing * relative < 0.1)) return fallback;

  // Right of the last point T the log of P over N(0, 1) rises by at most shift (t - T), and Q is at
  // least (1 - q) N(0, 1); left of the first r^a - 1 - a (r - 1) <= a and Q <= e^{-(t +
  // shift)^2/2}.
  const double log_rest = -a * std::log1p(-q);
  const double far = std::sqrt(2 * (kLeftOut + 8 + std::max(0.0, -log_least) + log_rest));
  const double right = a * shift + far + step;
  const double left = shift + far + step;
  if (!((right + left) / step < kMostGridPoints)) return fallback;
  const auto first = -static_cast<int64_t>(std::ceil(left / step));
  const auto last = static_cast<int64_t>(std::ceil(right / step));
  std::vector<Point> points;
  points.reserve(static_cast<size_t>(last - first + 1));
  double scale = -kInfinity;
  for (int64_t i = first; i <= last; ++i) {
    points.push_back(PointAt(static_cast<double>(i) * step, shift, q));
    const Point& point = points.back();
    scale = std::max(scale, std::max(0.0, a * point.log_ratio.value) + point.log_density.value);
  }
  double sum = 0;
  for (const Point& point : points) {
    const Computed remainder = Remainder(a, point.log_ratio);
    const double exponent =
        std::max(0.0, a * point.log_ratio.value) + point.log_density.value - scale;
    const double error = point.log_density.error + kUlp * (std::abs(exponent) + std::abs(scale) +
                                                           4 + a * std::abs(point.log_ratio.value));
    if (!(error < 1e-3)) return fallback;
    sum += (remainder.value + remainder.error) * std::exp(exponent) * (1 + 1.01 * error);
  }
  sum *= 1 + 2 * kUlp * static_cast<double>(points.size() + 16);
  const double t_right = static_cast<double>(last) * step;
  const double t_left = -static_cast<double>(first) * step;
  const Computed log_p = LogMixtureAt(t_right, shift, q, 0).value;
  const double right_tail = a * (log_p.value + log_p.error) - 0.5 * t_right * t_right + log_rest -
                            std::log(std::expm1((t_right - a * shift) * step * 0.999));
  const double left_tail = std::log(a) - 0.5 * (t_left - shift) * (t_left - shift) -
                           std::log(std::expm1((t_left - shift) * step * 0.999));
  sum += (std::exp(right_tail - scale) + std::exp(left_tail - scale)) * (1 + 1e-9) + 1e-300;
  const double integral = step * sum * std::exp(-kLogSqrt2Pi) * (1 + 16 * kUlp);
  const double upper =
      (integral + aliasing * (relative + absolute) * std::exp(-scale)) / (1 - aliasing * relative);
  if (!(upper > 0) || !std::isfinite(upper)) return fallback;
  const double log_upper = std::log(upper);
  const double log_excess = scale + log_upper;
  return std::min(
      fallback,
      DivergenceFromExcess(log_excess, 8 * kUlp * (std::abs(scale) + std::abs(log_upper) + 1), a));
}

}  // namespace epsledger::accounting
