#include "accounting/renyi/moment_quadrature.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "accounting/numeric/constants.h"
#include "accounting/numeric/log_space.h"
#include "accounting/numeric/normal.h"
#include "accounting/numeric/rounding.h"
#include "accounting/renyi/log_moment.h"

namespace epsledger::accounting {
namespace {

// What is left out is aimed at e^-34 of the answer.
constexpr double kLeftOut = 34;
// Up to this order * |log r| the binomial series is used.
constexpr double kSeries = 0.05;

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

// A step and what it leaves out, as factors of the moments.
struct Step {
  double size = 0;
  double aliasing = kInfinity;  // times `relative` of E_Q[r^a] and `absolute` of 1
  double relative = 1;
  double absolute = 1;
};

// In the strip |Im t| <= c a density over that of N(0, 1) is at most its value on the line, and at
// least that times cos(c shift / 2): all of its terms lie in a cone of that half angle. So the
// integrand is at most e^{c^2/2} (cos^{1-a} r^a dQ + (1 + a) dQ + a dP).
Step ChooseStep(const MomentPair& pair, double a, double log_least) {
  Step step;
  step.absolute = 1 + 2 * a;
  const double want = kLeftOut + std::max(0.0, std::log(step.absolute) - log_least);
  const auto log_relative = [&](double c) {
    return pair.divides ? (1 - a) * std::log(std::cos(0.5 * c * pair.largest_shift)) : 0;
  };
  double c = 0;
  double candidate = std::min(std::sqrt(2 * want), 0.999 * kPi / pair.largest_shift);
  for (int i = 0; i < 90; ++i, candidate *= 0.8) {
    const double cost = 0.5 * candidate * candidate + log_relative(candidate);
    const double size = kTwoPi * candidate / (want + cost);
    if (size > step.size) {
      step.size = size;
      c = candidate;
    }
  }
  const double cycles = kTwoPi * c / step.size;
  step.aliasing = 1.001 * std::exp(kLog2 + 0.5 * c * c - cycles - std::log1p(-std::exp(-cycles)));
  step.relative = 1.001 * std::exp(log_relative(c));
  return step;
}

// The log of a bound on the sum over all points beyond the distance `t`, without 1 / sqrt(2 pi).
double LogBeyond(const MomentPair::Tail& tail, double t, double step) {
  if (!(t > tail.slope)) return kInfinity;
  return tail.log_bound(t) - 0.5 * t * t - std::log(std::expm1((t - tail.slope) * step * 0.999));
}

// Returns the number of steps after which the rest is negligible; +inf if that is too many.
double StepsToEnd(const MomentPair::Tail& tail, double step, double log_negligible, double most) {
  double count = std::ceil((std::max(0.0, tail.slope) + 1) / step);
  for (; count < most; count = std::ceil(count + 0.5 / step)) {
    if (LogBeyond(tail, count * step, step) < log_negligible) return count;
  }
  return kInfinity;
}

}  // namespace

double MomentQuadrature(const MomentPair& pair, double order, double log_least,
                        double most_points) {
  const double a = order;
  const Step step = ChooseStep(pair, a, log_least);
  if (!(step.aliasing * step.relative < 0.1)) return kInfinity;
  const double log_negligible = log_least - kLeftOut - std::log(step.size);
  const double right = StepsToEnd(pair.right, step.size, log_negligible, most_points);
  const double left = StepsToEnd(pair.left, step.size, log_negligible, most_points);
  if (!(left + right < most_points)) return kInfinity;

  std::vector<MomentPair::Point> points;
  points.reserve(static_cast<size_t>(left + right) + 1);
  double scale = -kInfinity;
  for (double i = -left; i <= right; ++i) {
    points.push_back(pair.at(i * step.size));
    const MomentPair::Point& point = points.back();
    scale = std::max(scale, std::max(0.0, a * point.log_ratio.value) + point.log_density.value);
  }
  double sum = 0;
  for (const MomentPair::Point& point : points) {
    const Computed remainder = Remainder(a, point.log_ratio);
    const double exponent =
        std::max(0.0, a * point.log_ratio.value) + point.log_density.value - scale;
    const double error = point.log_density.error + kUlp * (std::abs(exponent) + std::abs(scale) +
                                                           4 + a * std::abs(point.log_ratio.value));
    if (!(error < 1e-3)) return kInfinity;
    sum += (remainder.value + remainder.error) * std::exp(exponent) * (1 + 1.01 * error);
  }
  sum *= 1 + 2 * kUlp * static_cast<double>(points.size() + 16);
  for (const double log_beyond : {LogBeyond(pair.right, right * step.size, step.size),
                                  LogBeyond(pair.left, left * step.size, step.size)}) {
    sum += std::exp(log_beyond - scale) * (1 + 1e-9);
  }
  sum += 1e-300;
  const double integral = step.size * sum * std::exp(-kLogSqrt2Pi) * (1 + 16 * kUlp);
  // E[r^a] = 1 + excess on both sides of excess <= integral + aliasing (relative E[r^a] +
  // absolute).
  const double upper =
      (integral + step.aliasing * (step.relative + step.absolute) * std::exp(-scale)) /
      (1 - step.aliasing * step.relative);
  if (!(upper > 0) || !std::isfinite(upper)) return kInfinity;
  const double log_upper = std::log(upper);
  return DivergenceFromExcess(scale + log_upper,
                              8 * kUlp * (std::abs(scale) + std::abs(log_upper) + 1), a);
}

}  // namespace epsledger::accounting
