#include "accounting/central_limit/berry_esseen.h"

#include <algorithm>
#include <cmath>

#include "accounting/event/domain.h"
#include "accounting/gaussian/trade_off.h"
#include "accounting/numeric/rounding.h"

namespace epsledger::accounting {
namespace {

// The Berry-Esseen constant for sums of independent summands, not identically distributed
// ([Shevtsova10]).
constexpr double kBerryEsseenConstant = 0.56;

// The sum of count * bounds, rounded outward.
void Accumulate(double count, Bounds term, Bounds& sum) {
  sum.lower = RoundDownNonNegative(sum.lower + RoundDownNonNegative(count * term.lower));
  sum.upper = RoundUpNonNegative(sum.upper + RoundUpNonNegative(count * term.upper));
}

}  // namespace

CentralLimitParameters Combine(const std::vector<CountedFunctionals>& parts) {
  Bounds kl{0, 0}, third{0, 0}, variance{0, 0};
  for (const CountedFunctionals& part : parts) {
    Accumulate(part.count, part.functionals.kl, kl);
    Accumulate(part.count, part.functionals.kappa3_bar, third);
    Accumulate(part.count, part.functionals.variance, variance);
  }
  CentralLimitParameters result{{0, kInfinity}, {0, kInfinity}};
  if (!(variance.lower > 0) || !std::isfinite(variance.upper)) return result;
  result.mu = Bounds{RoundDownNonNegative(2 * kl.lower / std::sqrt(variance.upper), 2),
                     RoundUp(2 * kl.upper / std::sqrt(variance.lower), 2)};
  result.gamma = Bounds{
      RoundDownNonNegative(
          kBerryEsseenConstant * (third.lower / variance.upper) / std::sqrt(variance.upper), 5),
      RoundUp(kBerryEsseenConstant * (third.upper / variance.lower) / std::sqrt(variance.lower),
              5)};
  return result;
}

Bounds BerryEsseen(const CentralLimitParameters& parameters, double alpha) {
  if (std::isnan(alpha)) return Bounds{0, 1};
  if (alpha >= 1) return Bounds{0, 0};
  alpha = std::max(alpha, 0.0);
  Bounds band{0, std::min(1.0, RoundUp(1 - alpha))};
  // A larger gamma than the true one only widens the band.
  const double gamma = parameters.gamma.upper;
  if (!(gamma < 0.5)) return band;
  // f does not increase: left of gamma it is at least its value at gamma, right of 1 - gamma at
  // most its value at 1 - gamma.
  const double from = std::max(alpha, gamma);
  if (from <= RoundDown(1 - gamma)) {
    const double lower = GaussianTradeOff(parameters.mu, RoundUp(from + gamma)).lower - gamma;
    band.lower = std::clamp(RoundDown(lower), 0.0, band.upper);
  }
  const double to = std::min(alpha, RoundDown(1 - gamma));
  if (to >= gamma) {
    const double upper = GaussianTradeOff(parameters.mu, RoundDown(to - gamma)).upper + gamma;
    band.upper = std::max(band.lower, std::min(band.upper, RoundUp(upper)));
  }
  return band;
}

}  // namespace epsledger::accounting
