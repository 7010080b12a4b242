#include "accounting/accountants/composers.h"

#include <algorithm>

#include "accounting/event/domain.h"
#include "accounting/event/status_macros.h"
#include "accounting/numeric/rounding.h"
#include "accounting/renyi/error_rates.h"
#include "accounting/zcdp/zcdp.h"

namespace epsledger::accounting {
namespace {

constexpr char kConversion[] = "[BS16] Lemma 1.7 ; [CKS20] Prop 12";

class ZcdpComposed final : public Composition {
 public:
  explicit ZcdpComposed(ZcdpParameters zcdp) : Composition(Accountant::kZcdp), zcdp_(zcdp) {}

  absl::StatusOr<Guarantee> Epsilon(const EpsilonAtDelta& at) const override {
    const Conversion conversion = EpsilonFromZcdp(zcdp_, at.log_delta);
    Guarantee answer = Answer(kConversion);
    answer.upper = conversion.value;
    if (conversion.order > 0) answer.order = conversion.order;
    return answer;
  }
  absl::StatusOr<Guarantee> Delta(double epsilon) const override {
    const Conversion conversion = LogDeltaFromZcdp(zcdp_, epsilon);
    return DeltaBelow(conversion.value, conversion.order, kConversion);
  }
  absl::StatusOr<Guarantee> RenyiDivergence(double order) const override {
    Guarantee answer = Answer("[BS16] Lemma 1.7");
    // The limits at orders 1 and +inf hold as the divergence grows with the order ([vEH14] Thm 3).
    const double slope = zcdp_.rho == 0 ? 0 : zcdp_.rho * order;
    answer.upper = zcdp_.delta > 0 ? kInfinity : RoundUpNonNegative(slope + zcdp_.xi, 2);
    answer.order = order;
    return answer;
  }
  absl::StatusOr<Guarantee> TypeTwoError(double type_one_error) const override {
    // rho and xi hold in both orders of every pair.
    const Conversion conversion = TypeTwoErrorFromRenyi(
        [this](double order) { return RoundUpNonNegative(zcdp_.xi + zcdp_.rho * order, 2); },
        /*both_orders=*/true, std::min(1.0, zcdp_.delta), type_one_error);
    Guarantee answer = Answer("[BS16] Lemma 1.7 ; [vEH14], data processing");
    answer.lower = conversion.value;
    answer.upper = std::min(1.0, RoundUp(1 - type_one_error));
    if (conversion.order > 0) answer.order = conversion.order;
    return answer;
  }

 private:
  const ZcdpParameters zcdp_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Composition>> ComposeByZcdp(const std::vector<Use>& uses,
                                                           const Setting& setting,
                                                           const CompositionOptions& options) {
  ASSIGN_OR_RETURN(const ZcdpParameters zcdp, ComposeZcdp(uses, setting, options.group_size));
  return std::make_unique<ZcdpComposed>(zcdp);
}

}  // namespace epsledger::accounting
