#include "accounting/accountants/composers.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "accounting/classical/approximate_dp.h"
#include "accounting/event/domain.h"
#include "accounting/event/status_macros.h"
#include "accounting/gaussian/mu.h"
#include "accounting/numeric/rounding.h"
#include "accounting/renyi/conversion.h"
#include "accounting/renyi/divergence_chords.h"
#include "accounting/renyi/divergences.h"
#include "accounting/renyi/error_rates.h"
#include "accounting/renyi/moments.h"

namespace epsledger::accounting {
namespace {

constexpr char kComposition[] = "[Mironov17] Prop 1";

// Returns at least the largest privacy loss of the whole history, D_inf: losses of epsilon-DP
// events add up, and so do xi-zCDP ones of rho = 0, whose divergences are at most xi at every
// order.
double LargestLossOf(const std::vector<Use>& uses, const Setting& setting, int64_t group_size,
                     Accountant accountant) {
  double sum = 0;
  for (const Use& use : uses) {
    if (const std::optional<Bounds> mu = GaussianMu(*use.event, setting)) {
      if (mu->upper > 0) return kInfinity;
      continue;
    }
    if (const auto* zcdp = use.event->As<Zcdp>(); zcdp != nullptr && zcdp->rho == 0) {
      AddProductUp(sum, use.count, zcdp->xi);
      continue;
    }
    const absl::StatusOr<ApproximateDpParameters> one =
        ApproximateDpOf(*use.event, setting, accountant);
    if (!one.ok() || one->delta > 0) return kInfinity;
    AddProductUp(sum, use.count, one->epsilon);
  }
  // Along a path of neighbors the losses of each step add up.
  return group_size == 1 ? sum : RoundUpNonNegative(sum * static_cast<double>(group_size));
}

class RenyiComposed final : public Composition {
 public:
  RenyiComposed(Accountant accountant, RenyiDivergences profile, double largest_loss,
                bool both_orders)
      : Composition(accountant),
        profile_(std::move(profile)),
        largest_loss_(largest_loss),
        both_orders_(both_orders) {}

  absl::StatusOr<Guarantee> Epsilon(const EpsilonAtDelta& at) const override {
    Guarantee answer = Answer(Theorem());
    const double left = LogDeltaLeft(at.log_delta, profile_.delta_sum());
    if (std::isnan(left)) {  // the events' own deltas already exceed the target
      answer.upper = kInfinity;
      return answer;
    }
    const auto divergence = [this](double order) { return profile_.Divergence(order); };
    const Conversion conversion = accountant() == Accountant::kMoments
                                      ? EpsilonFromMoments(divergence, left)
                                      : EpsilonFromRenyi(divergence, left);
    answer.upper = conversion.value;
    if (conversion.order > 0) answer.order = conversion.order;
    return answer;
  }
  absl::StatusOr<Guarantee> Delta(double epsilon) const override {
    const auto divergence = [this](double order) {
      return chords_ == nullptr ? profile_.Divergence(order) : chords_->At(order);
    };
    const Conversion conversion = accountant() == Accountant::kMoments
                                      ? LogDeltaFromMoments(divergence, epsilon)
                                      : LogDeltaFromRenyi(divergence, epsilon);
    return DeltaBelow(LogDeltaPlus(conversion.value, profile_.delta_sum()), conversion.order,
                      Theorem());
  }
  absl::StatusOr<Guarantee> RenyiDivergence(double order) const override {
    Guarantee answer = Answer(kComposition);
    if (profile_.delta_sum() > 0) {
      answer.upper = kInfinity;
    } else if (order == kInfinity) {
      answer.upper = largest_loss_;
    } else {
      answer.upper = std::min(profile_.Divergence(order), largest_loss_);
    }
    answer.order = order;
    return answer;
  }
  absl::StatusOr<Guarantee> TypeTwoError(double type_one_error) const override {
    if (accountant() == Accountant::kMoments) return Composition::TypeTwoError(type_one_error);
    const Conversion conversion =
        TypeTwoErrorFromRenyi([this](double order) { return profile_.Divergence(order); },
                              both_orders_, std::min(1.0, profile_.delta_sum()), type_one_error);
    Guarantee answer = Answer(absl::StrCat(kComposition, " ; [vEH14], data processing",
                                           profile_.delta_sum() > 0 ? " ; [KOV15] Thm 3.1" : ""));
    answer.lower = conversion.value;
    answer.upper = std::min(1.0, RoundUp(1 - type_one_error));
    if (conversion.order > 0) answer.order = conversion.order;
    return answer;
  }

  // A fit asks for hundreds of deltas, each the best of some sixty orders.
  absl::StatusOr<Guarantee> GaussianDpMu(double alpha_min) const override {
    if (accountant() == Accountant::kMoments) return Composition::GaussianDpMu(alpha_min);
    RenyiComposed tabulated(*this);
    tabulated.chords_ = std::make_unique<DivergenceChords>(
        [this](double order) { return profile_.Divergence(order); });
    return tabulated.Composition::GaussianDpMu(alpha_min);
  }

 private:
  RenyiComposed(const RenyiComposed& other)
      : Composition(other),
        profile_(other.profile_),
        largest_loss_(other.largest_loss_),
        both_orders_(other.both_orders_) {}

  std::string Theorem() const {
    return absl::StrCat(
        kComposition, " ; ",
        accountant() == Accountant::kMoments ? "[ACG+16] Thm 2, moments to 32" : "[CKS20] Prop 12",
        profile_.delta_sum() > 0 ? " ; [KOV15] Thm 3.1" : "");
  }

  const RenyiDivergences profile_;
  const double largest_loss_;
  const bool both_orders_;
  std::unique_ptr<DivergenceChords> chords_;  // where many orders are asked for
};

}  // namespace

absl::StatusOr<std::unique_ptr<Composition>> ComposeByRenyi(const std::vector<Use>& uses,
                                                            const Setting& setting,
                                                            const CompositionOptions& options,
                                                            Accountant accountant) {
  ASSIGN_OR_RETURN(RenyiDivergences profile,
                   RenyiDivergences::Create(uses, setting, accountant, options.group_size));
  return std::make_unique<RenyiComposed>(
      accountant, std::move(profile), LargestLossOf(uses, setting, options.group_size, accountant),
      !setting.adjacency.has_value());
}

}  // namespace epsledger::accounting
