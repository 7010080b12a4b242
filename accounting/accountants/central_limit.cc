#include "accounting/accountants/composers.h"

#include <utility>

#include "accounting/central_limit/limit.h"
#include "accounting/event/status_macros.h"
#include "accounting/gaussian/profile.h"
#include "accounting/gaussian/trade_off.h"

namespace epsledger::accounting {
namespace {

constexpr char kCentralLimitTheorem[] =
    "[DRS19] Thm 3.5 and Cor 5.4, [BDLS20] Thm 5: the limit, without its error";

class CentralLimitComposed final : public Composition {
 public:
  explicit CentralLimitComposed(double mu) : Composition(Accountant::kClt), mu_{mu, mu} {}

  absl::StatusOr<Guarantee> Epsilon(const EpsilonAtDelta& at) const override {
    return Approximately(GaussianEpsilon(mu_, at.log_delta).upper);
  }
  absl::StatusOr<Guarantee> Delta(double epsilon) const override {
    Guarantee answer = DeltaBelow(GaussianLogDelta(mu_, epsilon).upper, 0, kCentralLimitTheorem);
    answer.kind = GuaranteeKind::kApproximation;
    return answer;
  }
  absl::StatusOr<Guarantee> TypeTwoError(double type_one_error) const override {
    return Approximately(GaussianTradeOff(mu_, type_one_error).upper);
  }
  absl::StatusOr<Guarantee> GaussianDpMu(double) const override { return Approximately(mu_.upper); }

 private:
  Guarantee Approximately(double value) const {
    Guarantee answer = Answer(kCentralLimitTheorem);
    answer.kind = GuaranteeKind::kApproximation;
    answer.upper = value;
    return answer;
  }

  const Bounds mu_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Composition>> ComposeByCentralLimit(
    const std::vector<Use>& uses, const Setting& setting, const CompositionOptions& options) {
  if (options.group_size > 1) return UnknownGroup(Accountant::kClt, "its limit is for neighbors");
  ASSIGN_OR_RETURN(const double mu, CentralLimitMu(uses, setting));
  return std::make_unique<CentralLimitComposed>(mu);
}

}  // namespace epsledger::accounting
