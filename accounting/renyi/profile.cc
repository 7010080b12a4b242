#include "accounting/renyi/profile.h"

#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "accounting/event/domain.h"
#include "accounting/gaussian/composition.h"
#include "accounting/numeric/rounding.h"
#include "accounting/renyi/closed_form.h"
#include "accounting/renyi/sampled_gaussian.h"
#include "accounting/renyi/tabulated_curve.h"

namespace epsledger::accounting {
namespace {

void AddUp(double& sum, double count, double x) {
  if (x == 0) return;
  sum = RoundUp(sum + RoundUp(count * x));
}

// The noise multiplier of one Gaussian release with the loss of all of `uses`, rounded down;
// nothing if something else is among them. Gaussian releases on one sample: their joint shift is a
// vector, and a rotation makes it one release of 1/z^2 = sum 1/z_i^2.
std::optional<double> JointNoiseMultiplier(const std::vector<Use>& uses, double shift) {
  Setting setting;
  setting.sensitivity_relation = SensitivityRelation::kReplaceOne;  // shift 1: scaled below
  for (const Use& use : uses) {
    if (use.event->As<Gaussian>() == nullptr) return std::nullopt;
  }
  if (uses.size() == 1 && uses[0].count == 1) {
    return uses[0].event->As<Gaussian>()->noise_multiplier / shift;  // shift is 1 or 2: exact
  }
  const absl::StatusOr<Bounds> mu = ComposeGaussianMu(uses, setting);
  if (!mu.ok() || !(mu->upper > 0)) return std::nullopt;
  return RoundDownNonNegative(1 / mu->upper / shift, 2);
}

constexpr char kNotAGaussian[] =
    "sampling is proved here for Gaussian releases only; other loss pairs come with the PLD engine";

}  // namespace

void RenyiProfile::AddTerm(std::function<double(double)> divergence, double count) {
  terms_.push_back(Term{std::move(divergence), count});
}

absl::StatusOr<RenyiProfile> RenyiProfile::Create(const std::vector<Use>& uses,
                                                  const Setting& setting, Accountant asked_by) {
  RenyiProfile profile;
  const double shift = setting.shift();
  // Sampled Gaussians of the same parameters are evaluated once.
  std::map<std::pair<double, double>, double> sampled_gaussians;
  const auto pure = [&](double epsilon, double count) {
    if (epsilon > 0) {
      profile.AddTerm([epsilon](double a) { return PureDpRenyi(a, epsilon); }, count);
    }
  };
  for (const Use& use : uses) {
    const MechanismEvent& event = *use.event;
    const double count = use.count;
    if (const std::optional<Bounds> mu = GaussianMu(event, setting); mu.has_value()) {
      AddUp(profile.half_mu_squared_, count,
            RoundUpNonNegative(0.5 * mu->upper * mu->upper, 2) +
                (mu->upper > 0 ? std::numeric_limits<double>::denorm_min() : 0));
    } else if (const auto* laplace = event.As<Laplace>()) {
      profile.AddTerm(
          [z = laplace->noise_multiplier, shift](double a) { return LaplaceRenyi(a, z, shift); },
          count);
    } else if (const auto* discrete = event.As<DiscreteGaussian>()) {
      // [CKS20] Prop 5: the divergence is at most that of the continuous Gaussian.
      const double bound =
          RoundUp(shift * static_cast<double>(discrete->sensitivity) / discrete->sigma, 2);
      AddUp(profile.half_mu_squared_, count, RoundUp(0.5 * bound * bound, 2));
    } else if (const auto* discrete_laplace = event.As<DiscreteLaplace>()) {
      pure(RoundUp(discrete_laplace->noise_parameter * shift *
                   static_cast<double>(discrete_laplace->sensitivity)),
           count);
    } else if (const auto* response = event.As<RandomizedResponse>()) {
      if (setting.relation != NeighboringRelation::kReplaceOne) {
        return UnknownEvent(asked_by, event, "it is defined under replace-one only");
      }
      profile.AddTerm([p = response->noise_parameter, k = response->num_buckets](
                          double a) { return RandomizedResponseRenyi(a, p, k); },
                      count);
    } else if (const auto* exponential = event.As<ExponentialMechanism>()) {
      profile.AddTerm(
          [epsilon = exponential->epsilon](double a) { return BoundedRangeRenyi(a, epsilon); },
          count);
    } else if (const auto* flip = event.As<PermuteAndFlip>()) {
      pure(flip->epsilon, count);  // [MS20] Thm 1: epsilon-DP
    } else if (const auto* pure_dp = event.As<PureDp>()) {
      pure(pure_dp->epsilon, count);
    } else if (const auto* approximate = event.As<ApproximateDp>()) {
      AddUp(profile.delta_sum_, count, approximate->delta);
      pure(approximate->epsilon, count);
    } else if (const auto* claim = event.As<UnverifiedClaim>()) {
      AddUp(profile.delta_sum_, count, claim->delta);
      pure(claim->epsilon, count);
    } else if (const auto* zcdp = event.As<Zcdp>()) {
      AddUp(profile.half_mu_squared_, count, zcdp->rho);  // [BS16] Def 1.1
      AddUp(profile.constant_, count, zcdp->xi);
    } else if (const auto* curve = event.As<RenyiCurve>()) {
      profile.AddTerm([table = std::make_shared<const TabulatedRenyiCurve>(*curve)](
                          double a) { return table->Divergence(a); },
                      count);
    } else if (const auto* sampled = event.As<PoissonSampled>()) {
      const std::vector<Use> inner = Flatten(*sampled->event);
      const std::optional<double> z = JointNoiseMultiplier(inner, shift);
      if (!z.has_value()) return UnknownEvent(asked_by, event, kNotAGaussian);
      const double q = sampled->sampling_probability;
      if (setting.relation == NeighboringRelation::kReplaceOne) {
        // Only joint convexity is proved here: linear in q, not quadratic (README, "Sampling
        // cannot hurt").
        profile.AddTerm([mechanism = SampledGaussian{q, *z}](
                            double a) { return SampledGaussianConvexityBound(mechanism, a); },
                        count);
      } else {
        sampled_gaussians[{q, *z}] += count;
      }
    } else {
      return UnknownEvent(asked_by, event, "its Renyi divergence is not proved here");
    }
  }
  const bool add = setting.adjacency == Adjacency::kAdd;
  for (const auto& [parameters, count] : sampled_gaussians) {
    const SampledGaussian mechanism{parameters.first, parameters.second};
    profile.AddTerm(
        [mechanism, add](double a) {
          return add ? SampledGaussianAddRenyi(mechanism, a)
                     : SampledGaussianRemoveRenyi(mechanism, a);
        },
        // Sums of counts may have left the exact range.
        count <= 9007199254740992.0 ? count : RoundUp(count, static_cast<double>(uses.size())));
  }
  return profile;
}

double RenyiProfile::Divergence(double order) const {
  // Divergences of independent or adaptively chosen releases add up at every order
  // ([Mironov17] Prop 1).
  double sum = RoundUpNonNegative(half_mu_squared_ * order) + constant_;
  if (sum > 0) sum = RoundUp(sum);
  for (const Term& term : terms_) AddUp(sum, term.count, term.divergence(order));
  return std::isnan(sum) ? kInfinity : sum;
}

}  // namespace epsledger::accounting
