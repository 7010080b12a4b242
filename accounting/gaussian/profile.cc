#include "accounting/gaussian/profile.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "accounting/numeric/constants.h"
#include "accounting/numeric/log_space.h"
#include "accounting/numeric/mills_ratio.h"
#include "accounting/numeric/normal.h"
#include "accounting/numeric/rounding.h"
#include "accounting/numeric/search.h"

namespace epsledger::accounting {
namespace {

constexpr double kMax = std::numeric_limits<double>::max();

// Turns a value and a bound on its absolute error into bounds on a logarithm that is at most 0.
Bounds Around(double log_value, double error) {
  Bounds bounds{NextDown(log_value - error), std::min(0.0, NextUp(log_value + error))};
  // The logarithm of a positive number is finite, even where it is too large for a double.
  if (bounds.upper == -kInfinity) bounds.upper = -kMax;
  return bounds;
}

// delta = e^{eps/2} phi(m) e^{-h^2/2} (R(m - h) - R(m + h)), m = eps/mu, h = mu/2, the difference
// by its Taylor series 2 (I_1 h + I_3 h^3/3! + ...): all terms positive, no cancellation however
// small mu is. REQUIRES: h <= 0.01 max(1, m), where one term is below 1e-4 of the one before.
Bounds BySeries(double mu, double epsilon, double m, double h) {
  const std::array<double, 12> mills = MillsIntegrals(m);
  const double h2 = h * h;
  const double sum =
      mills[1] +
      h2 / 6 * (mills[3] + h2 / 20 * (mills[5] + h2 / 42 * (mills[7] + h2 / 72 * mills[9])));
  const double log_mu = std::log(mu);
  const double log_sum = std::log(sum);
  const double half_m2 = 0.5 * m * m;
  const double log_delta = (log_mu + log_sum - kLogSqrt2Pi) + (0.5 * epsilon - half_m2 - 0.5 * h2);
  // Rounding of m moves m^2/2 by 2^-53 m^2 and the sum by at most 2^-52; each of the nine
  // operations above loses half an ulp of a number no larger than the sum of magnitudes; the
  // Mills integrals and the missing terms are inside 2^-44.
  const double magnitude =
      half_m2 + 0.5 * epsilon + 0.5 * h2 + std::abs(log_mu) + std::abs(log_sum) + 1;
  return Around(log_delta, 8 * kUlp * magnitude + 0x1p-44);
}

// delta = phi(u) (R(u) - R(v)), u = m - h >= 0, v = m + h.
Bounds ByMillsRatios(double m, double u, double v) {
  const double r_u = MillsRatio(u);
  const double r_v = MillsRatio(v);
  const double difference = r_u - r_v;
  const double log_difference = std::log(difference);
  const double log_delta = (log_difference - kLogSqrt2Pi) - 0.5 * u * u;
  // u and v are off by the rounding of m and their own; -R'(x) = 1 - x R(x) < 1 / (1 + x^2).
  const double u_error = kUlp * (m + u);
  const double v_error = kUlp * (m + v);
  const double error = u_error * (u + 1 / ((1 + u * u) * difference)) +
                       v_error / ((1 + v * v) * difference) +
                       kMillsRelativeError * (r_u + r_v) / difference +
                       8 * kUlp * (0.5 * u * u + std::abs(log_difference) + 1);
  if (!(difference > 0)) return Bounds{-kInfinity, 0};
  return Around(log_delta, error);
}

// 1 - delta = Phi(u) + phi(u) R(v) for u = m - h < 0 < v: delta itself may be near 1.
Bounds ByComplement(double m, double u, double v) {
  const double phi_u = std::exp(-0.5 * u * u - kLogSqrt2Pi);
  const double complement = NormalCdf(u) + phi_u * MillsRatio(v);
  const double u_error = kUlp * (m - u);
  const double v_error = kUlp * (m + v);
  // Relative: |d log Phi(u)| <= |u| + 1, |d log R(v)| <= 1; u^2/2 is rounded inside exp.
  const double relative =
      u_error * (1 - u) + v_error + 4 * kUlp * (0.5 * u * u + 2) + 2 * kNormalRelativeError;
  if (!(complement < 1)) return Bounds{-kInfinity, 0};
  const double log_delta = std::log1p(-complement);
  // Where the complement underflows it is still below 1e-300.
  const double error =
      (complement * relative + 1e-300) / (1 - complement) + 4 * kUlp * std::abs(log_delta);
  return Around(log_delta, error);
}

// One rounding, plus 1% for the products of roundings and the arithmetic of the errors themselves.
constexpr double kRounding = 1.01 * kUnitRoundoff;
// The possible loss by underflow in a result below: a few times 2^-1075.
constexpr double kUnderflow = 0x1p-1070;

// phi(x + low), |x low| <= 1e-8. The square of x is exact in two doubles; exp has 2 roundings
// (below one ulp), the correction and its product 2, the constant and its product 2: 6, stated
// as 7.
constexpr double kDensityError = 7 * kRounding;
double Density(double x, double low) {
  constexpr double kInverseSqrt2Pi = 0.39894228040143267794;
  const double square = x * x;
  if (!(square < 1500)) return 0;  // below 2^-1075
  const double lost = std::fma(x, x, -square);
  return std::exp(-0.5 * square) * (1 - (0.5 * lost + x * low)) * kInverseSqrt2Pi;
}

// x + y = sum + low exactly ([Knuth97] 4.2.2 Thm B).
struct TwoSum {
  double sum;
  double low;
  TwoSum(double x, double y) : sum(x + y) {
    const double y_part = sum - x;
    low = (x - (sum - y_part)) + (y - y_part);
  }
};

// Returns delta and tail for a >= -1, as sums of positive numbers or as 1 minus a tail.
void FillByDifference(const MillsArguments& at, double epsilon, GaussianPoint* point, double phi_a,
                      double phi_b) {
  const MillsDifference mills = MillsRatioDifference(at);
  const double relative = mills.difference_error / mills.difference + kDensityError + kRounding;
  if (epsilon >= 0) {
    point->delta = phi_a * mills.difference;
    point->delta_error = relative * point->delta + kUnderflow;
    point->tail = phi_b * mills.right;
    point->tail_error =
        (kDensityError + kMillsRelativeError + kRounding) * point->tail + kUnderflow;
    return;
  }
  // delta(eps) = 1 - e^eps + e^eps delta(-eps), and e^eps phi(a) = phi(b).
  const double floor = -std::expm1(epsilon);
  const double more = phi_b * mills.difference;
  point->delta = floor + more;
  point->delta_error =
      2 * kRounding * floor + relative * more + kRounding * point->delta + kUnderflow;
  const double complement = phi_a * mills.left;
  point->tail = 1 - complement;
  point->tail_error =
      (kDensityError + kMillsRelativeError + kRounding) * complement + kRounding + kUnderflow;
}

// The same for a < -1: delta = 1 - Phi(a) - phi(a) R(b) = 1 - phi(a) (R(-a) + R(b)), for epsilon <
// 0 with phi(b) in the place of phi(a) = e^-eps phi(b).
void FillByComplement(const MillsArguments& at, double epsilon, GaussianPoint* point, double phi_a,
                      double phi_b) {
  const double r_a = MillsRatio(-at.left, -at.left_low);
  const double r_b = MillsRatio(at.right, at.right_low);
  constexpr double kProductError = kDensityError + kMillsRelativeError + kRounding;
  const double complement = (epsilon >= 0 ? phi_a : phi_b) * (r_a + r_b);
  point->delta = 1 - complement;
  point->delta_error = (kProductError + kRounding) * complement + kRounding + kUnderflow;
  point->tail = epsilon >= 0 ? phi_b * r_b : phi_a * r_a;
  point->tail_error = kProductError * point->tail + kUnderflow;
}

}  // namespace

std::optional<GaussianPoint> GaussianAt(double mu, double epsilon) {
  const double magnitude = std::abs(epsilon);
  const double m = magnitude / mu;
  if (!(mu >= 1e-100 && mu <= 2e4 && m <= 1e4)) return std::nullopt;
  // a + a_low = |eps|/mu - mu/2 and b + b_low = |eps|/mu + mu/2 to twice the digits: the rounding
  // error of m is the exact remainder over mu.
  const double h = 0.5 * mu;
  const double m_low = std::fma(-m, mu, magnitude) / mu;
  const TwoSum a(m, -h);
  const TwoSum b(m, h);
  const MillsArguments at{m, m_low, a.sum, a.low + m_low, b.sum, b.low + m_low, mu};
  const double phi_a = Density(at.left, at.left_low);
  const double phi_b = Density(at.right, at.right_low);
  GaussianPoint point;
  point.density_above = epsilon >= 0 ? phi_a : phi_b;
  point.density_below = epsilon >= 0 ? phi_b : phi_a;
  if (a.sum > 39) {  // phi(39) < 2^-1098
    const double floor = epsilon < 0 ? -std::expm1(epsilon) : 0;
    point.delta = floor;
    point.delta_error = 2 * kRounding * floor + kUnderflow;
    point.tail = epsilon < 0 ? 1 : 0;
    point.tail_error = kUnderflow;
  } else if (a.sum >= -1) {
    FillByDifference(at, epsilon, &point, phi_a, phi_b);
  } else {
    FillByComplement(at, epsilon, &point, phi_a, phi_b);
  }
  return point;
}

Bounds GaussianLogDelta(double mu, double epsilon) {
  if (std::isnan(mu) || std::isnan(epsilon) || mu < 0) return Bounds{-kInfinity, 0};
  if (mu == kInfinity) return Bounds{0, 0};
  // Uses the linear value, unless it underflows or its distance from 1 has more digits.
  if (const auto point = GaussianAt(mu, epsilon);
      point.has_value() && point->delta > 1e-290 && point->delta < 0.9) {
    const double log_delta = std::log(point->delta);
    const double relative = point->delta_error / point->delta;  // below 1e-10
    return Around(log_delta, 1.01 * relative + 2 * kUlp * std::abs(log_delta));
  }
  if (epsilon < 0) {
    // delta(eps) = 1 - e^eps + e^eps delta(-eps): the pair is its own reverse.
    const double floor = Log1mExp(epsilon);
    if (mu == 0) return Around(floor, 4 * kUlp * std::abs(floor) + 4 * kUlp);
    const Bounds mirrored = GaussianLogDelta(mu, -epsilon);
    const auto combine = [&](double log_delta) { return LogAddExp(floor, epsilon + log_delta); };
    const double lower = combine(mirrored.lower);
    const double upper = combine(mirrored.upper);
    const auto error = [](double x) { return 8 * kUlp * (std::abs(x) + 1); };
    return Bounds{Around(lower, error(lower)).lower, Around(upper, error(upper)).upper};
  }
  if (mu == 0 || epsilon == kInfinity) return Bounds{-kInfinity, -kInfinity};
  const double m = epsilon / mu;
  const double h = 0.5 * mu;
  if (m * m == kInfinity) return Bounds{-kInfinity, -kMax};
  if (h <= 0.01 * std::max(1.0, m)) return BySeries(mu, epsilon, m, h);
  const double u = m - h;
  const double v = m + h;
  return u >= 0 ? ByMillsRatios(m, u, v) : ByComplement(m, u, v);
}

Bounds GaussianLogDelta(Bounds mu, double epsilon) {
  return Bounds{GaussianLogDelta(mu.lower, epsilon).lower,
                GaussianLogDelta(mu.upper, epsilon).upper};
}

namespace {

double EpsilonUpper(double mu, double log_delta) {
  if (mu == 0) return 0;
  if (mu == kInfinity || log_delta == -kInfinity) return kInfinity;
  const auto excess = [&](double epsilon) {
    return GaussianLogDelta(mu, epsilon).upper - log_delta;
  };
  if (excess(0) <= 0) return 0;
  // delta <= exp(-(eps/mu - mu/2)^2 / 2): starts a little above the epsilon where this bound meets
  // the target.
  double high = mu * (0.5 * mu + std::sqrt(-2 * log_delta)) * (1 + 1e-12) + 1e-300;
  for (int i = 0; !(excess(high) <= 0); ++i) {
    if (i == 60 || !std::isfinite(high)) return kInfinity;
    high *= 2;
  }
  return NarrowCrossing(excess, high, 0, 2e-16).holds;
}

double EpsilonLower(double mu, double log_delta, double upper) {
  if (mu == 0) return 0;
  if (mu == kInfinity || log_delta == -kInfinity) return kInfinity;
  const auto below_truth = [&](double epsilon) {
    return GaussianLogDelta(mu, epsilon).lower >= log_delta;
  };
  // Steps down from the upper bound until the profile proves that epsilon is too small.
  double step = 4 * kUlp * upper + std::numeric_limits<double>::denorm_min();
  for (double epsilon = upper; epsilon > 0; step *= 4) {  // steps grow: at most some 540
    epsilon -= step;
    if (epsilon > 0 && below_truth(epsilon)) return epsilon;
  }
  return 0;
}

}  // namespace

Bounds GaussianEpsilon(Bounds mu, double log_delta) {
  if (std::isnan(log_delta)) return Bounds{0, kInfinity};
  if (log_delta >= 0) return Bounds{0, 0};
  const double upper = EpsilonUpper(mu.upper, log_delta);
  if (upper == kInfinity && mu.lower != mu.upper) {
    return Bounds{EpsilonLower(mu.lower, log_delta, EpsilonUpper(mu.lower, log_delta)), upper};
  }
  return Bounds{EpsilonLower(mu.lower, log_delta, upper), upper};
}

}  // namespace epsledger::accounting
