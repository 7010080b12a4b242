#include "accounting/renyi/bernoulli_integrand.h"

#include <algorithm>

#include "accounting/numeric/constants.h"
#include "accounting/numeric/log_space.h"
#include "accounting/numeric/rounding.h"

namespace epsledger::accounting {
namespace {

// Up to this |y| max(1, |b|) the binomial series is used: 12 terms leave 1e-16.
constexpr double kSeriesUpTo = 0.05;
// Beyond this u, e^u is kept as a logarithm.
constexpr double kLargeU = 690;
// Above this exponent (1 + y)^b is only formed together with e^{-t^2/2 - shift}.
constexpr double kLargeExponent = 30;

// (1 + y)^b - 1 - b y = C(b,2) y^2 (1 + (b-2)/3 y (1 + (b-3)/4 y (...))).
double BinomialRemainder(double b, double y) {
  double sum = 1;
  for (int k = 13; k >= 2; --k) sum = 1 + sum * ((b - k) / (k + 1)) * y;
  return 0.5 * b * (b - 1) * y * y * sum;
}

}  // namespace

BernoulliIntegrand::BernoulliIntegrand(double b, double q, double s)
    : b_(b),
      q_(q),
      log_q_(std::log(q)),
      inverse_s_(1 / s),
      half_inverse_s2_(0.5 * inverse_s_ * inverse_s_) {}

double BernoulliIntegrand::LogG(double t) const {
  const double exponent = u(t);
  if (exponent < kLargeU) return std::log1p(q_ * std::expm1(exponent));
  return log_q_ + exponent + std::log1p((1 - q_) * std::exp(-exponent - log_q_));
}

double BernoulliIntegrand::Weight(double t) const {
  // 1 / (1 + (1 - q)/q e^-u).
  return 1 / (1 + (1 - q_) / q_ * std::exp(-u(t)));
}

double BernoulliIntegrand::LogLeftLimit() const {
  if (q_ * std::max(1.0, std::abs(b_)) < kSeriesUpTo) {
    return std::log(BinomialRemainder(b_, -q_)) + 1e-12;
  }
  const double power = b_ * std::log1p(-q_);
  if (power > kLargeExponent) return power * (1 + 1e-12);  // b < 0: F < (1 - q)^b
  return std::log(std::max(0.0, std::expm1(power) + b_ * q_) * (1 + 1e-12) + 1e-12);
}

Computed BernoulliIntegrand::At(double t, double shift) const {
  const double exponent = u(t);
  const double half_t2 = 0.5 * t * t;
  const double weighing = -half_t2 - shift;
  // The rounding of u itself, and what it does to F: dF/du = b q e^u ((1 + y)^{b-1} - 1).
  const double u_error = 2 * kUlp * (std::abs(t) * inverse_s_ + half_inverse_s2_);
  const double weighing_error = kUlp * (half_t2 + std::abs(shift) + 4);
  if (exponent < kLargeU) {
    const double y = q_ * std::expm1(exponent);
    if (std::abs(y) * std::max(1.0, std::abs(b_)) < kSeriesUpTo) {
      const double phi = std::exp(weighing);
      const double remainder = BinomialRemainder(b_, y);
      const double value = phi * remainder;
      const double slope = std::abs(b_ * (b_ - 1)) * (y + q_) * std::abs(y) * 1.1;
      return {value, value * (weighing_error + 32 * kUlp) + phi * slope * u_error};
    }
    const double log_g = std::log1p(y);
    const double power = b_ * log_g;
    const double w = (y + q_) / (1 + y);
    if (log_g <= 0.5 && power <= kLargeExponent) {
      // Expm1MinusX(b L) - b Expm1MinusX(L): the linear terms are gone from both.
      const double phi = std::exp(weighing);
      const double first = Expm1MinusX(power);
      const double second = b_ * Expm1MinusX(log_g);
      const double remainder = first - second;
      const double value = phi * remainder;
      const double rounding =
          8 * kUlp * (first * (2 + std::abs(power)) + std::abs(second) * (2 + std::abs(log_g))) +
          // L is off by an ulp of itself and by that of 1 + y.
          4 * kUlp * std::abs(b_ * log_g) * std::abs(std::expm1(power) - std::expm1(log_g));
      const double slope = std::abs(b_) * w * (std::abs(remainder) + std::abs((b_ - 1) * y));
      return {value, phi * (rounding + slope * u_error) + std::abs(value) * weighing_error};
    }
    if (b_ < 0 && power > kLargeExponent) {
      // y < 0: F = e^{bL} (1 - (1 + b y) e^{-bL}), and b y is positive.
      const double value = std::exp(power + weighing) * (1 - (1 + b_ * y) * std::exp(-power));
      return {value,
              value * (weighing_error + 4 * kUlp * (power + 4) + std::abs(b_) * w * u_error)};
    }
  }
  const double log_g = LogG(t);
  if (b_ > 0) {
    // F = e^{bL} ((1 - E) - (b - 1) E (1 - e^{-L})), E = e^{-(b-1) L}.
    const double power = b_ * log_g;
    const double excess = (b_ - 1) * log_g;
    const double e = std::exp(-excess);
    const double factor = -std::expm1(-excess) - (b_ - 1) * e * -std::expm1(-log_g);
    const double scaled = std::exp(power + weighing);
    const double value = scaled * std::max(0.0, factor);
    const double rounding = 8 * kUlp * (-std::expm1(-excess) + (b_ - 1) * e);
    return {value, value * (weighing_error + 4 * kUlp * (power + 4) + b_ * u_error) +
                       scaled * (rounding + std::min(1.0, b_ * excess) * u_error)};
  }
  // b < 0 and L > 0.5: F = e^L (|b| (1 - e^{-L}) - (1 - e^{bL}) e^{-L}).
  const double decay = std::exp(-log_g);
  const double gain = -b_ * -std::expm1(-log_g);
  const double loss = -std::expm1(b_ * log_g) * decay;
  const double scaled = std::exp(log_g + weighing);
  const double value = scaled * std::max(0.0, gain - loss);
  return {value, value * (weighing_error + 4 * kUlp * (log_g + 4)) +
                     scaled * (8 * kUlp * (gain + loss) + -b_ * u_error)};
}

}  // namespace epsledger::accounting
