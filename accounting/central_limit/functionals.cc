#include "accounting/central_limit/functionals.h"

#include <cmath>
#include <optional>

#include "accounting/event/domain.h"
#include "accounting/gaussian/mu.h"
#include "accounting/numeric/log_space.h"
#include "accounting/numeric/normal.h"
#include "accounting/numeric/rounding.h"

namespace epsledger::accounting {
namespace {

// Rounding of the closed forms below, in operations, including that of theta = shift / z.
constexpr double kOperations = 64;
constexpr double kLaplaceOperations = 256;
// Beyond these the exact values are finite but the arithmetic overflows.
constexpr double kLargestParameter = 1e100;
constexpr double kLargestTheta = 1e6;
// 2 sqrt(2 / pi), the third absolute moment of a standard normal.
constexpr double kThirdAbsoluteMoment = 1.59576912160573071176;

Bounds Around(double x, double operations) {
  return Bounds{RoundDownNonNegative(x, operations), RoundUpNonNegative(x, operations)};
}

CentralLimitFunctionals Around(double kl, double kappa2, double kappa3, double kappa3_bar,
                               double variance, double operations) {
  return CentralLimitFunctionals{Around(kl, operations), Around(kappa2, operations),
                                 Around(kappa3, operations), Around(kappa3_bar, operations),
                                 Around(variance, operations)};
}

constexpr CentralLimitFunctionals kUnknown{
    {0, kInfinity}, {0, kInfinity}, {0, kInfinity}, {0, kInfinity}, {0, kInfinity}};

CentralLimitFunctionals OfMu(double mu) {
  if (mu == 0) return CentralLimitFunctionals{};
  // X ~ N(m, s^2) with m = mu^2/2, s = mu: E|X|^3 = s^3 [(r^3 + 3 r)(2 Phi(r) - 1) + 2 (r^2 + 2)
  // phi(r)], r = m/s = mu/2, a sum of positive terms.
  const double r = 0.5 * mu;
  const double central = std::erf(r / std::sqrt(2.0));
  const double density = std::exp(-0.5 * r * r - kLogSqrt2Pi);
  const double third = (r * r * r + 3 * r) * central + 2 * (r * r + 2) * density;
  const double squared = mu * mu;
  // exp(-r^2/2) has r^2/2 ulp of error, but weighs e^{-r^2/2}.
  return Around(0.5 * squared, squared * (1 + r * r), squared * mu * third,
                squared * mu * kThirdAbsoluteMoment, squared, kOperations);
}

// e^{-y/2} int_0^y m^n e^{m/2} dm = y^{n+1} e^{-y/2} sum_j (y/2)^j / (j! (j+n+1)), positive terms;
// for large y by parts, J_n = 2 y^n - 2 n J_{n-1}.
double ScaledRising(int n, double y) {
  if (y <= 0) return 0;
  if (y > 80) {
    // Corrections of e^{-y/2} are below 1e-17.
    double j = 2;
    for (int k = 1; k <= n; ++k) j = 2 * std::pow(y, k) - 2 * k * j;
    return j;
  }
  double sum = 0, term = 1;
  for (int j = 0; j < 400; ++j) {
    const double next = term / (j + n + 1);
    sum += next;
    if (next < 1e-18 * sum) break;
    term *= 0.5 * y / (j + 1);
  }
  return std::pow(y, n + 1) * std::exp(-0.5 * y) * sum;
}

// int_0^y m^n e^{-m/2} dm = y^{n+1} e^{-y/2} sum_j (y/2)^j / ((n+1) ... (n+1+j)), positive terms;
// n! 2^{n+1} for large y.
double Falling(int n, double y) {
  if (y <= 0) return 0;
  if (y > 160) return std::tgamma(n + 1.0) * std::pow(2.0, n + 1);
  double term = 1.0 / (n + 1), sum = 0;
  for (int j = 0; j < 1000; ++j) {
    sum += term;
    if (term < 1e-18 * sum) break;
    term *= 0.5 * y / (n + 2 + j);
  }
  return std::pow(y, n + 1) * std::exp(-0.5 * y) * sum;
}

}  // namespace

CentralLimitFunctionals GaussianFunctionals(Bounds mu) {
  if (!(mu.lower >= 0 && mu.upper <= kLargestParameter)) return kUnknown;
  // All five grow with mu.
  const CentralLimitFunctionals low = OfMu(mu.lower);
  const CentralLimitFunctionals high = OfMu(mu.upper);
  return CentralLimitFunctionals{{low.kl.lower, high.kl.upper},
                                 {low.kappa2.lower, high.kappa2.upper},
                                 {low.kappa3.lower, high.kappa3.upper},
                                 {low.kappa3_bar.lower, high.kappa3_bar.upper},
                                 {low.variance.lower, high.variance.upper}};
}

CentralLimitFunctionals PureFunctionals(double epsilon) {
  if (!(epsilon >= 0 && epsilon <= kLargestParameter)) return kUnknown;
  const double t = std::tanh(0.5 * epsilon);
  // 1 - t^2 = 4 e^-epsilon / (1 + e^-epsilon)^2.
  const double shrink = std::exp(-epsilon);
  const double rest = 4 * shrink / ((1 + shrink) * (1 + shrink));
  const double squared = epsilon * epsilon;
  return Around(epsilon * t, squared, squared * epsilon, squared * epsilon * rest * (1 + t * t),
                squared * rest, kOperations);
}

CentralLimitFunctionals LaplaceFunctionals(double theta) {
  if (!(theta >= 0 && theta <= kLargestTheta)) return kUnknown;
  if (theta == 0) return CentralLimitFunctionals{};
  // l = log|f'| is theta with probability e^-theta / 2, -theta with 1/2, and has density
  // e^{-(l + theta)/2} / 4 between.
  const double shrink = std::exp(-theta);
  const double kl = Expm1MinusX(-theta);
  // E|l + center|^n for 0 <= center < theta, up and down being theta +- center, split where l +
  // center = 0: e^{-(l + theta)/2} = e^{-down/2} e^{-(l + center)/2}.
  const auto moment = [&](int n, double up, double down) {
    const double atoms = 0.5 * (shrink * std::pow(up, n) + std::pow(down, n));
    const double right = std::exp(-0.5 * down) * Falling(n, up);
    return atoms + 0.25 * (right + ScaledRising(n, down));
  };
  // theta - kl, more accurate than by subtraction.
  const double down = -std::expm1(-theta);
  const double up = theta + kl;
  return Around(kl, moment(2, theta, theta), moment(3, theta, theta), moment(3, up, down),
                moment(2, up, down), kLaplaceOperations);
}

absl::StatusOr<CentralLimitFunctionals> FunctionalsOf(const MechanismEvent& event,
                                                      const Setting& setting) {
  if (const std::optional<Bounds> mu = GaussianMu(event, setting)) return GaussianFunctionals(*mu);
  if (const auto* pure = event.As<PureDp>()) return PureFunctionals(pure->epsilon);
  if (const auto* laplace = event.As<Laplace>()) {
    return LaplaceFunctionals(setting.shift() / laplace->noise_multiplier);
  }
  return UnknownEvent(Accountant::kClt, event,
                      "the Berry-Esseen bound is proved for symmetric trade-off functions whose "
                      "functionals are known in closed form");
}

}  // namespace epsledger::accounting
