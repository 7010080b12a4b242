#include "accounting/renyi/divergences.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "accounting/analytics/partition.h"
#include "accounting/classical/approximate_dp.h"
#include "accounting/classical/basic_and_advanced.h"
#include "accounting/classical/truncated_batch.h"
#include "accounting/event/added_noise.h"
#include "accounting/event/finite_pair.h"
#include "accounting/event/status_macros.h"
#include "accounting/gaussian/gaussian_mixture.h"
#include "accounting/gaussian/mu.h"
#include "accounting/numeric/constants.h"
#include "accounting/numeric/rounding.h"
#include "accounting/renyi/closed_form.h"
#include "accounting/renyi/event_parameters.h"
#include "accounting/renyi/finite_pair_renyi.h"
#include "accounting/renyi/group.h"
#include "accounting/renyi/mixture_of_gaussians.h"
#include "accounting/renyi/poisson_sampled.h"
#include "accounting/renyi/poisson_selection.h"
#include "accounting/renyi/private_selection.h"
#include "accounting/renyi/random_allocation.h"
#include "accounting/renyi/replace_sampled_gaussian.h"
#include "accounting/renyi/sampled_gaussian.h"
#include "accounting/renyi/sampled_without_replacement.h"
#include "accounting/renyi/tabulated_curve.h"

namespace epsledger::accounting {

class RenyiDivergencesBuilder {
  using Curve = std::function<double(double order)>;

 public:
  RenyiDivergencesBuilder(const Setting& setting, Accountant asked_by, double group_size,
                          absl::FunctionRef<bool()> abandoned)
      : setting_(setting),
        asked_by_(asked_by),
        group_size_(group_size),
        shift_(setting.shift()),
        abandoned_(abandoned) {}

  absl::Status Add(const MechanismEvent& event, double count) {
    if (const std::optional<Bounds> mu = GaussianMu(event, setting_); mu.has_value()) {
      AddGaussian(mu->upper, count);  // groups: [DRS19] Thm 2.14
    } else if (const auto* laplace = event.As<Laplace>()) {
      AddExact([z = laplace->noise_multiplier, shift = RoundUpIfGroup(shift_ * group_size_)](
                   double a) { return LaplaceRenyi(a, z, shift); },
               count);
    } else if (const auto* discrete = event.As<DiscreteGaussian>()) {
      // [CKS20] Prop 5: the divergence is at most that of the continuous Gaussian.
      AddGaussian(RoundUp(shift_ * static_cast<double>(discrete->sensitivity) / discrete->sigma, 2),
                  count);
    } else if (const std::optional<double> epsilon = PureEpsilon(event, setting_)) {
      AddPure(*epsilon, count, IsNoisyMax(event));
    } else if (const std::optional<ApproximateDpParameters> pair = ApproximatePair(event)) {
      AddApproximate(*pair, count);
    } else if (const auto* response = event.As<RandomizedResponse>()) {
      if (setting_.relation == NeighboringRelation::kAddOrRemoveOne) {
        return Unknown(event, "it is not defined where a record is missing");
      }
      if (setting_.relation == NeighboringRelation::kReplaceSpecial) {
        return AddFinitePairs(event, ResponseAgainstNothing(*response, Adjacency::kRemove),
                              ResponseAgainstNothing(*response, Adjacency::kAdd), count);
      }
      AddCurve([p = response->noise_parameter,
                k = response->num_buckets](double a) { return RandomizedResponseRenyi(a, p, k); },
               count);
    } else if (const std::optional<double> range = BoundedRange(event, setting_)) {
      // Ranges of the loss add up along a path of neighbors.
      AddExact([epsilon = RoundUpIfGroup(*range * group_size_)](
                   double a) { return BoundedRangeRenyi(a, epsilon); },
               count);
    } else if (const auto* zcdp = event.As<Zcdp>()) {
      // [BS16] Def 1.1. Groups: GroupRenyi of xi + rho a is k^2 rho a + xi sum k a / (k a - j).
      AddProductUp(profile_.half_mu_squared_, count,
                   RoundUpIfGroup(RoundUpIfGroup(zcdp->rho * group_size_) * group_size_));
      if (group_size_ == 1) {
        AddProductUp(profile_.constant_, count, zcdp->xi);
      } else if (zcdp->xi > 0) {
        AddCurve([xi = zcdp->xi](double) { return xi; }, count);
      }
    } else if (const auto* curve = event.As<RenyiCurve>()) {
      AddCurve([table = std::make_shared<const TabulatedRenyiCurve>(*curve)](
                   double a) { return table->Divergence(a); },
               count);
    } else if (const auto* mixture = event.As<MixtureOfGaussians>()) {
      return AddMixture(event, *mixture, 1, count);
    } else if (const auto* dominating = event.As<DominatingPair>()) {
      return AddFinitePairs(event, FinitePairOf(*dominating), FinitePairOf(Reverse(*dominating)),
                            count);
    } else if (const auto* sampled = event.As<PoissonSampled>()) {
      return AddPoissonSampled(event, *sampled, count);
    } else if (const auto* subset = event.As<SampledWithoutReplacement>()) {
      return AddSampledWithoutReplacement(event, *subset, count);
    } else if (const auto* truncated = event.As<TruncatedPoissonSampled>()) {
      return AddTruncatedPoissonSampled(event, *truncated, count);
    } else if (const auto* allocation = event.As<RandomAllocation>()) {
      return AddRandomAllocation(event, *allocation, count);
    } else if (const auto* selection = event.As<RepeatAndSelect>()) {
      return AddSelection(event, *selection, count);
    } else if (const auto* banded = event.As<BandedMatrixFactorization>()) {
      return AddBanded(event, *banded, count);
    } else if (const auto* partition = event.As<PartitionSelection>()) {
      return AddPartition(event, *partition, count);
    } else if (event.As<TruncatedGeometricSelection>() != nullptr ||
               event.As<Shuffled>() != nullptr) {
      ASSIGN_OR_RETURN(const ApproximateDpParameters known,
                       ApproximateDpOf(event, setting_, asked_by_));
      if (known.delta > 0) {
        AddApproximate(known, count);
      } else {
        AddPure(known.epsilon, count);
      }
    } else {
      return Unknown(event, "its Renyi divergence is not proved here");
    }
    return absl::OkStatus();
  }

  // `roundings`: how many counts of sampled Gaussians may have been summed inexactly.
  RenyiDivergences Finish(double roundings) && {
    const bool add = setting_.adjacency == Adjacency::kAdd;
    for (const auto& [parameters, count] : sampled_gaussians_) {
      const SampledGaussian mechanism{parameters.first, parameters.second};
      AddCurve(
          [mechanism, add](double a) {
            return add ? SampledGaussianAddRenyi(mechanism, a)
                       : SampledGaussianRemoveRenyi(mechanism, a);
          },
          count <= 9007199254740992.0 ? count : RoundUp(count, roundings));
    }
    return std::move(profile_);
  }

 private:
  absl::Status Unknown(const MechanismEvent& event, const std::string& reason) const {
    return UnknownEvent(asked_by_, event, reason);
  }
  // Returns the reason why the event inside `event` has no profile.
  absl::Status NotInside(const MechanismEvent& event, const absl::Status& why) const {
    return absl::IsCancelled(why) ? why : Unknown(event, std::string(why.message()));
  }
  double RoundUpIfGroup(double x) const { return group_size_ == 1 ? x : RoundUpNonNegative(x); }

  // Adds a curve that is already about the group.
  void AddExact(Curve divergence, double count) {
    profile_.terms_.push_back(RenyiDivergences::Term{std::move(divergence), count});
  }
  // Adds a curve of single neighbors.
  void AddCurve(Curve divergence, double count) {
    if (group_size_ == 1) return AddExact(std::move(divergence), count);
    AddExact(
        [one = std::move(divergence), k = group_size_](double a) { return GroupRenyi(one, a, k); },
        count);
  }
  void AddGaussian(double mu, double count) {
    const double group_mu = RoundUpIfGroup(mu * group_size_);
    AddProductUp(profile_.half_mu_squared_, count,
                 RoundUpNonNegative(0.5 * group_mu * group_mu, 2) +
                     (group_mu > 0 ? std::numeric_limits<double>::denorm_min() : 0));
  }
  void AddPure(double one, double count, bool noisy_max = false) {
    if (one == 0) return;
    const double epsilon = RoundUpIfGroup(one * group_size_);
    AddExact(
        [=](double a) { return noisy_max ? LaplaceRenyi(a, 1, epsilon) : PureDpRenyi(a, epsilon); },
        count);
  }
  void AddApproximate(ApproximateDpParameters pair, double count) {
    if (group_size_ > 1) pair = GroupPrivacy(pair, group_size_);
    AddProductUp(profile_.delta_sum_, count, pair.delta);
    if (pair.epsilon == 0) return;
    AddExact([epsilon = pair.epsilon](double a) { return PureDpRenyi(a, epsilon); }, count);
  }

  // Returns the profile of the event inside a sampling or a selection, both directions, single
  // neighbors.
  absl::StatusOr<RenyiDivergences> Inner(const std::vector<Use>& uses) const {
    Setting setting = setting_;
    setting.adjacency = std::nullopt;
    return RenyiDivergences::Create(uses, setting, asked_by_, /*group_size=*/1, abandoned_);
  }

  // Adds the larger divergence of two pairs, or that of the direction asked for. Under replace-one
  // each use may meet its neighbors in either order.
  absl::Status AddFinitePairs(const MechanismEvent& event, const FinitePair& remove,
                              const FinitePair& add, double count) {
    const auto with = std::make_shared<const FinitePairRenyi>(remove);
    const auto without = std::make_shared<const FinitePairRenyi>(add);
    const double delta = std::max(with->delta(), without->delta());
    if (delta > 0 && group_size_ > 1) {
      if (event.As<DominatingPair>() == nullptr) {
        return Unknown(event, "no group theorem for its delta is proved here");
      }
      AddApproximate({remove.LargestLoss(), delta}, count);
      return absl::OkStatus();
    }
    AddProductUp(profile_.delta_sum_, count, delta);
    AddCurve(
        [with, without, adjacency = setting_.adjacency](double a) {
          if (adjacency == Adjacency::kAdd) return without->Divergence(a);
          if (adjacency == Adjacency::kRemove) return with->Divergence(a);
          return std::max(with->Divergence(a), without->Divergence(a));
        },
        count);
    return absl::OkStatus();
  }

  absl::Status AddPoissonSampled(const MechanismEvent& event, const PoissonSampled& sampled,
                                 double count) {
    const std::vector<Use> inner = Flatten(*sampled.event);
    const double q = sampled.sampling_probability;
    if (const std::optional<double> z = JointNoiseMultiplier(inner, shift_)) {
      if (setting_.relation == NeighboringRelation::kReplaceOne) {
        if (setting_.sensitivity_relation == SensitivityRelation::kReplaceOne) {
          // What one record contributes by itself is not stated, so that only joint convexity is
          // proved: linear in q, not quadratic (README, "Sampling cannot hurt").
          AddCurve([mechanism = SampledGaussian{q, *z}](
                       double a) { return SampledGaussianConvexityBound(mechanism, a); },
                   count);
          return absl::OkStatus();
        }
        const std::optional<double> alone = JointNoiseMultiplier(inner, 1);
        AddCurve([mechanism = SampledGaussian{q, *alone}](
                     double a) { return ReplaceSampledGaussianRenyi(mechanism, a); },
                 count);
      } else {
        sampled_gaussians_[{q, *z}] += count;
      }
      return absl::OkStatus();
    }
    const bool single = inner.size() == 1 && inner[0].count == 1;
    if (const auto* mixture = single ? inner[0].event->As<MixtureOfGaussians>() : nullptr) {
      return AddMixture(event, *mixture, q, count);
    }
    const bool symmetric_noise = single && IsSymmetricNoise(*inner[0].event);
    const bool absent_or_present =
        setting_.relation == NeighboringRelation::kAddOrRemoveOne ||
        (setting_.relation == NeighboringRelation::kReplaceSpecial && symmetric_noise);
    if (single && absent_or_present) {
      if (const auto* dominating = inner[0].event->As<DominatingPair>()) {
        return AddFinitePairs(event, SampledFinitePairOf(*dominating, q, Adjacency::kRemove),
                              SampledFinitePairOf(*dominating, q, Adjacency::kAdd), count);
      }
      if (const std::optional<double> epsilon = PureEpsilon(*inner[0].event, setting_)) {
        const bool add = setting_.adjacency == Adjacency::kAdd;
        if (*epsilon == 0) return absl::OkStatus();
        AddCurve(
            [epsilon = *epsilon, q, add](double a) {
              return add ? PoissonSampledPureDpAddRenyi(a, epsilon, q)
                         : PoissonSampledPureDpRemoveRenyi(a, epsilon, q);
            },
            count);
        return absl::OkStatus();
      }
      if (const std::optional<ApproximateDpParameters> pair = ApproximatePair(*inner[0].event)) {
        // [BBG18] Thm 8.
        AddApproximate({AmplifiedEpsilon(pair->epsilon, q), RoundUpNonNegative(q * pair->delta)},
                       count);
        return absl::OkStatus();
      }
    }
    absl::StatusOr<RenyiDivergences> inside = Inner(inner);
    if (!inside.ok()) return NotInside(event, inside.status());
    if (inside->delta_sum() > 0) {
      if (group_size_ > 1) return Unknown(event, "no group theorem for its delta is proved here");
      // The delta is a release that happens with the same probability on both sides, sampled or
      // not; without it the pair is the sampled rest.
      AddProductUp(profile_.delta_sum_, count, inside->delta_sum());
    }
    const auto rest = std::make_shared<const RenyiDivergences>(*std::move(inside));
    if (!absent_or_present) {
      AddCurve([rest, q](double a) { return SamplingConvexityRenyi(a, rest->Divergence(a), q); },
               count);
      return absl::OkStatus();
    }
    const auto one = [&](double a) { return rest->Divergence(a, abandoned_); };
    const auto bound = std::make_shared<const PoissonSampledRenyi>(one, q, symmetric_noise);
    AddCurve(
        [rest, bound, adjacency = setting_.adjacency](double a) {
          const double d = rest->Divergence(a);
          if (adjacency == Adjacency::kAdd) return bound->Add(a, d);
          if (adjacency == Adjacency::kRemove) return bound->Remove(a, d);
          return std::max(bound->Add(a, d), bound->Remove(a, d));
        },
        count);
    return absl::OkStatus();
  }

  // A mixture on a Poisson sample of probability q, in (0, 1]: a record that is left out moves
  // nothing, as with shift 0.
  absl::Status AddMixture(const MechanismEvent& event, const MixtureOfGaussians& mixture, double q,
                          double count) {
    double total = 0;
    for (const double p : mixture.probabilities) total += p;
    std::vector<MixturePart> parts;
    for (size_t i = 0; i < mixture.probabilities.size(); ++i) {
      const double shift = mixture.sensitivities[i] / mixture.noise_multiplier;
      if (!(shift < 1e6)) return Unknown(event, "a shift of 1e6 deviations or more");
      parts.push_back(MixturePart{shift, q * (mixture.probabilities[i] / total)});
    }
    if (q < 1) parts.push_back(MixturePart{0, 1 - q});
    // The probabilities are taken as given, except for their sum.
    const double relative_error = 8 * kUnitRoundoff * (static_cast<double>(parts.size()) + 4);
    const auto law = std::make_shared<const GaussianMixture>(
        CoarserMixture(std::move(parts), kMostMixtureParts), relative_error);
    if (law->parts().empty()) return absl::OkStatus();
    if (setting_.relation == NeighboringRelation::kReplaceOne) {
      const bool stated = setting_.sensitivity_relation == SensitivityRelation::kReplaceOne;
      AddCurve(
          [law, stated](double a) {
            return stated ? MixtureConvexityRenyi(*law, a) : MixtureReplaceRenyi(*law, a);
          },
          count);
      return absl::OkStatus();
    }
    AddCurve(
        [law, adjacency = setting_.adjacency](double a) {
          if (adjacency == Adjacency::kAdd) return MixtureAddRenyi(*law, a);
          if (adjacency == Adjacency::kRemove) return MixtureRemoveRenyi(*law, a);
          return std::max(MixtureAddRenyi(*law, a), MixtureRemoveRenyi(*law, a));
        },
        count);
    return absl::OkStatus();
  }

  absl::Status AddSampledWithoutReplacement(const MechanismEvent& event,
                                            const SampledWithoutReplacement& sampled,
                                            double count) {
    if (setting_.relation != NeighboringRelation::kReplaceOne) {
      return AddFixedSize(event, sampled, count);
    }
    const std::optional<double> z = JointNoiseMultiplier(Flatten(*sampled.event), shift_);
    if (!z.has_value()) return Unknown(event, kGaussiansOnly);
    const double q = std::min(1.0, RoundUp(static_cast<double>(sampled.sample_size) /
                                           static_cast<double>(sampled.dataset_size)));
    const auto bound = std::make_shared<const SampledWithoutReplacementGaussian>(q, *z);
    AddCurve([bound](double a) { return bound->Divergence(a); }, count);
    return absl::OkStatus();
  }

  // Returns, for the probability with which a record takes the place of another one in a batch, a
  // divergence of the event inside (accounting/profile/README.md, "Batches of a fixed size").
  absl::StatusOr<std::function<Curve(double probability)>> InThePlaceOfAnother(
      const MechanismEvent& event, const std::vector<Use>& inner) const {
    const bool known = std::all_of(inner.begin(), inner.end(),
                                   [](const Use& use) { return HasKnownContribution(*use.event); });
    Setting replace = setting_;
    replace.adjacency = std::nullopt;
    const bool one_step = known || setting_.relation == NeighboringRelation::kReplaceOne;
    if (one_step) replace.relation = NeighboringRelation::kReplaceOne;
    const bool absent = setting_.relation == NeighboringRelation::kAddOrRemoveOne;
    const bool add = setting_.adjacency == Adjacency::kAdd;
    if (const std::optional<double> z = JointNoiseMultiplier(inner, replace.shift())) {
      return [=](double q) -> Curve {
        const SampledGaussian mechanism{q, *z};
        if (!absent) return [=](double a) { return ReplaceSampledGaussianRenyi(mechanism, a); };
        if (add) return [=](double a) { return SampledGaussianAddRenyi(mechanism, a); };
        return [=](double a) { return SampledGaussianRemoveRenyi(mechanism, a); };
      };
    }
    // Two steps of the relation of which the guarantee is known replace a record.
    absl::StatusOr<RenyiDivergences> created =
        RenyiDivergences::Create(inner, replace, asked_by_, one_step ? 1 : 2, abandoned_);
    if (!created.ok()) return NotInside(event, created.status());
    if (created->delta_sum() > 0) return Unknown(event, kNoDelta);
    const auto replaced = std::make_shared<const RenyiDivergences>(*std::move(created));
    const bool symmetric =
        inner.size() == 1 && inner[0].count == 1 && IsSymmetricNoise(*inner[0].event);
    return [=, adjacency = setting_.adjacency, abandoned = abandoned_](double q) -> Curve {
      if (!absent || !(q < 1)) {
        return [=](double a) {
          return SamplingConvexityRenyi(a, replaced->Divergence(a), std::min(1.0, q));
        };
      }
      const auto one = [&](double a) { return replaced->Divergence(a, abandoned); };
      const auto bound = std::make_shared<const PoissonSampledRenyi>(one, q, symmetric);
      return [replaced, bound, adjacency](double a) {
        const double d = replaced->Divergence(a);
        if (adjacency == Adjacency::kAdd) return bound->Add(a, d);
        if (adjacency == Adjacency::kRemove) return bound->Remove(a, d);
        return std::max(bound->Add(a, d), bound->Remove(a, d));
      };
    };
  }

  // sampledWithoutReplacement where one record is added, removed or zeroed.
  absl::Status AddFixedSize(const MechanismEvent& event, const SampledWithoutReplacement& sampled,
                            double count) {
    const bool absent = setting_.relation == NeighboringRelation::kAddOrRemoveOne;
    if (absent && group_size_ > 1) return Unknown(event, kGroupChangesSize);
    const std::vector<Use> inner = Flatten(*sampled.event);
    const absl::StatusOr<std::function<Curve(double)>> replaced = InThePlaceOfAnother(event, inner);
    if (!replaced.ok()) return replaced.status();
    const double q = std::min(1.0, RoundUp(static_cast<double>(sampled.sample_size) /
                                           static_cast<double>(sampled.dataset_size)));
    Curve curve = (*replaced)(q);
    if (!absent) {  // joint convexity with the record in the sample or not
      absl::StatusOr<RenyiDivergences> inside = Inner(inner);
      if (!inside.ok()) return NotInside(event, inside.status());
      curve = [curve = std::move(curve), q,
               zeroed = std::make_shared<const RenyiDivergences>(*std::move(inside))](double a) {
        return std::min(curve(a), SamplingConvexityRenyi(a, zeroed->Divergence(a), q));
      };
    }
    AddCurve(std::move(curve), count);
    return absl::OkStatus();
  }

  absl::Status AddTruncatedPoissonSampled(const MechanismEvent& event,
                                          const TruncatedPoissonSampled& sampled, double count) {
    const bool absent = setting_.relation == NeighboringRelation::kAddOrRemoveOne;
    if (absent && group_size_ > 1) return Unknown(event, kGroupChangesSize);
    const double q = sampled.sampling_probability;
    const MechanismEvent untruncated = PoissonSampled{q, sampled.event};
    absl::StatusOr<RenyiDivergences> created = RenyiDivergences::Create(
        Flatten(untruncated), setting_, asked_by_, /*group_size=*/1, abandoned_);
    if (!created.ok()) return NotInside(event, created.status());
    if (created->delta_sum() > 0) return Unknown(event, kNoDelta);
    const auto room = std::make_shared<const RenyiDivergences>(*std::move(created));
    const std::vector<Use> inner = Flatten(*sampled.event);
    const bool may_tell = setting_.relation == NeighboringRelation::kReplaceSpecial &&
                          !std::all_of(inner.begin(), inner.end(),
                                       [](const Use& use) { return IsAddedNoise(*use.event); });
    std::vector<TruncatedBatch> batches;
    for (int64_t others = sampled.dataset_size - 1;
         others <= sampled.dataset_size - (absent ? 0 : 1); ++others) {
      const TruncatedBatch batch = TruncateBatch(q, others, sampled.max_batch_size);
      if (batch.full.upper > 0) batches.push_back(batch);
    }
    // The record is in the batch with at most the probability q, which is all that matters where
    // the output may tell it.
    Curve curve = [room](double a) { return room->Divergence(a); };
    if (!may_tell && !batches.empty()) {
      const absl::StatusOr<std::function<Curve(double)>> replaced =
          InThePlaceOfAnother(event, inner);
      if (!replaced.ok()) return replaced.status();
      const bool either = batches.size() < (absent ? 2 : 1);
      std::vector<std::pair<Bounds, Curve>> full;
      for (const TruncatedBatch& batch : batches) {
        full.emplace_back(batch.full, (*replaced)(batch.kept));
      }
      curve = [room, full = std::move(full), either](double a) {
        const double not_full = room->Divergence(a);
        double most = either ? not_full : 0;
        for (const auto& [weight, one] : full) {
          most = std::max(most, MixtureRenyi(a, not_full, one(a), weight));
        }
        return most;
      };
    }
    AddCurve(std::move(curve), count);
    return absl::OkStatus();
  }

  absl::Status AddRandomAllocation(const MechanismEvent& event, const RandomAllocation& allocation,
                                   double count) {
    if (setting_.relation == NeighboringRelation::kReplaceOne) {
      return Unknown(event, "it is proved here for one record added or removed");
    }
    const std::optional<double> z = JointNoiseMultiplier(Flatten(*allocation.event), shift_);
    if (!z.has_value()) return Unknown(event, kGaussiansOnly);
    // k of t rounds are one of t/k rounds, k times: first split the rounds at random into k blocks
    // of floor(t/k) ([FS25] Lemma 3.2).
    const auto bound = std::make_shared<const RandomAllocationGaussian>(
        allocation.rounds / allocation.selected, *z);
    AddCurve(
        [bound, adjacency = setting_.adjacency](double a) {
          if (adjacency == Adjacency::kAdd) return bound->Add(a);
          if (adjacency == Adjacency::kRemove) return bound->Remove(a);
          return std::max(bound->Add(a), bound->Remove(a));
        },
        RoundUpCount(count * static_cast<double>(allocation.selected)));
    return absl::OkStatus();
  }

  absl::Status AddSelection(const MechanismEvent& event, const RepeatAndSelect& selection,
                            double count) {
    absl::StatusOr<RenyiDivergences> inside = Inner(Flatten(*selection.event));
    if (!inside.ok()) return NotInside(event, inside.status());
    if (inside->delta_sum() > 0) {
      return Unknown(event, "one run must have a Renyi divergence, without a delta set aside");
    }
    const auto run = std::make_shared<const RenyiDivergences>(*std::move(inside));
    const auto one = [&](double a) { return run->Divergence(a, abandoned_); };
    if (selection.shape == kInfinity) {
      const auto poisson = std::make_shared<const PoissonSelection>(one, selection.mean);
      AddCurve(
          [run, poisson](double a) {
            return poisson->Divergence(a, [&](double order) { return run->Divergence(order); });
          },
          count);
      return absl::OkStatus();
    }
    const auto bound =
        std::make_shared<const PrivateSelection>(one, selection.mean, selection.shape);
    AddCurve([run, bound](double a) { return bound->Divergence(a, run->Divergence(a)); }, count);
    return absl::OkStatus();
  }

  absl::Status AddBanded(const MechanismEvent& event, const BandedMatrixFactorization& banded,
                         double count) {
    if (setting_.relation == NeighboringRelation::kReplaceOne) {
      return Unknown(event, "it is proved here for one record added or removed");
    }
    const double bands = static_cast<double>(banded.bands);
    const double q = banded.sampling_probability * bands;
    if (!(q <= 1)) {
      return Unknown(event, "its cyclic sampling needs samplingProbability * bands <= 1");
    }
    // [CGMMRTX23]: a part of the records takes part every `bands` iterations, each with probability
    // q of its own.
    const double steps = static_cast<double>((banded.iterations - 1) / banded.bands + 1);
    sampled_gaussians_[{std::min(1.0, RoundUp(q)), banded.noise_multiplier / shift_}] +=
        RoundUpCount(count * steps);
    return absl::OkStatus();
  }

  // A unit that is alone in the partition is revealed with probability p, or nothing is; one among
  // others is hidden by the noise (accounting/analytics/README.md, "Partitions").
  absl::Status AddPartition(const MechanismEvent& event, const PartitionSelection& partition,
                            double count) {
    if (setting_.relation == NeighboringRelation::kReplaceOne || group_size_ > 1) {
      return Unknown(event, "it is proved here for one unit added or removed");
    }
    AddApproximate({0, KeptAlone(partition)}, count);
    if (partition.noise == Noise::kGaussian) {
      AddGaussian(RoundUp(1 / partition.noise_multiplier), count);
    } else {
      AddExact([z = partition.noise_multiplier](double a) { return LaplaceRenyi(a, z, 1); }, count);
    }
    return absl::OkStatus();
  }

  static double RoundUpCount(double count) {
    return count <= 9007199254740992.0 ? count : RoundUp(count);
  }

  // A divergence of a mixture of more shifts would take too long.
  static constexpr size_t kMostMixtureParts = 64;
  static constexpr char kGaussiansOnly[] =
      "this sampling is proved here for Gaussian releases only";
  static constexpr char kGroupChangesSize[] =
      "a group that is added or removed changes the size of the data set, and with it the sampling";
  static constexpr char kNoDelta[] =
      "the event inside must have a Renyi divergence, without a delta set aside";

  const Setting setting_;
  const Accountant asked_by_;
  const double group_size_;
  const double shift_;
  const absl::FunctionRef<bool()> abandoned_;
  RenyiDivergences profile_;
  // Sampled Gaussians of the same parameters are evaluated once.
  std::map<std::pair<double, double>, double> sampled_gaussians_;
};

absl::StatusOr<RenyiDivergences> RenyiDivergences::Create(const std::vector<Use>& uses,
                                                          const Setting& setting,
                                                          Accountant asked_by, int64_t group_size,
                                                          absl::FunctionRef<bool()> abandoned) {
  RenyiDivergencesBuilder builder(setting, asked_by, static_cast<double>(group_size), abandoned);
  for (const Use& use : uses) {
    if (abandoned()) return absl::CancelledError("nobody waits for the divergence any more");
    RETURN_IF_ERROR(builder.Add(*use.event, use.count));
  }
  return std::move(builder).Finish(static_cast<double>(uses.size()));
}

double RenyiDivergences::Divergence(double order, absl::FunctionRef<bool()> abandoned) const {
  // Divergences of independent or adaptively chosen releases add up at every order
  // ([Mironov17] Prop 1).
  double sum = RoundUpNonNegative(half_mu_squared_ * order) + constant_;
  if (sum > 0) sum = RoundUp(sum);
  for (const Term& term : terms_) {
    if (abandoned()) return kInfinity;
    double divergence = kInfinity;
    if (order > 1) {
      divergence = term.divergence(order);
    } else {
      // Which of them is least depends on how a term rounds near order 1.
      for (const double excess : {0x1p-10, 0x1p-20, 0x1p-30, 0x1p-40}) {
        divergence = std::min(divergence, term.divergence(1 + excess));
      }
    }
    AddProductUp(sum, term.count, divergence);
  }
  return std::isnan(sum) ? kInfinity : sum;
}

}  // namespace epsledger::accounting
