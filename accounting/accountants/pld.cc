#include "accounting/accountants/composers.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "accounting/accountants/allocation_instances.h"
#include "accounting/classical/basic_and_advanced.h"
#include "accounting/classical/optimal_heterogeneous.h"
#include "accounting/event/domain.h"
#include "accounting/event/status_macros.h"
#include "accounting/gaussian/mu.h"
#include "accounting/numeric/rounding.h"
#include "accounting/pld/directed_composition.h"
#include "accounting/profile/gaussian_profile.h"
#include "accounting/profile/profiles_of.h"
#include "accounting/profile/several_releases.h"
#include "accounting/renyi/conversion.h"
#include "accounting/renyi/divergences.h"
#include "accounting/trade_off/gaussian_summary.h"
#include "accounting/trade_off/tabulated_trade_off.h"
#include "accounting/trade_off/trade_off_function.h"

namespace epsledger::accounting {
namespace {

constexpr char kLossesTheorem[] =
    "[ZDW22] Thm 10, summed on a contour or on a lattice of [DGKKM22]";
constexpr char kResponseTheorem[] = "[ZDW22] Thm 10 ; [KOV15] Thm 3.3";
constexpr char kTradeOffTheorem[] = "[ZDW22] Thm 10 ; [DRS19] Prop 2.12";

// Both ends of an answer move outward by this share of the requested width. The rounding analysis
// is first-order; digits that are not requested serve as its margin.
constexpr double kMargin = 0.05;

// A trade-off function is computed from many deltas, each to this absolute or this relative width.
constexpr double kCurveDeltaWidth = 1e-8;
constexpr double kCurveRelativeWidth = 1e-5;
constexpr int64_t kCurvePoints = int64_t{1} << 18;
// The share of the work that its lattices may take: the readings of some 1,000 deltas take as long.
constexpr double kCurveWork = 0.5;
// The share of the total work that one delta may take.
constexpr double kSampleShare = 0.25;
// The width of a curve relative to the requested width: both errors of a test must be known.
constexpr double kCurveShare = 0.14;

// The profile of each random allocation takes some tenths of a second.
constexpr int kMostAllocations = 16;

// The pair of a Poisson-sampled plain Gaussian, whose noise is a double without any rounding.
std::optional<SampledGaussianPair> PairOf(const MechanismEvent& event, const Setting& setting,
                                          const CompositionOptions& options) {
  if (options.group_size != 1 || setting.relation == NeighboringRelation::kReplaceOne) {
    return std::nullopt;
  }
  const auto* sampled = event.As<PoissonSampled>();
  if (sampled == nullptr) return std::nullopt;
  const auto* gaussian = sampled->event->As<Gaussian>();
  if (gaussian == nullptr) return std::nullopt;
  // Outside this range its exponents leave the range of doubles or its points run out; the lattice
  // handles these cases.
  const double noise = gaussian->noise_multiplier;
  if (!(noise >= 0.02 && noise <= 1e6 && sampled->sampling_probability >= 1e-12)) {
    return std::nullopt;
  }
  return SampledGaussianPair{sampled->sampling_probability, gaussian->noise_multiplier,
                             Adjacency::kRemove};
}

std::optional<ContourComposition> ContourOf(const std::vector<CountedPair>& pairs, bool all,
                                            std::optional<Bounds> mu, Adjacency adjacency) {
  if (!all || pairs.empty()) return std::nullopt;
  std::vector<CountedPair> turned = pairs;
  for (CountedPair& p : turned) p.pair.adjacency = adjacency;
  return ContourComposition(std::move(turned), mu.value_or(Bounds{0, 0}));
}

// Returns the (epsilon, delta) of an event whose privacy loss is exactly that of randomized
// response: +-epsilon, or infinite with probability delta.
std::optional<ApproximateDpParameters> ResponseOf(const MechanismEvent& event,
                                                  const Setting& setting) {
  if (const auto* pure = event.As<PureDp>()) return ApproximateDpParameters{pure->epsilon, 0};
  if (const auto* e = event.As<ApproximateDp>())
    return ApproximateDpParameters{e->epsilon, e->delta};
  if (const auto* e = event.As<UnverifiedClaim>()) {
    return ApproximateDpParameters{e->epsilon, e->delta};
  }
  if (const auto* e = event.As<DiscreteLaplace>()) {
    if (e->sensitivity == 1 && setting.shift() == 1) {
      return ApproximateDpParameters{e->noise_parameter, 0};
    }
  }
  return std::nullopt;
}

// A history of randomized responses of one epsilon, for which the optimal theorem is the privacy
// loss distribution in closed form; empty for any other.
std::vector<CountedParameters> ResponsesOf(const std::vector<Use>& uses, const Setting& setting,
                                           const CompositionOptions& options) {
  std::vector<CountedParameters> responses;
  if (options.group_size != 1) return {};
  for (const Use& use : uses) {
    const std::optional<ApproximateDpParameters> one = ResponseOf(*use.event, setting);
    if (!one.has_value()) return {};
    if (!responses.empty() && one->epsilon != responses[0].parameters.epsilon) return {};
    responses.push_back({*one, use.count});
  }
  return responses;
}

class PldComposed final : public Composition {
 public:
  // `reverses` is empty where `directions` covers both orders of every pair.
  PldComposed(Accountant accountant, std::vector<DirectedComposition> directions,
              std::vector<DirectedComposition> reverses, bool two_sided,
              std::optional<RenyiDivergences> renyi, std::vector<CountedParameters> responses,
              const CompositionOptions& options)
      : Composition(accountant),
        directions_(std::move(directions)),
        reverses_(std::move(reverses)),
        two_sided_(two_sided),
        renyi_(std::move(renyi)),
        responses_(std::move(responses)) {
    precision_.relative_width = options.relative_width;
    precision_.max_work = options.max_work;
    for (const DirectedComposition& direction : directions_) {
      largest_loss_ = std::max(largest_loss_, direction.SumOfLargestLosses());
      finite_loss_ = std::max(finite_loss_, direction.SumOfFiniteLosses());
    }
  }

  bool is_privacy_loss() const override { return true; }

  // Histories that lose no more than this one: lower bounds where its own profiles have none.
  void BoundFromBelowBy(std::vector<std::unique_ptr<Composition>> instances) {
    instances_ = std::move(instances);
  }

  absl::StatusOr<Guarantee> Epsilon(const EpsilonAtDelta& at) const override {
    if (!responses_.empty()) {
      if (const std::optional<Bounds> exact = OptimalEpsilon(responses_, at.log_delta)) {
        Guarantee answer = Answer(kResponseTheorem);
        answer.upper = std::min(exact->upper, BasicEpsilon(BasicComposition(responses_), at));
        answer.lower = exact->lower;
        return answer;
      }
    }
    Guarantee answer = Answer(kLossesTheorem);
    Bounds epsilon{0, 0};
    Precision precision = precision_;
    for (DirectedComposition& direction : directions_) {
      precision.exceeded_epsilon = epsilon.lower;
      const Bounds one = direction.Epsilon(at.log_delta, precision);
      epsilon = Bounds{std::max(epsilon.lower, one.lower), std::max(epsilon.upper, one.upper)};
    }
    RETURN_IF_ERROR(CheckAgainstRenyi(epsilon, at.log_delta));
    const double margin = kMargin * precision_.relative_width;
    answer.upper = std::min(epsilon.upper * (1 + margin), largest_loss_);
    if (two_sided_) answer.lower = epsilon.lower * (1 - margin);
    for (const auto& instance : instances_) {
      const absl::StatusOr<Guarantee> below = instance->Epsilon(at);
      if (below.ok() && below->lower.value_or(0) > answer.lower.value_or(0)) {
        answer.lower = below->lower;
      }
    }
    return answer;
  }

  absl::StatusOr<Guarantee> Delta(double epsilon) const override {
    if (!responses_.empty()) {
      if (const std::optional<Bounds> exact = OptimalLogDelta(responses_, epsilon)) {
        Guarantee answer = DeltaBelow(exact->upper, 0, kResponseTheorem);
        answer.log_lower = exact->lower;
        answer.lower = RoundDownNonNegative(std::exp(exact->lower), 1);
        return answer;
      }
    }
    Bounds log_delta = LogDelta(epsilon, precision_);
    const double margin = kMargin * precision_.relative_width;
    log_delta.upper = std::min(0.0, log_delta.upper + margin);
    log_delta.lower -= margin;
    Guarantee answer = DeltaBelow(log_delta.upper, 0, kLossesTheorem);
    if (two_sided_) {
      answer.log_lower = log_delta.lower;
      answer.lower = RoundDownNonNegative(std::exp(log_delta.lower), 1);
    }
    for (const auto& instance : instances_) {
      const absl::StatusOr<Guarantee> below = instance->Delta(epsilon);
      if (below.ok() &&
          below->log_lower.value_or(-kInfinity) > answer.log_lower.value_or(-kInfinity)) {
        answer.lower = below->lower;
        answer.log_lower = below->log_lower;
      }
    }
    return answer;
  }

  absl::StatusOr<Guarantee> TypeTwoError(double type_one_error) const override {
    if (curve_ == nullptr) {
      SamplingOptions sampling;
      sampling.relative_width =
          std::clamp(kCurveShare * precision_.relative_width, sampling.relative_width, 1e-2);
      curve_ = TradeOff(sampling);
    }
    Guarantee answer = Answer(kTradeOffTheorem);
    const Bounds f = curve_->At(type_one_error);
    // The lower end is the safe side of a type II error, and the side that a one-sided profile
    // bounds.
    answer.lower = f.lower;
    answer.upper = two_sided_ ? f.upper : std::min(1.0, RoundUp(1 - type_one_error));
    for (const auto& instance : instances_) {
      const absl::StatusOr<Guarantee> easier = instance->TypeTwoError(type_one_error);
      if (easier.ok() && easier->upper.has_value()) {
        answer.upper = std::min(*answer.upper, *easier->upper);
      }
    }
    return answer;
  }

  absl::StatusOr<Guarantee> GaussianDpMu(double alpha_min) const override {
    // A delta that is small compared with alpha_min does not move the fit.
    SamplingOptions sampling;
    sampling.absolute_width = std::min(sampling.absolute_width, 0.01 * alpha_min);
    sampling.relative_width = 2e-3;
    sampling.max_samples = 1000;
    ASSIGN_OR_RETURN(
        const GaussianSummary fit,
        SummarizeAsGaussian(TradeOffFunction::FromTable(TradeOff(sampling)), alpha_min));
    Guarantee answer =
        Answer(absl::StrCat(kLossesTheorem, " ; [Gomez25], a fit on [alphaMin, 1 - alphaMin]"));
    answer.kind = GuaranteeKind::kApproximation;
    answer.upper = fit.mu;
    if (two_sided_) answer.lower = fit.mu_lower;
    answer.regret = fit.regret;
    return answer;
  }

 private:
  Bounds LogDelta(double epsilon, const Precision& precision) const {
    return LargestLogDelta(directions_, epsilon, precision);
  }

  static Bounds LargestLogDelta(std::vector<DirectedComposition>& directions, double epsilon,
                                Precision precision) {
    Bounds log_delta{-kInfinity, -kInfinity};
    for (DirectedComposition& direction : directions) {
      precision.exceeded_log_delta = log_delta.lower;
      const Bounds one = direction.LogDelta(epsilon, precision);
      log_delta =
          Bounds{std::max(log_delta.lower, one.lower), std::max(log_delta.upper, one.upper)};
    }
    return log_delta;
  }

  std::shared_ptr<const TabulatedTradeOff> TradeOff(SamplingOptions sampling) const {
    Precision precision = precision_;
    precision.absolute_delta = std::min(kCurveDeltaWidth, 0.1 * sampling.absolute_width);
    precision.relative_width = std::min(precision.relative_width, kCurveRelativeWidth);
    precision.max_points = kCurvePoints;
    precision.max_work *= kCurveWork;
    double finite_mass = 1;
    if (!std::isfinite(largest_loss_) && std::isfinite(finite_loss_)) {
      // Past the largest finite loss delta is the probability of an infinite one.
      const Bounds log_delta = LogDelta(finite_loss_, precision);
      finite_mass = std::min(1.0, RoundUp(-std::expm1(log_delta.lower), 2));
    }
    const double largest_epsilon = sampling.largest_epsilon;
    sampling.largest_epsilon = std::min(largest_epsilon, finite_loss_);
    const std::vector<ProfileSample> pair = Samples(directions_, sampling, precision);
    if (!reverses_.empty()) {
      // The losses of the other order end elsewhere.
      double reverse_loss = 0;
      for (const DirectedComposition& reverse : reverses_) {
        reverse_loss = std::max(reverse_loss, reverse.SumOfFiniteLosses());
      }
      sampling.largest_epsilon = std::min(largest_epsilon, reverse_loss);
      return std::make_shared<const TabulatedTradeOff>(
          pair, Samples(reverses_, sampling, precision), finite_mass);
    }
    return std::make_shared<const TabulatedTradeOff>(pair, pair, finite_mass, finite_mass);
  }

  static std::vector<ProfileSample> Samples(std::vector<DirectedComposition>& directions,
                                            const SamplingOptions& sampling, Precision precision) {
    const auto work = [&] {
      double sum = 0;
      for (const DirectedComposition& direction : directions) sum += direction.work();
      return sum;
    };
    const double allowed = work() + precision.max_work;
    const double largest = kSampleShare * precision.max_work;
    return SampleProfile(
        [&](double epsilon) {
          precision.max_work = std::min(largest, allowed - work());
          const Bounds log_delta = LargestLogDelta(directions, epsilon, precision);
          return Bounds{RoundDownNonNegative(std::exp(log_delta.lower), 1),
                        std::min(1.0, RoundUpNonNegative(std::exp(log_delta.upper), 1))};
        },
        sampling);
  }

  // [CKS20] Prop 12 at one order is an upper bound: if a lower bound is above it, one of the two is
  // wrong.
  absl::Status CheckAgainstRenyi(Bounds epsilon, double log_delta) const {
    if (!renyi_.has_value() || !two_sided_ || renyi_->delta_sum() > 0 || log_delta >= 0 ||
        log_delta == -kInfinity) {
      return absl::OkStatus();
    }
    double order = 2;
    for (const DirectedComposition& direction : directions_) {
      order = std::max(order, 1 + direction.saddle());
    }
    const double bound = EpsilonAtOrder(order, renyi_->Divergence(order), log_delta);
    if (epsilon.lower <= std::max(0.0, bound)) return absl::OkStatus();
    return absl::InternalError(absl::StrCat(
        "two accountants contradict each other: PLD says epsilon >= ", FormatDouble(epsilon.lower),
        ", RENYI of order ", FormatDouble(order), " says <= ", FormatDouble(bound),
        "; refusing both"));
  }

  mutable std::vector<DirectedComposition> directions_;
  mutable std::vector<DirectedComposition> reverses_;
  mutable std::shared_ptr<const TabulatedTradeOff> curve_;
  std::vector<std::unique_ptr<Composition>> instances_;
  const bool two_sided_;
  const std::optional<RenyiDivergences> renyi_;
  const std::vector<CountedParameters> responses_;
  double largest_loss_ = 0;
  double finite_loss_ = 0;
  Precision precision_;
};

// True if every random allocation is opened into what it is. Several chosen rounds are bounded by
// independent choices from blocks of rounds; only where every round is chosen do both agree.
bool IsOpenedExactly(const std::vector<Use>& uses) {
  return std::all_of(uses.begin(), uses.end(), [](const Use& use) {
    const auto* allocation = use.event->As<RandomAllocation>();
    return allocation == nullptr || allocation->selected == 1 ||
           allocation->selected == allocation->rounds;
  });
}

}  // namespace

absl::StatusOr<std::unique_ptr<Composition>> ComposeByPld(const std::vector<Use>& uses,
                                                          const Setting& setting,
                                                          const CompositionOptions& options,
                                                          Accountant asked_by) {
  std::vector<Use> gaussians;
  std::vector<CountedProfile> remove;
  std::vector<CountedProfile> add;
  std::vector<CountedPair> pairs;
  std::optional<Bounds> mu;
  bool two_sided = IsOpenedExactly(uses);
  const MechanismEvent* before = nullptr;
  std::vector<Use> opened = options.group_size == 1 ? OpenRandomAllocations(uses) : uses;
  int allocations = 0;
  if (options.group_size == 1) {
    if (const auto whole = ComposedFinitePairs(opened, setting)) {
      remove.push_back({whole->remove, 1});
      add.push_back({whole->add, 1});
      opened.clear();
    }
  }
  for (const Use& use : opened) {
    if (ComposeGaussianMu({use}, setting).ok()) {
      gaussians.push_back(use);
      continue;
    }
    if (before != nullptr && *before == *use.event) {
      remove.back().count += use.count;
      add.back().count += use.count;
      if (pairs.size() == remove.size()) pairs.back().count += use.count;
      continue;
    }
    if (const auto pair = PairOf(*use.event, setting, options);
        pair.has_value() && pairs.size() == remove.size()) {
      pairs.push_back({*pair, use.count});
    }
    if (use.event->As<RandomAllocation>() != nullptr && ++allocations > kMostAllocations) {
      return UnknownEvent(asked_by, *use.event,
                          "more than 16 different ones in a history take too long");
    }
    ASSIGN_OR_RETURN(const DirectedProfiles profiles,
                     ProfilesOf(*use.event, setting, options.group_size, asked_by));
    remove.push_back({profiles.remove, use.count});
    add.push_back({profiles.add, use.count});
    two_sided = two_sided && profiles.remove->exact() && profiles.add->exact();
    before = use.event;
  }
  const bool all_pairs = pairs.size() == remove.size();
  if (!gaussians.empty()) {
    ASSIGN_OR_RETURN(const Bounds composed, ComposeGaussianMu(gaussians, setting));
    mu = composed;
    const double group = static_cast<double>(options.group_size);
    if (group > 1) {  // [DRS19] Thm 2.14
      mu = Bounds{RoundDownNonNegative(group * mu->lower), RoundUpNonNegative(group * mu->upper)};
    }
    const auto profile = std::make_shared<const GaussianProfile>(*mu);
    remove.push_back({profile, 1});
    add.push_back({profile, 1});
  }
  bool symmetric = true;
  for (size_t i = 0; i < remove.size(); ++i) {
    symmetric = symmetric && remove[i].profile == add[i].profile;
  }
  // A symmetric pair is its own reverse; without a direction both orders are in question.
  std::vector<DirectedComposition> directions;
  std::vector<DirectedComposition> reverses;
  const bool adds = setting.adjacency == Adjacency::kAdd && !symmetric;
  const bool one = setting.adjacency.has_value() && !symmetric;
  (adds ? reverses : directions)
      .emplace_back(std::move(remove), ContourOf(pairs, all_pairs, mu, Adjacency::kRemove));
  if (!symmetric) {
    (one && !adds ? reverses : directions)
        .emplace_back(std::move(add), ContourOf(pairs, all_pairs, mu, Adjacency::kAdd));
  }
  std::optional<RenyiDivergences> renyi;
  if (options.group_size == 1) {
    absl::StatusOr<RenyiDivergences> created = RenyiDivergences::Create(uses, setting, asked_by);
    if (created.ok()) renyi = *std::move(created);
  }
  auto composed =
      std::make_unique<PldComposed>(asked_by, std::move(directions), std::move(reverses), two_sided,
                                    std::move(renyi), ResponsesOf(uses, setting, options), options);
  // Where a record becomes nothing, a Poisson sample of a sample is one that tells whether the
  // record was drawn, and an allocation is not.
  if (!two_sided && options.group_size == 1 &&
      setting.relation == NeighboringRelation::kAddOrRemoveOne) {
    std::vector<std::unique_ptr<Composition>> instances;
    for (const std::vector<Use>& instance : AllocationInstances(uses)) {
      absl::StatusOr<std::unique_ptr<Composition>> below =
          ComposeByPld(instance, setting, options, asked_by);
      if (below.ok()) instances.push_back(*std::move(below));
    }
    composed->BoundFromBelowBy(std::move(instances));
  }
  return std::unique_ptr<Composition>(std::move(composed));
}

}  // namespace epsledger::accounting
