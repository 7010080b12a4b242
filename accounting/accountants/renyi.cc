#include "accounting/accountants/composers.h"

#include <cmath>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "accounting/classical/approximate_dp.h"
#include "accounting/event/domain.h"
#include "accounting/event/status_macros.h"
#include "accounting/renyi/conversion.h"
#include "accounting/renyi/divergences.h"
#include "accounting/renyi/moments.h"

namespace epsledger::accounting {
namespace {

constexpr char kComposition[] = "[Mironov17] Prop 1";

class RenyiComposed final : public Composition {
 public:
  RenyiComposed(Accountant accountant, RenyiDivergences profile)
      : Composition(accountant), profile_(std::move(profile)) {}

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
    const auto divergence = [this](double order) { return profile_.Divergence(order); };
    const Conversion conversion = accountant() == Accountant::kMoments
                                      ? LogDeltaFromMoments(divergence, epsilon)
                                      : LogDeltaFromRenyi(divergence, epsilon);
    return DeltaBelow(LogDeltaPlus(conversion.value, profile_.delta_sum()), conversion.order,
                      Theorem());
  }
  absl::StatusOr<Guarantee> RenyiDivergence(double order) const override {
    Guarantee answer = Answer(kComposition);
    answer.upper = profile_.delta_sum() > 0 ? kInfinity : profile_.Divergence(order);
    answer.order = order;
    return answer;
  }

 private:
  std::string Theorem() const {
    return absl::StrCat(
        kComposition, " ; ",
        accountant() == Accountant::kMoments ? "[ACG+16] Thm 2, moments to 32" : "[CKS20] Prop 12",
        profile_.delta_sum() > 0 ? " ; [KOV15] Thm 3.1" : "");
  }

  const RenyiDivergences profile_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Composition>> ComposeByRenyi(const std::vector<Use>& uses,
                                                            const Setting& setting,
                                                            const CompositionOptions& options,
                                                            Accountant accountant) {
  ASSIGN_OR_RETURN(RenyiDivergences profile,
                   RenyiDivergences::Create(uses, setting, accountant, options.group_size));
  return std::make_unique<RenyiComposed>(accountant, std::move(profile));
}

}  // namespace epsledger::accounting
