#include "accounting/accountants/composers.h"

#include <utility>

#include "accounting/event/status_macros.h"
#include "accounting/numeric/constants.h"
#include "accounting/renyi/moments.h"
#include "accounting/renyi/moments_combinations.h"

namespace epsledger::accounting {
namespace {

class MomentsComposed final : public Composition {
 public:
  MomentsComposed(Accountant accountant, CombinedMoments moments)
      : Composition(accountant), moments_(std::move(moments)) {}

  absl::StatusOr<Guarantee> Epsilon(const EpsilonAtDelta& at) const override {
    const Conversion conversion = EpsilonFromMoments(Divergence(), at.log_delta);
    Guarantee answer = Labelled(Answer(Theorem()));
    answer.upper = conversion.value;
    if (conversion.order > 0) answer.order = conversion.order;
    return answer;
  }
  absl::StatusOr<Guarantee> Delta(double epsilon) const override {
    const Conversion conversion = LogDeltaFromMoments(Divergence(), epsilon);
    return Labelled(DeltaBelow(conversion.value, conversion.order, Theorem()));
  }
  absl::StatusOr<Guarantee> RenyiDivergence(double order) const override {
    if (!(order > 1 && order < kInfinity)) return Unknown("a divergence of order 1 or +inf");
    Guarantee answer = Labelled(Answer(Theorem()));
    answer.upper = moments_.Divergence(order);
    answer.order = order;
    return answer;
  }
  absl::StatusOr<Guarantee> TypeTwoError(double type_one_error) const override {
    absl::StatusOr<Guarantee> answer = Composition::TypeTwoError(type_one_error);
    if (answer.ok()) answer = Labelled(*answer);
    return answer;
  }

 private:
  struct DivergenceOf {
    const CombinedMoments& moments;
    double operator()(double order) const { return moments.Divergence(order); }
  };
  DivergenceOf Divergence() const { return DivergenceOf{moments_}; }

  Guarantee Labelled(Guarantee answer) const {
    if (!moments_.proved()) answer.kind = GuaranteeKind::kApproximation;
    return answer;
  }

  const char* Theorem() const {
    return moments_.proved()
               ? "[ZQ22] eq. 11 (Hoelder), not below the joint moments of the one sample "
                 "([MTZ19] Thm 4) ; [ACG+16] Thm 2, moments to 32"
               : "[ZQ22] eq. 12, as published, not proved: the inequality is reversed ; [ACG+16] "
                 "Thm 2, moments to 32";
  }

  const CombinedMoments moments_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Composition>> ComposeByMoments(const std::vector<Use>& uses,
                                                              const Setting& setting,
                                                              const CompositionOptions& options,
                                                              Accountant accountant) {
  if (options.group_size > 1) {
    return UnknownGroup(accountant, "no group theorem for its moments is stated");
  }
  ASSIGN_OR_RETURN(CombinedMoments moments, CombinedMoments::Create(uses, setting, accountant));
  return std::make_unique<MomentsComposed>(accountant, std::move(moments));
}

}  // namespace epsledger::accounting
