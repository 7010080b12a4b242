#include "accounting/zcdp/zcdp.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "accounting/analytics/partition.h"
#include "accounting/analytics/selection.h"
#include "accounting/classical/approximate_dp.h"
#include "accounting/classical/basic_and_advanced.h"
#include "accounting/event/domain.h"
#include "accounting/event/status_macros.h"
#include "accounting/gaussian/mu.h"
#include "accounting/numeric/log_space.h"
#include "accounting/numeric/rounding.h"
#include "accounting/numeric/search.h"
#include "accounting/renyi/group.h"

namespace epsledger::accounting {
namespace {

double HalfSquare(double x) { return x == 0 ? 0 : RoundUp(0.5 * x * x, 3); }

// Returns sum + count * x, rounded up; zeros stay exact.
double Plus(double sum, double count, double x) {
  return x == 0 ? sum : RoundUp(sum + RoundUp(count * x));
}

}  // namespace

absl::StatusOr<ZcdpParameters> ZcdpOf(const MechanismEvent& event, const Setting& setting,
                                      int64_t group_size) {
  const double group = static_cast<double>(group_size);
  const auto of_group = [&](ZcdpParameters one) {
    if (group_size > 1) {
      one.rho = RoundUpNonNegative(group * group * one.rho, 2);
      if (one.xi > 0) one.xi = RoundUp(one.xi * GroupConstantFactor(group));
    }
    return one;
  };
  if (const std::optional<Bounds> mu = GaussianMu(event, setting); mu.has_value()) {
    return of_group(ZcdpParameters{.rho = HalfSquare(mu->upper)});
  }
  if (const auto* discrete = event.As<DiscreteGaussian>()) {
    const double mu =
        setting.shift() * static_cast<double>(discrete->sensitivity) / discrete->sigma;
    return of_group(ZcdpParameters{.rho = HalfSquare(RoundUp(mu, 2))});
  }
  if (const auto* zcdp = event.As<Zcdp>()) {
    return of_group(ZcdpParameters{.rho = zcdp->rho, .xi = zcdp->xi});
  }
  const auto bounded_range = [&](double range) {
    return of_group(
        ZcdpParameters{.rho = 0.25 * HalfSquare(range) +
                              (range > 0 ? std::numeric_limits<double>::denorm_min() : 0)});
  };
  if (const auto* exponential = event.As<ExponentialMechanism>()) {
    return bounded_range(exponential->epsilon);
  }
  if (const auto* noisy_max = event.As<ReportNoisyMax>();
      noisy_max != nullptr && noisy_max->noise == Noise::kGumbel) {
    return bounded_range(NoisyMaxEpsilon(*noisy_max, setting));
  }
  const bool replace_one = setting.relation == NeighboringRelation::kReplaceOne;
  if (const auto* partition = event.As<PartitionSelection>();
      partition != nullptr && partition->noise == Noise::kGaussian && !replace_one &&
      group_size == 1) {
    return ZcdpParameters{.rho = HalfSquare(RoundUp(1 / partition->noise_multiplier)),
                          .delta = KeptAlone(*partition)};
  }
  const auto unamplified = [&](const MechanismEvent& inner,
                               double count) -> absl::StatusOr<ZcdpParameters> {
    // Joint convexity of the moments (accounting/renyi/README.md, "Sampling cannot hurt").
    ASSIGN_OR_RETURN(ZcdpParameters one, ComposeZcdp(Flatten(inner), setting));
    if (group_size > 1 && one.delta > 0) {
      return UnknownEvent(Accountant::kZcdp, event,
                          "no group theorem for the delta inside is proved here");
    }
    return of_group(ZcdpParameters{.rho = Plus(0, count, one.rho),
                                   .xi = Plus(0, count, one.xi),
                                   .delta = Plus(0, count, one.delta)});
  };
  if (const auto* sampled = event.As<PoissonSampled>()) return unamplified(*sampled->event, 1);
  if (const auto* subset = event.As<SampledWithoutReplacement>(); subset && replace_one) {
    return unamplified(*subset->event, 1);
  }
  if (const auto* allocation = event.As<RandomAllocation>(); allocation && !replace_one) {
    return unamplified(*allocation->event, static_cast<double>(allocation->selected));
  }
  if (const auto* banded = event.As<BandedMatrixFactorization>();
      banded && !replace_one &&
      banded->sampling_probability * static_cast<double>(banded->bands) <= 1) {
    return unamplified(MechanismEvent(Gaussian{banded->noise_multiplier}),
                       static_cast<double>((banded->iterations - 1) / banded->bands + 1));
  }
  ASSIGN_OR_RETURN(ApproximateDpParameters pair,
                   ApproximateDpOf(event, setting, Accountant::kZcdp));
  if (group_size > 1) pair = GroupPrivacy(pair, group);
  return ZcdpParameters{.rho = HalfSquare(pair.epsilon), .delta = pair.delta};
}

absl::StatusOr<ZcdpParameters> ComposeZcdp(const std::vector<Use>& uses, const Setting& setting,
                                           int64_t group_size) {
  ZcdpParameters sum;
  for (const Use& use : uses) {
    ASSIGN_OR_RETURN(const ZcdpParameters one, ZcdpOf(*use.event, setting, group_size));
    sum.rho = Plus(sum.rho, use.count, one.rho);
    sum.xi = Plus(sum.xi, use.count, one.xi);
    sum.delta = Plus(sum.delta, use.count, one.delta);
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
  // rho + 2 sqrt(rho log(1/delta)) is above the conversion, so rho certainly fits there.
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
