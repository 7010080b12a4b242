#include "accounting/profile/batch_profiles.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "accounting/classical/truncated_batch.h"
#include "accounting/event/added_noise.h"
#include "accounting/event/status_macros.h"
#include "accounting/gaussian/mu.h"
#include "accounting/numeric/constants.h"
#include "accounting/numeric/rounding.h"
#include "accounting/profile/fixed_size_sampled_profile.h"
#include "accounting/profile/gaussian_profile.h"
#include "accounting/profile/mixed_profile.h"
#include "accounting/profile/mixture_of_gaussians_profile.h"
#include "accounting/profile/poisson_sampled_profile.h"
#include "accounting/profile/profiles_of.h"
#include "accounting/profile/random_allocation_profile.h"

namespace epsledger::accounting {
namespace {

using ProfilePtr = std::shared_ptr<const PrivacyProfile>;

constexpr char kGroup[] = "groups under this sampling are not proved here";
constexpr char kSeveralReleases[] =
    "several releases of one sample are proved for Gaussian releases only";
// Draws of one record beyond this probability are counted as if the data set were told.
constexpr double kNegligibleDraws = 1e-100;
constexpr double kMostDrawsPerRecord = 20;
// Each discrete Gaussian has a table of its own.
constexpr size_t kMostTables = 16;
constexpr size_t kMostParts = 1000;

bool IsBatchOf(const std::vector<Use>& inner, bool (*is_kind)(const MechanismEvent& event)) {
  return std::all_of(inner.begin(), inner.end(),
                     [is_kind](const Use& use) { return is_kind(*use.event); });
}

ProfilePtr GaussianAtDistance(Bounds mu, double distance) {
  if (distance == 1) return std::make_shared<GaussianProfile>(mu);
  return std::make_shared<GaussianProfile>(Bounds{RoundDownNonNegative(mu.lower * distance, 2),
                                                  RoundUpNonNegative(mu.upper * distance, 2)});
}

// The profile, in both orders, of `inner` on two samples of equal size of which one has `distance`
// records in place of `distance` others. Never smaller than the profile of `distance` records that
// are left out or count as nothing, under the setting.
absl::StatusOr<ProfilePtr> ReplacedInSample(const MechanismEvent& event,
                                            const std::vector<Use>& inner, const Setting& setting,
                                            int64_t distance, Accountant asked_by) {
  Setting replace = setting;
  replace.adjacency = std::nullopt;
  int64_t steps = distance;
  if (setting.relation == NeighboringRelation::kReplaceOne ||
      IsBatchOf(inner, HasKnownContribution)) {
    replace.relation = NeighboringRelation::kReplaceOne;
  } else {
    // Only the guarantee under this relation is known. Two steps of it replace a record: one leaves
    // (or becomes nothing), and the other comes.
    steps = 2 * distance;
    for (const Use& use : inner) {
      // A group under sampling is a group that leaves or a group that comes.
      if (use.event->As<PoissonSampled>() != nullptr) {
        return UnknownEvent(asked_by, event,
                            "records that take each other's place inside a second sampling are "
                            "not proved here");
      }
    }
  }
  // Several Gaussian releases of one sample are one release ([DRS19] Cor 3.3).
  if (const absl::StatusOr<Bounds> mu = ComposeGaussianMu(inner, replace); mu.ok()) {
    return GaussianAtDistance(*mu, static_cast<double>(steps));
  }
  if (inner.size() != 1 || inner[0].count != 1) {
    return UnknownEvent(asked_by, event, kSeveralReleases);
  }
  ASSIGN_OR_RETURN(const DirectedProfiles profiles,
                   ProfilesOf(*inner[0].event, replace, steps, asked_by));
  if (profiles.remove == profiles.add) return profiles.remove;
  return std::make_shared<LargerProfile>(profiles.remove, profiles.add);
}

// The profiles of `inner` on every record.
absl::StatusOr<DirectedProfiles> Unsampled(const MechanismEvent& event,
                                           const std::vector<Use>& inner, const Setting& setting,
                                           Accountant asked_by) {
  if (const absl::StatusOr<Bounds> mu = ComposeGaussianMu(inner, setting); mu.ok()) {
    const ProfilePtr profile = GaussianAtDistance(*mu, 1);
    return DirectedProfiles{profile, profile};
  }
  if (inner.size() != 1 || inner[0].count != 1) {
    return UnknownEvent(asked_by, event, kSeveralReleases);
  }
  return ProfilesOf(*inner[0].event, setting, 1, asked_by);
}

// The same profiles, without a lower bound on what the mechanism attains.
DirectedProfiles UpperBoundOnly(const DirectedProfiles& profiles) {
  const auto wrap = [](const ProfilePtr& profile) {
    return std::make_shared<MixedProfile>(std::vector<MixedProfile::Part>{{profile, 1}}, 0);
  };
  const ProfilePtr remove = wrap(profiles.remove);
  return DirectedProfiles{remove, profiles.add == profiles.remove ? remove : wrap(profiles.add)};
}

// With probability q the record takes the place of another one.
DirectedProfiles InThePlaceOfAnother(const ProfilePtr& replaced, const Setting& setting, double q) {
  if (q >= 1) return UpperBoundOnly({replaced, replaced});
  if (setting.relation != NeighboringRelation::kAddOrRemoveOne) {
    // The other data set has one more law there, that of the new record or of nothing.
    const ProfilePtr profile = std::make_shared<FixedSizeSampledProfile>(replaced, q);
    return DirectedProfiles{profile, profile};
  }
  return UpperBoundOnly(PoissonSampledProfiles({replaced, replaced}, q));
}

// The mu of a record that takes the place of another one, where the releases are Gaussian and of
// known contributions.
std::optional<Bounds> GaussianReplacement(const std::vector<Use>& inner, Setting setting) {
  if (!IsBatchOf(inner, HasKnownContribution)) return std::nullopt;
  setting.relation = NeighboringRelation::kReplaceOne;
  const absl::StatusOr<Bounds> mu = ComposeGaussianMu(inner, setting);
  if (!mu.ok() || !(mu->lower > 0 && mu->upper < 1e4) || mu->upper - mu->lower > 1e-9 * mu->lower) {
    return std::nullopt;
  }
  return *mu;
}

// sum_i weight_i N(shift_i mu, 1) against N(0, 1), and the reverse. `relative_error`: of the
// weights.
DirectedProfiles MixtureOfShifts(std::vector<MixturePart> parts, Bounds mu, double relative_error,
                                 bool exact) {
  using Direction = MixtureOfGaussiansProfile::Direction;
  const double middle = 0.5 * (mu.lower + mu.upper);
  for (MixturePart& part : parts) part.shift *= middle;
  const double error = relative_error + (mu.upper - mu.lower) / mu.lower + 4 * kUlp;
  return DirectedProfiles{
      std::make_shared<MixtureOfGaussiansProfile>(parts, error, Direction::kRemove, exact),
      std::make_shared<MixtureOfGaussiansProfile>(parts, error, Direction::kAdd, exact)};
}

DirectedProfiles Larger(const DirectedProfiles& a, const DirectedProfiles& b) {
  const ProfilePtr remove = std::make_shared<LargerProfile>(a.remove, b.remove);
  if (a.remove == a.add && b.remove == b.add) return DirectedProfiles{remove, remove};
  return DirectedProfiles{remove, std::make_shared<LargerProfile>(a.add, b.add)};
}

// `a` with the probability a_weight and `b` with b_weight, each rounded up.
DirectedProfiles OneOf(const DirectedProfiles& a, double a_weight, const DirectedProfiles& b,
                       double b_weight) {
  const auto mix = [&](const ProfilePtr& first, const ProfilePtr& second) {
    return std::make_shared<MixedProfile>(
        std::vector<MixedProfile::Part>{{first, a_weight}, {second, b_weight}}, 0);
  };
  const ProfilePtr remove = mix(a.remove, b.remove);
  if (a.remove == a.add && b.remove == b.add) return DirectedProfiles{remove, remove};
  return DirectedProfiles{remove, mix(a.add, b.add)};
}

}  // namespace

absl::StatusOr<DirectedProfiles> SampledWithoutReplacementProfiles(
    const MechanismEvent& event, const SampledWithoutReplacement& sampled, const Setting& setting,
    int64_t group_size, Accountant asked_by) {
  if (group_size != 1) return UnknownEvent(asked_by, event, kGroup);
  const std::vector<Use> inner = Flatten(*sampled.event);
  if (sampled.sample_size == sampled.dataset_size &&
      setting.relation == NeighboringRelation::kReplaceSpecial) {
    return Unsampled(event, inner, setting, asked_by);
  }
  if (setting.relation == NeighboringRelation::kAddOrRemoveOne &&
      sampled.sample_size < sampled.dataset_size) {
    if (const std::optional<Bounds> mu = GaussianReplacement(inner, setting)) {
      // Attained where all others contribute the opposite.
      const auto n = static_cast<double>(sampled.dataset_size);
      const double drawn = static_cast<double>(sampled.sample_size) / n;
      const double rest = static_cast<double>(sampled.dataset_size - sampled.sample_size) / n;
      return MixtureOfShifts({{0, rest}, {1, drawn}}, *mu, kUlp, true);
    }
  }
  ASSIGN_OR_RETURN(const ProfilePtr replaced, ReplacedInSample(event, inner, setting, 1, asked_by));
  // Rounded up: delta grows with q. With n + 1 records each is in the sample with less.
  const double q = std::min(1.0, RoundUp(static_cast<double>(sampled.sample_size) /
                                         static_cast<double>(sampled.dataset_size)));
  return InThePlaceOfAnother(replaced, setting, q);
}

absl::StatusOr<DirectedProfiles> SampledWithReplacementProfiles(
    const MechanismEvent& event, const SampledWithReplacement& sampled, const Setting& setting,
    int64_t group_size, Accountant asked_by) {
  if (group_size != 1) return UnknownEvent(asked_by, event, kGroup);
  const std::vector<Use> inner = Flatten(*sampled.event);
  const auto n = static_cast<double>(sampled.dataset_size);
  const auto m = static_cast<double>(sampled.sample_size);
  if (!(m <= kMostDrawsPerRecord * n)) {
    return UnknownEvent(asked_by, event, "more than 20 draws for each record");
  }
  if (n == 1) {
    ASSIGN_OR_RETURN(const ProfilePtr replaced,
                     ReplacedInSample(event, inner, setting, sampled.sample_size, asked_by));
    return InThePlaceOfAnother(replaced, setting, 1);
  }
  // P[J = j] of J ~ Binomial(m, 1/n), the number of times that the record is drawn, given J >= 1.
  const double log_none = m * std::log1p(-1 / n);
  const double q = -std::expm1(log_none);
  const double relative_error = 4 * kUlp * (m / n + 2);
  double mass = std::exp(log_none) / q;
  const std::optional<Bounds> mu = setting.relation == NeighboringRelation::kAddOrRemoveOne
                                       ? GaussianReplacement(inner, setting)
                                       : std::nullopt;
  std::vector<MixturePart> shifts = {{0, std::exp(log_none)}};
  double largest_operations = 0;
  const size_t most_parts =
      inner[0].event->As<DiscreteGaussian>() != nullptr ? kMostTables : kMostParts;
  std::vector<MixedProfile::Part> parts;
  double rest = 0;
  for (double j = 1; j <= m; ++j) {
    mass *= (m - j + 1) / j / (n - 1);
    const double weight = RoundUp(mass * (1 + relative_error), 8 * j + 16);
    // From twice the mean on, each mass is at most half of the one before.
    if (j > 4 * m / n && weight < kNegligibleDraws) {
      rest += 2 * weight;
      break;
    }
    if (weight < kNegligibleDraws || parts.size() >= most_parts) {
      rest += weight;
      continue;
    }
    if (mu.has_value()) {
      shifts.push_back({j, mass * q});
      largest_operations = 8 * j + 16;
      continue;
    }
    ASSIGN_OR_RETURN(const ProfilePtr replaced,
                     ReplacedInSample(event, inner, setting, static_cast<int64_t>(j), asked_by));
    parts.push_back({replaced, std::min(1.0, weight)});
  }
  rest = std::min(1.0, RoundUpNonNegative(rest, 64));
  if (mu.has_value()) {
    // One law without the record, so that the mixture itself is the pair: each part moves the sum
    // by at most j replacements.
    const DirectedProfiles mixture = MixtureOfShifts(
        std::move(shifts), *mu, relative_error + largest_operations * kUlp + rest, rest == 0);
    if (rest == 0) return mixture;
    const auto told = [&](const ProfilePtr& profile) {
      return std::make_shared<MixedProfile>(std::vector<MixedProfile::Part>{{profile, 1}}, rest);
    };
    return DirectedProfiles{told(mixture.remove), told(mixture.add)};
  }
  const ProfilePtr drawn = std::make_shared<MixedProfile>(std::move(parts), rest);
  return InThePlaceOfAnother(drawn, setting, std::min(1.0, RoundUp(q * (1 + relative_error), 4)));
}

absl::StatusOr<DirectedProfiles> TruncatedPoissonSampledProfiles(
    const MechanismEvent& event, const TruncatedPoissonSampled& sampled, const Setting& setting,
    int64_t group_size, Accountant asked_by) {
  if (group_size != 1) return UnknownEvent(asked_by, event, kGroup);
  const std::vector<Use> inner = Flatten(*sampled.event);
  const double q = sampled.sampling_probability;
  absl::StatusOr<DirectedProfiles> room =
      q == 1 ? Unsampled(event, inner, setting, asked_by)
             : ProfilesOf(PoissonSampled{q, sampled.event}, setting, 1, asked_by);
  if (!room.ok()) return room;
  if (setting.relation == NeighboringRelation::kReplaceSpecial && !IsBatchOf(inner, IsAddedNoise)) {
    // The output may tell whether the record is in the batch, which has a probability of at most q.
    return UpperBoundOnly(*room);
  }
  std::optional<DirectedProfiles> worst;
  const int64_t most = sampled.dataset_size;
  const bool either_size = setting.relation == NeighboringRelation::kAddOrRemoveOne;
  for (int64_t others = most - 1; others <= (either_size ? most : most - 1); ++others) {
    const TruncatedBatch batch = TruncateBatch(q, others, sampled.max_batch_size);
    DirectedProfiles one = *room;
    if (batch.full.upper > 0) {
      ASSIGN_OR_RETURN(const ProfilePtr replaced,
                       ReplacedInSample(event, inner, setting, 1, asked_by));
      one = InThePlaceOfAnother(replaced, setting, batch.kept);
      if (batch.not_full > 0) one = OneOf(*room, batch.not_full, one, batch.full.upper);
    }
    if (!worst.has_value()) {
      worst = one;
    } else if (one.remove != worst->remove) {
      worst = Larger(*worst, one);
    }
  }
  return *worst;
}

absl::StatusOr<DirectedProfiles> RandomAllocationProfilesOf(const MechanismEvent& event,
                                                            const RandomAllocation& allocation,
                                                            const Setting& setting,
                                                            int64_t group_size,
                                                            Accountant asked_by) {
  if (group_size != 1) return UnknownEvent(asked_by, event, kGroup);
  if (setting.relation == NeighboringRelation::kReplaceOne) {
    return UnknownEvent(asked_by, event, "it is proved here for one record added or removed");
  }
  if (allocation.selected != 1) {
    return UnknownEvent(asked_by, event, "inside another event only one round may be selected");
  }
  const std::vector<Use> inner = Flatten(*allocation.event);
  if (setting.relation == NeighboringRelation::kReplaceSpecial &&
      !IsMadeOfAddedNoise(*allocation.event)) {
    return UnknownEvent(asked_by, event,
                        "the output may tell in which round the record counts as nothing");
  }
  ASSIGN_OR_RETURN(const DirectedProfiles one, Unsampled(event, inner, setting, asked_by));
  return RandomAllocationProfiles(one, allocation.rounds);
}

}  // namespace epsledger::accounting
