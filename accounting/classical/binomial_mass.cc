#include "accounting/classical/binomial_mass.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "accounting/numeric/constants.h"
#include "accounting/numeric/rounding.h"

namespace epsledger::accounting {
namespace {

// S(1), ..., S(15), by mpmath at 40 digits.
constexpr std::array<double, 15> kStirlingError = {
    0.08106146679532725822,   0.041340695955409294094,  0.027677925684998339149,
    0.020790672103765093112,  0.016644691189821192163,  0.013876128823070747999,
    0.011896709945891770095,  0.010411265261972096497,  0.0092554621827127329177,
    0.0083305634333628712565, 0.007573675487951840795,  0.0069428401072095298657,
    0.0064089941880042070684, 0.0059513701127588477356, 0.005554733551962801371};

// S(n) for an integer n >= 1. Stirling's series envelops its sum, so from 16 on the first omitted
// term, 691/360360 n^-11 < 2e-16, bounds the omitted rest; S < 0.09 is otherwise accurate to an
// ulp.
double StirlingError(double n) {
  if (n < 16) return kStirlingError[static_cast<int>(n) - 1];
  const double x = 1 / n;
  const double x2 = x * x;
  return x * (1.0 / 12 - x2 * (1.0 / 360 - x2 * (1.0 / 1260 - x2 * (1.0 / 1680 - x2 / 1188))));
}

}  // namespace

BinomialMass::BinomialMass(double epsilon0, double count) : epsilon0_(epsilon0), count_(count) {
  const double ratio = std::exp(-epsilon0);  // q / p
  const double p = 1 / (1 + ratio);
  const double q = ratio / (1 + ratio);
  mean_ = count * p;
  mean_of_failures_ = count * q;
  drift_ = count * std::tanh(0.5 * epsilon0);
  by_failures_ = mean_of_failures_ < 0.5 * drift_;
  // Four operations of an ulp each in nq, three in n (p - q).
  difference_error_ = 4 * kUlp * std::min(mean_of_failures_, 0.5 * drift_);
  log_p_ = -std::log1p(ratio);
  log_q_ = log_p_ - epsilon0;
  mode_ = std::clamp(std::floor((count + 1) * p), 0.0, count);
}

// D(x; mean) for x = mean + difference. The error of `difference` changes the SUM of both deviances
// by |log(x1/m1) - log(x2/m2)| times that error; the caller accounts for it with log_ratio.
Approximation BinomialMass::Deviance(double x, double mean, double difference,
                                     double& log_ratio) const {
  const double s = difference / mean;
  if (std::abs(s) <= 0.1) {
    // D = mean (s v + 2 (1 + s) (v^3/3 + v^5/5 + ...)), v = s / (2 + s), |v| < 0.053.
    const double v = s / (2 + s);
    const double v2 = v * v;
    double series = 1.0 / 15;
    for (const double n : {13.0, 11.0, 9.0, 7.0, 5.0, 3.0}) series = 1 / n + v2 * series;
    const double value = difference * v + 2 * (mean + difference) * (v * v2 * series);
    log_ratio = 1.2 * std::abs(s);
    // 16 ulp for the evaluation; the mean is off by 4 and dD/dlog(mean) = mean (log(1+s) - s).
    return Approximation{value, 16 * kUlp * value + 4 * kUlp * mean * s * s};
  }
  const double log_x = s < -0.5 ? std::log(x / mean) : std::log1p(s);
  log_ratio = std::abs(log_x);
  const double value = x * log_x - difference;
  const double error =
      8 * kUlp * (x * log_ratio + std::abs(difference) + mean * log_ratio) + 4 * difference_error_;
  return Approximation{value, error};
}

Approximation BinomialMass::LogMass(double successes) const {
  const double failures = count_ - successes;
  if (failures == 0 || successes == 0) {
    const double value = count_ * (failures == 0 ? log_p_ : log_q_);
    return Approximation{value, 4 * kUlp * std::abs(value)};
  }
  const double difference =
      by_failures_ ? mean_of_failures_ - failures : 0.5 * ((2 * successes - count_) - drift_);
  double log_ratio_s;
  double log_ratio_f;
  const Approximation s = Deviance(successes, mean_, difference, log_ratio_s);
  const Approximation f = Deviance(failures, mean_of_failures_, -difference, log_ratio_f);
  const double deviance = s.value + f.value;
  const double half_log = 0.5 * std::log(kTwoPi * (successes / count_) * failures);
  const double stirling =
      StirlingError(count_) - StirlingError(successes) - StirlingError(failures);
  const double value = stirling - half_log - deviance;
  const double difference_error = difference_error_ + kUlp * std::abs(difference);
  const double error = s.error + f.error + (log_ratio_s + log_ratio_f) * difference_error +
                       4 * kUlp * (std::abs(deviance) + std::abs(half_log) + 2);
  return Approximation{value, error};
}

double BinomialMass::LogMassCurvature(double low, double high) const {
  return RoundUp(1 / (low + 0.5) + 1 / (count_ - high + 0.5), 4);
}

}  // namespace epsledger::accounting
