#include "accounting/central_limit/reading.h"

#include "absl/strings/str_cat.h"
#include "accounting/central_limit/berry_esseen.h"
#include "accounting/central_limit/functionals.h"
#include "accounting/event/domain.h"
#include "accounting/event/status_macros.h"
#include "accounting/numeric/rounding.h"

namespace epsledger::accounting {

absl::StatusOr<Guarantee> ReadCentralLimit(const std::vector<Use>& uses, const Setting& setting,
                                           int64_t group_size,
                                           std::optional<double> type_one_error) {
  if (group_size > 1) {
    return absl::UnimplementedError(
        "the central limit theorem is stated for neighbors: groups are not known");
  }
  std::vector<CountedFunctionals> parts;
  CentralLimitReading reading;
  const auto add = [](double& sum, double count, const Bounds& one) {
    sum = RoundUpNonNegative(sum + RoundUpNonNegative(count * one.upper));
  };
  for (const Use& use : uses) {
    ASSIGN_OR_RETURN(const CentralLimitFunctionals one, FunctionalsOf(*use.event, setting));
    add(reading.kl, use.count, one.kl);
    add(reading.kappa2, use.count, one.kappa2);
    add(reading.kappa3, use.count, one.kappa3);
    add(reading.kappa3_bar, use.count, one.kappa3_bar);
    parts.push_back(CountedFunctionals{one, use.count});
  }
  Guarantee answer;
  answer.accountant = Accountant::kClt;
  if (reading.kappa2 == 0) {  // nothing was released: f = Id
    answer.theorem = "nothing was released";
    answer.value = 0;
    if (type_one_error.has_value()) {
      answer.upper = RoundUpNonNegative(1 - *type_one_error);
      answer.lower = RoundDownNonNegative(1 - *type_one_error);
    }
    answer.central_limit = reading;
    return answer;
  }
  const CentralLimitParameters parameters = Combine(parts);
  reading.mu = parameters.mu.upper;
  reading.gamma = parameters.gamma.upper;
  answer.theorem = "[DRS19] Thm 3.4 ; [Shevtsova10]";
  answer.value = reading.mu;
  answer.central_limit = reading;
  if (!type_one_error.has_value()) {
    answer.kind = GuaranteeKind::kApproximation;
    return answer;
  }
  if (!(reading.gamma < 0.5)) {
    return absl::UnimplementedError(
        absl::StrCat("the Berry-Esseen band says something for gamma < 1/2 only; it is ",
                     FormatDouble(reading.gamma), " for this history"));
  }
  const Bounds band = BerryEsseen(parameters, *type_one_error);
  answer.lower = band.lower;
  answer.upper = band.upper;
  return answer;
}

}  // namespace epsledger::accounting
