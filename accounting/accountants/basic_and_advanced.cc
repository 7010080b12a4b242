#include "accounting/accountants/composers.h"

#include <cmath>
#include <optional>

#include "accounting/classical/basic_and_advanced.h"
#include "accounting/event/domain.h"
#include "accounting/event/status_macros.h"
#include "accounting/numeric/rounding.h"

namespace epsledger::accounting {
namespace {

class BasicComposed final : public Composition {
 public:
  explicit BasicComposed(ApproximateDpParameters total)
      : Composition(Accountant::kBasic), total_(total) {}

  absl::StatusOr<Guarantee> Epsilon(const EpsilonAtDelta& at) const override {
    Guarantee answer = Answer("[DR14] Thm 3.16");
    answer.upper = BasicEpsilon(total_, at);
    return answer;
  }
  absl::StatusOr<Guarantee> Delta(double epsilon) const override {
    return DeltaBelow(
        ApproximateDpLogDelta(total_, epsilon), 0,
        epsilon >= total_.epsilon ? "[DR14] Thm 3.16" : "[DR14] Thm 3.16 ; [KOV15] Thm 3.1");
  }

 private:
  const ApproximateDpParameters total_;
};

class AdvancedComposed final : public Composition {
 public:
  AdvancedComposed(AdvancedSums sums, std::optional<double> slack)
      : Composition(Accountant::kAdvanced), sums_(sums), slack_(slack) {}

  absl::StatusOr<Guarantee> Epsilon(const EpsilonAtDelta& at) const override {
    Guarantee answer = Answer(kTheorem);
    if (at.log_delta >= 0) {
      answer.upper = 0;
      return answer;
    }
    const double log_slack = slack_.has_value() ? RoundDown(std::log(*slack_))
                                                : RoundDown(at.log_delta - 0.6931471805599453);
    const double left = LogDeltaLeft(at.log_delta, sums_.delta);
    const bool fits = sums_.squares == 0 ? at.Allows(sums_.delta) : left >= log_slack;
    answer.upper = fits ? AdvancedEpsilon(sums_, log_slack) : kInfinity;
    return answer;
  }
  absl::StatusOr<Guarantee> Delta(double epsilon) const override {
    if (!slack_.has_value()) return DeltaBelow(AdvancedLogDelta(sums_, epsilon), 0, kTheorem);
    const bool holds = AdvancedEpsilon(sums_, RoundDown(std::log(*slack_))) <= epsilon;
    return DeltaBelow(holds ? LogDeltaPlus(RoundUp(std::log(*slack_)), sums_.delta) : 0, 0,
                      kTheorem);
  }

 private:
  static constexpr char kTheorem[] = "[DRV10] Thm III.3";
  const AdvancedSums sums_;
  const std::optional<double> slack_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Composition>> ComposeByBasic(const std::vector<Use>& uses,
                                                            const Setting& setting,
                                                            const CompositionOptions& options) {
  ASSIGN_OR_RETURN(const auto parameters, ApproximateDpOf(uses, setting, Accountant::kBasic));
  return std::make_unique<BasicComposed>(
      GroupPrivacy(BasicComposition(parameters), static_cast<double>(options.group_size)));
}

absl::StatusOr<std::unique_ptr<Composition>> ComposeByAdvanced(const std::vector<Use>& uses,
                                                               const Setting& setting,
                                                               const CompositionOptions& options) {
  if (options.group_size > 1) {
    return UnknownGroup(Accountant::kAdvanced, "its theorem is about neighbors");
  }
  ASSIGN_OR_RETURN(const auto parameters, ApproximateDpOf(uses, setting, Accountant::kAdvanced));
  return std::make_unique<AdvancedComposed>(SumForAdvanced(parameters),
                                            options.advanced_delta_slack);
}

}  // namespace epsledger::accounting
