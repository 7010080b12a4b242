#include "accounting/accountants/composers.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "accounting/classical/basic_and_advanced.h"
#include "accounting/event/domain.h"
#include "accounting/event/status_macros.h"
#include "accounting/gaussian/mu.h"
#include "accounting/gaussian/profile.h"
#include "accounting/numeric/constants.h"
#include "accounting/numeric/rounding.h"
#include "accounting/numeric/search.h"
#include "accounting/trade_off/gaussian_summary.h"
#include "accounting/trade_off/tensor_product.h"
#include "accounting/trade_off/trade_off_function.h"
#include "accounting/trade_off/transformation.h"

namespace epsledger::accounting {
namespace {

constexpr char kTensorProduct[] = "[DRS19] Thm 3.2";
constexpr char kDuality[] = "[DRS19] Thm 3.2 and Prop 2.12";
// Counts beyond this use the privacy loss: enumerating the outcomes would take seconds.
constexpr double kLargestCount = 1000;
constexpr double kSearchTolerance = 1e-12;
constexpr double kSmallestLogDelta = -600;

Bounds Intersection(Bounds a, const Guarantee& b, bool logarithms) {
  const std::optional<double>& lower = logarithms ? b.log_lower : b.lower;
  const std::optional<double>& upper = logarithms ? b.log_upper : b.upper;
  return Bounds{std::max(a.lower, lower.value_or(a.lower)),
                std::min(a.upper, upper.value_or(a.upper))};
}

// Returns the trade-off function that one use of an event guarantees in both orders, where it has a
// closed form.
struct KnownFunction {
  TradeOffFunction f;
  bool attained;
};
std::optional<KnownFunction> FunctionOf(const MechanismEvent& event, const Setting& setting,
                                        int64_t group_size) {
  const double group = static_cast<double>(group_size);
  const auto promise = [&](double epsilon, double delta) -> std::optional<KnownFunction> {
    const ApproximateDpParameters pair = GroupPrivacy({epsilon, delta}, group);
    absl::StatusOr<TradeOffFunction> f =
        TradeOffFunction::ApproximateDp(pair.epsilon, std::min(1.0, pair.delta));
    if (!f.ok()) return std::nullopt;
    return KnownFunction{*std::move(f), group_size == 1};
  };
  if (const std::optional<Bounds> mu = GaussianMu(event, setting)) {
    // [DRS19] Thm 2.14.
    return KnownFunction{TradeOffFunction::Gaussian(
                             group_size == 1 ? *mu
                                             : Bounds{RoundDownNonNegative(mu->lower * group, 2),
                                                      RoundUpNonNegative(mu->upper * group, 2)}),
                         true};
  }
  if (const auto* laplace = event.As<Laplace>()) {
    const double theta = setting.shift() * group / laplace->noise_multiplier;
    if (!std::isfinite(theta)) return std::nullopt;
    return KnownFunction{
        TradeOffFunction::Laplace(Bounds{RoundDownNonNegative(theta, 2), RoundUp(theta, 2)}), true};
  }
  if (const auto* pure = event.As<PureDp>()) return promise(pure->epsilon, 0);
  if (const auto* pair = event.As<ApproximateDp>()) return promise(pair->epsilon, pair->delta);
  if (const auto* claim = event.As<UnverifiedClaim>()) return promise(claim->epsilon, claim->delta);
  if (const auto* curve = event.As<TradeOffCurve>(); curve != nullptr && group_size == 1) {
    // Promised for both orders, so no envelope is taken: f (x) g holds for both as well.
    absl::StatusOr<TradeOffFunction> f =
        TradeOffFunction::FromPoints(curve->type_one, curve->type_two, "tradeOffCurve");
    if (f.ok()) return KnownFunction{*std::move(f), false};
  }
  return std::nullopt;
}

// A composition whose trade-off function is known.
class TradeOffComposed final : public Composition {
 public:
  TradeOffComposed(TradeOffFunction f, bool attained, std::vector<Use> uses, const Setting& setting,
                   const CompositionOptions& options)
      : Composition(Accountant::kTradeOff),
        f_(std::move(f)),
        attained_(attained),
        uses_(std::move(uses)),
        setting_(setting),
        options_(options) {}

  absl::StatusOr<Guarantee> Epsilon(const EpsilonAtDelta& at) const override {
    Guarantee answer = Answer(kDuality);
    if (const std::optional<Bounds> mu = f_.gaussian_mu()) {
      const Bounds epsilon = GaussianEpsilon(*mu, at.log_delta);
      answer.upper = epsilon.upper;
      answer.lower = epsilon.lower;
      return answer;
    }
    Bounds epsilon{0, kInfinity};
    if (at.log_delta >= 0) {
      epsilon = Bounds{0, 0};
    } else if (at.log_delta >= kSmallestLogDelta) {
      const double delta = RoundDown(std::exp(at.log_delta), 1);
      const double more = RoundUp(std::exp(at.log_delta), 1);
      const auto too_much = [&](double e) { return f_.Delta(e).upper - delta; };
      if (too_much(0) <= 0) {
        epsilon.upper = 0;
      } else if (too_much(kLargestEpsilon) <= 0) {
        epsilon.upper = NarrowCrossing(too_much, kLargestEpsilon, 0, kSearchTolerance).holds;
      }
      const auto enough = [&](double e) { return more - f_.Delta(e).lower; };
      if (enough(0) < 0) {
        epsilon.lower = enough(kLargestEpsilon) < 0
                            ? kLargestEpsilon
                            : NarrowCrossing(enough, 0, kLargestEpsilon, kSearchTolerance).holds;
      }
    }
    if (!(epsilon.upper - epsilon.lower <= options_.relative_width * epsilon.upper)) {
      absl::StatusOr<Guarantee> other =
          ByPrivacyLoss([&](const Composition& losses) { return losses.Epsilon(at); });
      if (other.ok()) {
        epsilon = Intersection(epsilon, *other, false);
      } else if (absl::IsInternal(other.status())) {
        return other;
      }
    }
    answer.upper = epsilon.upper;
    if (attained_) answer.lower = epsilon.lower;
    return answer;
  }

  absl::StatusOr<Guarantee> Delta(double epsilon) const override {
    if (const std::optional<Bounds> mu = f_.gaussian_mu()) {
      return DeltaBetween(GaussianLogDelta(*mu, epsilon), kDuality);
    }
    const Bounds delta = f_.Delta(epsilon);
    Bounds log_delta{
        delta.lower > 0 ? RoundDown(std::log(delta.lower), 1) : -kInfinity,
        delta.upper > 0 ? std::min(0.0, RoundUp(std::log(delta.upper), 1)) : -kInfinity};
    if (!(log_delta.upper - log_delta.lower <= options_.relative_width) && delta.upper > 0) {
      absl::StatusOr<Guarantee> other =
          ByPrivacyLoss([&](const Composition& losses) { return losses.Delta(epsilon); });
      if (other.ok()) {
        log_delta = Intersection(log_delta, *other, true);
      } else if (absl::IsInternal(other.status())) {
        return other;
      }
    }
    return attained_ ? DeltaBetween(log_delta, kDuality) : DeltaBelow(log_delta.upper, 0, kDuality);
  }

  absl::StatusOr<Guarantee> TypeTwoError(double type_one_error) const override {
    const Bounds f = f_.At(type_one_error);
    Guarantee answer = Answer(kTensorProduct);
    answer.lower = f.lower;
    answer.upper = attained_ ? f.upper : std::min(1.0, RoundUp(1 - type_one_error));
    return answer;
  }

  absl::StatusOr<Guarantee> GaussianDpMu(double alpha_min) const override {
    if (const std::optional<Bounds> mu = f_.gaussian_mu()) {
      Guarantee answer = Answer("[DRS19] Cor 3.3");
      answer.upper = mu->upper;
      answer.lower = mu->lower;
      answer.regret = 0;
      return answer;
    }
    ASSIGN_OR_RETURN(const GaussianSummary summary, SummarizeAsGaussian(f_, alpha_min));
    Guarantee answer =
        Answer(absl::StrCat(kTensorProduct, " ; [Gomez25], a fit on [alphaMin, 1 - alphaMin]"));
    answer.kind = GuaranteeKind::kApproximation;
    answer.upper = summary.mu;
    if (attained_) answer.lower = summary.mu_lower;
    answer.regret = summary.regret;
    return answer;
  }

 private:
  // The duality of the function itself loses digits here.
  template <class Question>
  absl::StatusOr<Guarantee> ByPrivacyLoss(Question ask) const {
    ASSIGN_OR_RETURN(const std::unique_ptr<Composition> losses,
                     ComposeByPld(uses_, setting_, options_, Accountant::kTradeOff));
    return ask(*losses);
  }

  const TradeOffFunction f_;
  const bool attained_;
  const std::vector<Use> uses_;
  const Setting setting_;
  const CompositionOptions options_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Composition>> ComposeByTradeOff(const std::vector<Use>& uses,
                                                               const Setting& setting,
                                                               const CompositionOptions& options) {
  std::vector<CountedTradeOff> factors;
  bool attained = true;
  for (const Use& use : uses) {
    std::optional<KnownFunction> known = FunctionOf(*use.event, setting, options.group_size);
    const bool gaussian = known.has_value() && known->f.gaussian_mu().has_value();
    if (!known.has_value() || use.count > (gaussian ? 0x1p53 : kLargestCount)) {
      return ComposeByPld(uses, setting, options, Accountant::kTradeOff);
    }
    attained = attained && known->attained;
    factors.push_back(CountedTradeOff{std::move(known->f), static_cast<int64_t>(use.count)});
  }
  absl::StatusOr<TradeOffFunction> product = TensorProduct(factors);
  if (!product.ok()) return ComposeByPld(uses, setting, options, Accountant::kTradeOff);
  return std::make_unique<TradeOffComposed>(*std::move(product), attained, uses, setting, options);
}

}  // namespace epsledger::accounting
