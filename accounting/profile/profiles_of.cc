#include "accounting/profile/profiles_of.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "accounting/analytics/partition.h"
#include "accounting/analytics/selection.h"
#include "accounting/classical/approximate_dp.h"
#include "accounting/classical/basic_and_advanced.h"
#include "accounting/event/added_noise.h"
#include "accounting/event/finite_pair.h"
#include "accounting/gaussian/mu.h"
#include "accounting/numeric/rounding.h"
#include "accounting/profile/approximate_dp_profile.h"
#include "accounting/profile/batch_profiles.h"
#include "accounting/profile/bounded_range_profile.h"
#include "accounting/profile/discrete_gaussian_profile.h"
#include "accounting/profile/discrete_laplace_profile.h"
#include "accounting/profile/finite_pair_profile.h"
#include "accounting/profile/gaussian_profile.h"
#include "accounting/profile/laplace_profile.h"
#include "accounting/profile/mixed_profile.h"
#include "accounting/profile/mixture_of_gaussians_profile.h"
#include "accounting/profile/poisson_sampled_profile.h"
#include "accounting/profile/randomized_response_profile.h"
#include "accounting/profile/renyi_bounded_profile.h"
#include "accounting/profile/replace_mixture_profile.h"
#include "accounting/profile/replace_sampled_gaussian_profile.h"
#include "accounting/profile/replace_sampled_laplace_profile.h"
#include "accounting/profile/replace_sampled_profile.h"
#include "accounting/profile/revealed_sample_profile.h"
#include "accounting/profile/several_releases.h"
#include "accounting/profile/shuffled_profile.h"
#include "accounting/profile/thresholded_profile.h"
#include "accounting/profile/trade_off_curve_profile.h"
#include "accounting/renyi/closed_form.h"
#include "accounting/renyi/tabulated_curve.h"

namespace epsledger::accounting {
namespace {

DirectedProfiles Symmetric(std::shared_ptr<const PrivacyProfile> profile) {
  return DirectedProfiles{profile, profile};
}

Bounds TimesGroup(Bounds mu, int64_t group_size) {
  if (group_size == 1) return mu;
  const double size = static_cast<double>(group_size);
  return Bounds{RoundDownNonNegative(mu.lower * size, 2), RoundUpNonNegative(mu.upper * size, 2)};
}

constexpr int64_t kMaxSampledGroup = 1000;
// Weights below this are dropped, and this much is added at the largest shift instead: the privacy
// loss can only grow (the mixture only moves up).
constexpr double kSmallestWeight = 1e-290;

bool AllGaussian(const std::vector<Use>& uses) {
  for (const Use& use : uses) {
    if (use.event->As<Gaussian>() == nullptr) return false;
  }
  return true;
}

// True if the contribution of one record is bounded, and not only the effect of replacing it.
bool NoiseOfKnownContribution(const MechanismEvent& event) {
  return event.As<Laplace>() != nullptr || event.As<DiscreteLaplace>() != nullptr ||
         event.As<DiscreteGaussian>() != nullptr;
}

DirectedProfiles Mixture(std::vector<MixturePart> parts, double relative_error, bool exact) {
  using Direction = MixtureOfGaussiansProfile::Direction;
  return DirectedProfiles{
      std::make_shared<MixtureOfGaussiansProfile>(parts, relative_error, Direction::kRemove, exact),
      std::make_shared<MixtureOfGaussiansProfile>(parts, relative_error, Direction::kAdd, exact)};
}

// A group of k under Poisson sampling of a Gaussian release: Binomial(k, q) of them are in the
// sample. Each moves the mean by at most mu, in the worst case all in the same direction
// ([Ganesh24] Thm 1).
DirectedProfiles SampledGroup(Bounds mu, double q, int64_t group_size) {
  const double middle = 0.5 * (mu.lower + mu.upper);
  std::vector<MixturePart> parts;
  bool dropped = false;
  const double size = static_cast<double>(group_size);
  const double log_ratio = std::log(q) - std::log1p(-q);
  double log_weight = size * std::log1p(-q);
  double magnitude = -log_weight;
  for (int64_t i = 0; i <= group_size; ++i) {
    const double count = static_cast<double>(i);
    if (i > 0) {
      const double step = std::log((size - count + 1) / count) + log_ratio;
      log_weight += step;
      magnitude += std::abs(step);
    }
    const double weight = std::exp(log_weight);
    if (weight < kSmallestWeight) {
      dropped = true;
    } else {
      parts.push_back(MixturePart{middle * count, weight});
    }
  }
  if (dropped) parts.push_back(MixturePart{middle * size, 2 * size * kSmallestWeight});
  const double relative_error = 8 * kUnitRoundoff * (magnitude + size + 4) +
                                (mu.upper - mu.lower) / mu.lower + 8 * kUnitRoundoff;
  return Mixture(std::move(parts), relative_error, !dropped);
}

// `mixture` on a Poisson sample of probability q: a record that is left out moves nothing. q in (0,
// 1].
absl::StatusOr<DirectedProfiles> MixtureOf(const MechanismEvent& event,
                                           const MixtureOfGaussians& mixture, double q,
                                           const Setting& setting, int64_t group_size,
                                           Accountant asked_by) {
  if (group_size != 1) {
    return UnknownEvent(asked_by, event,
                        "of a group it is not said how its members' numbers of contributions "
                        "depend on each other");
  }
  double total = 0;
  for (const double p : mixture.probabilities) total += p;
  std::vector<MixturePart> parts;
  for (size_t i = 0; i < mixture.probabilities.size(); ++i) {
    const double shift = mixture.sensitivities[i] / mixture.noise_multiplier;
    if (!(shift < 1e6)) return UnknownEvent(asked_by, event, "a shift of 1e6 deviations or more");
    parts.push_back(MixturePart{shift, q * (mixture.probabilities[i] / total)});
  }
  if (q < 1) parts.push_back(MixturePart{0, 1 - q});
  // The probabilities are taken as given, except for their sum.
  const double relative_error = 4 * kUnitRoundoff * (static_cast<double>(parts.size()) + 4);
  if (setting.relation != NeighboringRelation::kReplaceOne) {
    return Mixture(std::move(parts), relative_error, true);
  }
  if (setting.sensitivity_relation == SensitivityRelation::kContribution) {
    return Symmetric(std::make_shared<ReplaceMixtureProfile>(std::move(parts), relative_error));
  }
  // What one record contributes by itself is not stated: by joint convexity it is one of the
  // replacements, told which.
  std::vector<MixedProfile::Part> told;
  for (const MixturePart& part : parts) {
    if (part.weight == 0) continue;
    const Bounds mu{RoundDownNonNegative(part.shift), RoundUpNonNegative(part.shift)};
    told.push_back({std::make_shared<GaussianProfile>(mu),
                    std::min(1.0, RoundUp(part.weight * (1 + relative_error)))});
  }
  return Symmetric(std::make_shared<MixedProfile>(std::move(told), 0));
}

absl::StatusOr<DirectedProfiles> PoissonSampledOf(const MechanismEvent& event,
                                                  const PoissonSampled& sampled,
                                                  const Setting& setting, int64_t group_size,
                                                  Accountant asked_by) {
  const std::vector<Use> inner = Flatten(*sampled.event);
  const double q = sampled.sampling_probability;
  const absl::StatusOr<Bounds> mu = ComposeGaussianMu(inner, setting);
  const bool single = inner.size() == 1 && inner[0].count == 1;
  const auto inside = [&](const Setting& other) -> absl::StatusOr<DirectedProfiles> {
    // Several Gaussian releases of one sample are one release ([DRS19] Cor 3.3).
    if (mu.ok())
      return Symmetric(std::make_shared<GaussianProfile>(*ComposeGaussianMu(inner, other)));
    if (!single) {
      std::optional<DirectedProfiles> several = SeveralReleases(inner, other);
      if (several.has_value()) return *std::move(several);
      return UnknownEvent(asked_by, event,
                          "several releases of one sample are proved for Gaussian ones, two "
                          "Laplace ones, and pairs with few outcomes only");
    }
    return ProfilesOf(*inner[0].event, other, 1, asked_by);
  };
  if (setting.relation == NeighboringRelation::kReplaceOne) {
    if (group_size != 1) {
      return UnknownEvent(asked_by, event,
                          "groups of replaced records under sampling are not proved here");
    }
    if (const auto* mixture = single ? inner[0].event->As<MixtureOfGaussians>() : nullptr) {
      return MixtureOf(event, *mixture, q, setting, 1, asked_by);
    }
    absl::StatusOr<DirectedProfiles> replace = inside(setting);
    if (!replace.ok()) return replace;
    // The pair with the record against without it; unknown where the noise is stated only for
    // replacement. There the output without the record is any law, the same for both data sets.
    Setting without = setting;
    without.relation = NeighboringRelation::kAddOrRemoveOne;
    if (setting.sensitivity_relation == SensitivityRelation::kReplaceOne ||
        (!AllGaussian(inner) && !std::all_of(inner.begin(), inner.end(), [](const Use& use) {
          return NoiseOfKnownContribution(*use.event);
        }))) {
      const auto told = [q](const std::shared_ptr<const PrivacyProfile>& profile) {
        return std::make_shared<RevealedSampleProfile>(profile, q, /*attained=*/false);
      };
      if (replace->remove == replace->add) return Symmetric(told(replace->remove));
      return DirectedProfiles{told(replace->remove), told(replace->add)};
    }
    if (AllGaussian(inner)) {
      const absl::StatusOr<Bounds> contribution = ComposeGaussianMu(inner, without);
      if (contribution.ok() && ReplaceSampledGaussianProfile::CanTake(*contribution, q)) {
        return Symmetric(std::make_shared<ReplaceSampledGaussianProfile>(*contribution, q));
      }
    }
    if (const auto* laplace = single ? inner[0].event->As<Laplace>() : nullptr) {
      const double theta = 1 / laplace->noise_multiplier;
      const Bounds contribution{RoundDownNonNegative(theta), RoundUp(theta)};
      if (ReplaceSampledLaplaceProfile::CanTake(contribution, q)) {
        return Symmetric(std::make_shared<ReplaceSampledLaplaceProfile>(contribution, q));
      }
    }
    absl::StatusOr<DirectedProfiles> alone = inside(without);
    if (!alone.ok()) return alone;
    return Symmetric(std::make_shared<ReplaceSampledProfile>(alone->remove, replace->remove, q));
  }
  const bool may_tell = setting.relation == NeighboringRelation::kReplaceSpecial &&
                        !IsMadeOfAddedNoise(*sampled.event);
  if (group_size != 1) {
    if (!AllGaussian(inner) || group_size > kMaxSampledGroup || !(mu->lower > 0) ||
        !(mu->upper < 1e6)) {
      return UnknownEvent(asked_by, event,
                          "groups under sampling are proved for Gaussian releases and up to 1000 "
                          "members only");
    }
    return SampledGroup(*mu, q, group_size);
  }
  absl::StatusOr<DirectedProfiles> profiles = inside(setting);
  if (!profiles.ok()) return profiles;
  if (may_tell) {
    // A tree and a matrix mechanism are known: most likely they do not tell.
    const bool attained = std::none_of(inner.begin(), inner.end(), [](const Use& use) {
      return HasKnownContribution(*use.event);
    });
    return DirectedProfiles{std::make_shared<RevealedSampleProfile>(profiles->remove, q, attained),
                            std::make_shared<RevealedSampleProfile>(profiles->add, q, attained)};
  }
  return PoissonSampledProfiles(*profiles, q);
}

// Returns sensitivity * shift * group_size, or nullopt where the product is not exact.
std::optional<double> WholeDistance(int64_t sensitivity, double shift, int64_t group_size) {
  const double distance =
      static_cast<double>(sensitivity) * shift * static_cast<double>(group_size);
  return distance <= 1e12 ? std::optional<double>(distance) : std::nullopt;
}

std::shared_ptr<const PrivacyProfile> Concentrated(double rho, double xi) {
  return std::make_shared<RenyiBoundedProfile>(
      [rho, xi](double order) { return RoundUpNonNegative(RoundUpNonNegative(rho * order) + xi); });
}

std::shared_ptr<const PrivacyProfile> Declared(double epsilon, double delta, int64_t group_size,
                                               bool exact) {
  const ApproximateDpParameters group =
      GroupPrivacy({epsilon, delta}, static_cast<double>(group_size));
  return std::make_shared<ApproximateDpProfile>(Bounds{group.epsilon, group.epsilon}, group.delta,
                                                exact && group_size == 1);
}

DirectedProfiles DominatedBy(const DominatingPair& event, const Setting& setting,
                             int64_t group_size) {
  const FinitePair pair = FinitePairOf(event);
  if (group_size > 1) {
    return Symmetric(Declared(pair.LargestLoss(), pair.Alone(), group_size, false));
  }
  auto forward = std::make_shared<FinitePairProfile>(pair);
  if (IsItsOwnReverse(event)) return Symmetric(std::move(forward));
  auto backward = std::make_shared<FinitePairProfile>(FinitePairOf(Reverse(event)));
  if (setting.relation == NeighboringRelation::kReplaceOne) {
    // Neighbors have no order, and the next use may meet them in the other one.
    return Symmetric(std::make_shared<LargerProfile>(std::move(forward), std::move(backward)));
  }
  return DirectedProfiles{std::move(forward), std::move(backward)};
}

absl::StatusOr<DirectedProfiles> PartitionOf(const MechanismEvent& event,
                                             const PartitionSelection& partition,
                                             const Setting& setting, int64_t group_size,
                                             Accountant asked_by) {
  if (setting.relation == NeighboringRelation::kReplaceOne || group_size != 1) {
    return UnknownEvent(asked_by, event, "it is proved here for one unit added or removed");
  }
  const double theta = 1 / partition.noise_multiplier;
  const Bounds shift = std::isfinite(theta) ? Bounds{RoundDownNonNegative(theta), RoundUp(theta)}
                                            : Bounds{std::numeric_limits<double>::max(),
                                                     std::numeric_limits<double>::infinity()};
  std::shared_ptr<const PrivacyProfile> noise;
  if (partition.noise == Noise::kGaussian) {
    noise = std::make_shared<GaussianProfile>(shift);
  } else {
    noise = std::make_shared<LaplaceProfile>(shift);
  }
  const Bounds log_kept = LogKeptAlone(partition);
  return DirectedProfiles{std::make_shared<ThresholdedProfile>(noise, log_kept, Adjacency::kRemove),
                          std::make_shared<ThresholdedProfile>(noise, log_kept, Adjacency::kAdd)};
}

absl::StatusOr<DirectedProfiles> ShuffledOf(const MechanismEvent& event, const Shuffled& shuffled,
                                            const Setting& setting, int64_t group_size,
                                            Accountant asked_by) {
  const absl::StatusOr<ApproximateDpParameters> report = ApproximateDpOf(event, setting, asked_by);
  if (!report.ok()) return report.status();
  if (group_size != 1) {
    return UnknownEvent(asked_by, event, "its group privacy is not proved here");
  }
  if (!(report->epsilon > 0 && report->epsilon <= ShuffledProfile::kLargestEpsilon0)) {
    return Symmetric(Declared(report->epsilon, 0, 1, false));
  }
  return Symmetric(std::make_shared<ShuffledProfile>(report->epsilon, shuffled.reports));
}

// The index of the largest of scores with Laplace or exponential noise, two of which move by at
// most epsilon scales relative to each other: no better told than Laplace noise at that distance
// (accounting/analytics/README.md, "Noisy maxima"). One set of winners attains it, not all at once.
DirectedProfiles NoisyMaximum(double epsilon, int64_t group_size) {
  const double theta =
      group_size == 1 ? epsilon : RoundUpNonNegative(epsilon * static_cast<double>(group_size));
  return Symmetric(std::make_shared<LaplaceProfile>(Bounds{theta, theta}, /*attained=*/false));
}

}  // namespace

absl::StatusOr<DirectedProfiles> ProfilesOf(const MechanismEvent& event, const Setting& setting,
                                            int64_t group_size, Accountant asked_by) {
  const double group = static_cast<double>(group_size);
  const double shift = setting.shift();
  if (const std::optional<Bounds> mu = GaussianMu(event, setting); mu.has_value()) {
    return Symmetric(std::make_shared<GaussianProfile>(TimesGroup(*mu, group_size)));
  }
  if (const auto* laplace = event.As<Laplace>()) {
    const double theta = shift * group / laplace->noise_multiplier;
    if (group_size == 1 && std::isfinite(theta) &&
        std::fma(theta, laplace->noise_multiplier, -shift) == 0) {
      return Symmetric(std::make_shared<LaplaceProfile>(Bounds{theta, theta}));
    }
    return Symmetric(std::make_shared<LaplaceProfile>(
        std::isfinite(theta)
            ? Bounds{RoundDownNonNegative(theta, group_size == 1 ? 1 : 2),
                     RoundUp(theta, group_size == 1 ? 1 : 2)}
            : Bounds{std::numeric_limits<double>::max(), std::numeric_limits<double>::infinity()}));
  }
  if (const auto* discrete = event.As<DiscreteLaplace>()) {
    const std::optional<double> distance = WholeDistance(discrete->sensitivity, shift, group_size);
    if (!distance.has_value()) {
      const double epsilon = RoundUp(
          discrete->noise_parameter * shift * static_cast<double>(discrete->sensitivity) * group,
          4);
      return Symmetric(Declared(epsilon, 0, 1, false));
    }
    return Symmetric(
        std::make_shared<DiscreteLaplaceProfile>(discrete->noise_parameter, *distance));
  }
  if (const auto* discrete = event.As<DiscreteGaussian>()) {
    const std::optional<double> distance = WholeDistance(discrete->sensitivity, shift, group_size);
    if (distance.has_value() && DiscreteGaussianProfile::Covers(discrete->sigma, *distance)) {
      return Symmetric(std::make_shared<DiscreteGaussianProfile>(discrete->sigma, *distance));
    }
    // [CKS20] Prop 5: the divergence is at most that of the continuous Gaussian.
    const double mu =
        RoundUp(shift * static_cast<double>(discrete->sensitivity) * group / discrete->sigma, 4);
    return Symmetric(Concentrated(RoundUp(0.5 * mu * mu, 2), 0));
  }
  if (const auto* response = event.As<RandomizedResponse>()) {
    if (setting.relation == NeighboringRelation::kAddOrRemoveOne) {
      return UnknownEvent(asked_by, event, "it is not defined where a record is missing");
    }
    if (setting.relation == NeighboringRelation::kReplaceSpecial) {
      const FinitePair remove = ResponseAgainstNothing(*response, Adjacency::kRemove);
      if (group_size > 1) {
        return Symmetric(Declared(remove.LargestLoss(), remove.Alone(), group_size, false));
      }
      return DirectedProfiles{
          std::make_shared<FinitePairProfile>(remove),
          std::make_shared<FinitePairProfile>(ResponseAgainstNothing(*response, Adjacency::kAdd))};
    }
    if (group_size == 1) {
      return Symmetric(std::make_shared<RandomizedResponseProfile>(response->noise_parameter,
                                                                   response->num_buckets));
    }
    return Symmetric(
        Declared(RandomizedResponseEpsilon(response->noise_parameter, response->num_buckets), 0,
                 group_size, false));
  }
  if (const auto* exponential = event.As<ExponentialMechanism>()) {
    // Ranges add up along a path of neighbors.
    return Symmetric(std::make_shared<BoundedRangeProfile>(
        group_size == 1 ? exponential->epsilon : RoundUpNonNegative(exponential->epsilon * group)));
  }
  if (const auto* flip = event.As<PermuteAndFlip>()) return NoisyMaximum(flip->epsilon, group_size);
  if (const auto* pure = event.As<PureDp>()) {
    return Symmetric(Declared(pure->epsilon, 0, group_size, true));
  }
  if (const auto* noisy_max = event.As<ReportNoisyMax>()) {
    const double epsilon = NoisyMaxEpsilon(*noisy_max, setting);
    if (noisy_max->noise != Noise::kGumbel) return NoisyMaximum(epsilon, group_size);
    return Symmetric(std::make_shared<BoundedRangeProfile>(
        group_size == 1 ? epsilon : RoundUpNonNegative(epsilon * group)));
  }
  if (const auto* sparse = event.As<AboveThreshold>()) {
    return Symmetric(Declared(AboveThresholdEpsilon(*sparse, setting), 0, group_size, false));
  }
  if (const auto* approximate = event.As<ApproximateDp>()) {
    return Symmetric(Declared(approximate->epsilon, approximate->delta, group_size, true));
  }
  if (const auto* claim = event.As<UnverifiedClaim>()) {
    return Symmetric(Declared(claim->epsilon, claim->delta, group_size, true));
  }
  if (const auto* pair = event.As<DominatingPair>()) {
    return DominatedBy(*pair, setting, group_size);
  }
  if (const auto* partition = event.As<PartitionSelection>()) {
    return PartitionOf(event, *partition, setting, group_size, asked_by);
  }
  if (event.As<TruncatedGeometricSelection>() != nullptr) {
    const absl::StatusOr<ApproximateDpParameters> pair = ApproximateDpOf(event, setting, asked_by);
    if (!pair.ok()) return pair.status();
    return Symmetric(Declared(pair->epsilon, pair->delta, group_size, false));
  }
  if (const auto* shuffled = event.As<Shuffled>()) {
    return ShuffledOf(event, *shuffled, setting, group_size, asked_by);
  }
  if (const auto* mixture = event.As<MixtureOfGaussians>()) {
    return MixtureOf(event, *mixture, 1, setting, group_size, asked_by);
  }
  if (const auto* sampled = event.As<PoissonSampled>()) {
    return PoissonSampledOf(event, *sampled, setting, group_size, asked_by);
  }
  if (const auto* sampled = event.As<SampledWithoutReplacement>()) {
    return SampledWithoutReplacementProfiles(event, *sampled, setting, group_size, asked_by);
  }
  if (const auto* sampled = event.As<SampledWithReplacement>()) {
    return SampledWithReplacementProfiles(event, *sampled, setting, group_size, asked_by);
  }
  if (const auto* sampled = event.As<TruncatedPoissonSampled>()) {
    return TruncatedPoissonSampledProfiles(event, *sampled, setting, group_size, asked_by);
  }
  if (const auto* allocation = event.As<RandomAllocation>()) {
    return RandomAllocationProfilesOf(event, *allocation, setting, group_size, asked_by);
  }
  if (const auto* zcdp = event.As<Zcdp>(); zcdp != nullptr && (group_size == 1 || zcdp->xi == 0)) {
    // [BS16] Prop 27: rho-zCDP is k^2 rho-zCDP for groups of k.
    return Symmetric(Concentrated(
        group_size == 1 ? zcdp->rho : RoundUpNonNegative(zcdp->rho * group * group, 3), zcdp->xi));
  }
  if (group_size != 1) {
    return UnknownEvent(asked_by, event, "its group privacy is not proved here");
  }
  if (const auto* curve = event.As<RenyiCurve>()) {
    return Symmetric(std::make_shared<RenyiBoundedProfile>(
        [table = std::make_shared<const TabulatedRenyiCurve>(*curve)](double order) {
          return table->Divergence(order);
        }));
  }
  if (const auto* curve = event.As<TradeOffCurve>()) {
    return Symmetric(std::make_shared<TradeOffCurveProfile>(*curve));
  }
  return UnknownEvent(asked_by, event, "its privacy profile is not proved here");
}

}  // namespace epsledger::accounting
