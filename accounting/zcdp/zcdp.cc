#include "accounting/zcdp/zcdp.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "accounting/classical/approximate_dp.h"
#include "accounting/event/domain.h"
#include "accounting/gaussian/composition.h"
#include "accounting/numeric/log_space.h"
#include "accounting/numeric/rounding.h"
#include "accounting/numeric/search.h"

namespace epsledger::accounting {
namespace {

double HalfSquare(double x) { return x == 0 ? 0 : RoundUp(0.5 * x * x, 3); }

// sum + count * x, rounded up; zeros stay exact.
double Plus(double sum, double count, double x) {
  return x == 0 ? sum : RoundUp(sum + RoundUp(count * x));
}

}  // namespace

absl::StatusOr<ZcdpParameters> ZcdpOf(const MechanismEvent& event, const Setting& setting) {
  if (const std::optional<Bounds> mu = GaussianMu(event, setting); mu.has_value()) {
    return ZcdpParameters{.rho = HalfSquare(mu->upper)};
  }
  if (const auto* discrete = event.As<DiscreteGaussian>()) {
    const double mu =
        setting.shift() * static_cast<double>(discrete->sensitivity) / discrete->sigma;
    return ZcdpParameters{.rho = HalfSquare(RoundUp(mu, 2))};
  }
  if (const auto* zcdp = event.As<Zcdp>()) {
    return ZcdpParameters{.rho = zcdp->rho, .xi = zcdp->xi};
  }
  if (const auto* exponential = event.As<ExponentialMechanism>()) {
    return ZcdpParameters{
        .rho = 0.25 * HalfSquare(exponential->epsilon) +
               (exponential->epsilon > 0 ? std::numeric_limits<double>::denorm_min() : 0)};
  }
  if (const auto* sampled = event.As<PoissonSampled>()) {
    // Joint convexity of the moments (README, "Sampling cannot hurt").
    return ComposeZcdp(Flatten(*sampled->event), setting);
  }
  absl::StatusOr<ApproximateDpParameters> pair = ApproximateDpOf(event, setting, Accountant::kZcdp);
  if (!pair.ok()) return pair.status();
  return ZcdpParameters{.rho = HalfSquare(pair->epsilon), .delta = pair->delta};
}

absl::StatusOr<ZcdpParameters> ComposeZcdp(const std::vector<Use>& uses, const Setting& setting) {
  ZcdpParameters sum;
  for (const Use& use : uses) {
    const absl::StatusOr<ZcdpParameters> one = ZcdpOf(*use.event, setting);
    if (!one.ok()) return one.status();
    sum.rho = Plus(sum.rho, use.count, one->rho);
    sum.xi = Plus(sum.xi, use.count, one->xi);
    sum.delta = Plus(sum.delta, use.count, one->delta);
  }
  return sum;
}

Conversion EpsilonFromZcdp(const ZcdpParameters& zcdp, double log_delta) {
  const double rest = LogDeltaLeft(log_delta, zcdp.delta);
  if (std::isnan(rest)) return Conversion{kInfinity, 0};
  return EpsilonFromRenyi(
      [&](double order) { return RoundUpNonNegative(zcdp.rho * order + zcdp.xi, 2); }, rest);
}

Conversion LogDeltaFromZcdp(const ZcdpParameters& zcdp, double epsilon) {
  Conversion conversion = LogDeltaFromRenyi(
      [&](double order) { return RoundUpNonNegative(zcdp.rho * order + zcdp.xi, 2); }, epsilon);
  conversion.value = LogDeltaPlus(conversion.value, zcdp.delta);
  return conversion;
}

double LargestRho(double epsilon, double log_delta) {
  const auto excess = [&](double log_rho) {
    return EpsilonFromZcdp(ZcdpParameters{.rho = std::exp(log_rho)}, log_delta).value - epsilon;
  };
  // rho + 2 sqrt(rho log(1/delta)) is above the conversion: there it surely fits.
  const double root = std::sqrt(-log_delta);
  const double base = epsilon / (std::sqrt(epsilon - log_delta) + root);
  double holds = 2 * std::log(base);
  if (!std::isfinite(holds) || !(excess(holds) <= 0)) return 0;
  double fails = holds;
  for (double step = 1; fails < 700; step *= 2) {
    fails += step;
    if (!(excess(fails) <= 0)) break;
    holds = fails;
  }
  return std::exp(NarrowCrossing(excess, holds, fails, 1e-12).holds);
}

}  // namespace epsledger::accounting
