#include "accounting/accountants/composers.h"

#include "accounting/event/domain.h"
#include "accounting/event/status_macros.h"
#include "accounting/gaussian/mu.h"
#include "accounting/gaussian/profile.h"
#include "accounting/gaussian/trade_off.h"
#include "accounting/numeric/rounding.h"

namespace epsledger::accounting {
namespace {

constexpr char kProfile[] = "[DRS19] Cor 3.3 ; [BW18] Thm 8";

class GaussianComposed final : public Composition {
 public:
  explicit GaussianComposed(Bounds mu) : Composition(Accountant::kGaussian), mu_(mu) {}

  absl::StatusOr<Guarantee> Epsilon(const EpsilonAtDelta& at) const override {
    const Bounds epsilon = GaussianEpsilon(mu_, at.log_delta);
    Guarantee answer = Answer(kProfile);
    answer.upper = epsilon.upper;
    answer.lower = epsilon.lower;
    return answer;
  }
  absl::StatusOr<Guarantee> Delta(double epsilon) const override {
    return DeltaBetween(GaussianLogDelta(mu_, epsilon), kProfile);
  }
  absl::StatusOr<Guarantee> RenyiDivergence(double order) const override {
    Guarantee answer = Answer("[DRS19] Cor 3.3 ; [Mironov17] Prop 7");
    // At order +inf only mu = 0 is finite.
    answer.upper = mu_.upper == 0 ? 0 : RoundUpNonNegative(0.5 * order * mu_.upper * mu_.upper, 3);
    if (mu_.upper > 0 && *answer.upper == 0) answer.upper = NextUp(0);
    answer.lower = mu_.lower > 0 && order == kInfinity
                       ? kInfinity
                       : RoundDownNonNegative(0.5 * order * mu_.lower * mu_.lower, 3);
    answer.order = order;
    return answer;
  }
  absl::StatusOr<Guarantee> TypeTwoError(double type_one_error) const override {
    const Bounds f = GaussianTradeOff(mu_, type_one_error);
    Guarantee answer = Answer("[DRS19] Cor 3.3 and eq. 6");
    answer.upper = f.upper;
    answer.lower = f.lower;
    return answer;
  }
  absl::StatusOr<Guarantee> GaussianDpMu(double) const override {
    Guarantee answer = Answer("[DRS19] Cor 3.3");
    answer.upper = mu_.upper;
    answer.lower = mu_.lower;
    answer.regret = 0;
    return answer;
  }

 private:
  const Bounds mu_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Composition>> ComposeByGaussian(const std::vector<Use>& uses,
                                                               const Setting& setting,
                                                               const CompositionOptions& options) {
  ASSIGN_OR_RETURN(Bounds mu, ComposeGaussianMu(uses, setting));
  const double group = static_cast<double>(options.group_size);
  if (group > 1) {  // [DRS19] Thm 2.14
    mu = Bounds{RoundDownNonNegative(group * mu.lower), RoundUpNonNegative(group * mu.upper)};
  }
  return std::make_unique<GaussianComposed>(mu);
}

}  // namespace epsledger::accounting
