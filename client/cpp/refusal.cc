#include "epsledger/refusal.h"

#include <optional>
#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "client/cpp/refusal_message.h"
#include "client/cpp/rpc_status.h"
#include "epsledger/rounded_number.h"

namespace epsledger {
namespace {

std::string WhatToDo(const RefusalDetails& refusal) {
  switch (refusal.reason) {
    case RefusalReason::kBudgetExhausted:
      if (refusal.steps_that_fit > 0) {
        return absl::StrCat("ask for at most ", refusal.steps_that_fit,
                            " of it, or for more noise");
      }
      // The request is larger than the cap and its tolerance, which is 2^-32 of the cap.
      return refusal.requested > refusal.cap * (1 + 1e-9) && refusal.cap > 0
                 ? "it is larger than the whole cap, and no step of it fits: ask for more noise, "
                   "or for a larger budget"
                 : "no step of this size fits any more: ask for more noise, or stop";
    case RefusalReason::kBudgetFrozen:
      return "wait until it is thawed";
    case RefusalReason::kClosed:
      return "use another session or budget";
    case RefusalReason::kNotInPlan:
      return refusal.steps_that_fit > 0
                 ? absl::StrCat("ask for at most ", refusal.steps_that_fit, " of it")
                 : "charge what the session's plan holds (epsctl session get)";
    case RefusalReason::kAttemptFenced:
      return "charge under the newest attempt (epsctl session get shows its number)";
    case RefusalReason::kEventNotChargeable:
      return "use an event that the cap's currency can count, or a budget in another currency";
    case RefusalReason::kBatchRefused:
      return "look at the other items of the batch";
    case RefusalReason::kPolicyViolation:
      return refusal.remedy.empty() ? "declare what the budget's policy wants" : refusal.remedy;
    case RefusalReason::kBudgetSuperseded:
      return "open a session under the successor (epsctl budget get shows it)";
    case RefusalReason::kUnspecified:
      break;
  }
  return "this version does not know the reason; a newer one may";
}

}  // namespace

std::string_view RefusalReasonName(RefusalReason reason) {
  switch (reason) {
    case RefusalReason::kUnspecified:
      break;
    case RefusalReason::kBudgetExhausted:
      return "BUDGET_EXHAUSTED";
    case RefusalReason::kBudgetFrozen:
      return "BUDGET_FROZEN";
    case RefusalReason::kClosed:
      return "CLOSED";
    case RefusalReason::kNotInPlan:
      return "NOT_IN_PLAN";
    case RefusalReason::kAttemptFenced:
      return "ATTEMPT_FENCED";
    case RefusalReason::kEventNotChargeable:
      return "EVENT_NOT_CHARGEABLE";
    case RefusalReason::kBatchRefused:
      return "BATCH_REFUSED";
    case RefusalReason::kPolicyViolation:
      return "POLICY_VIOLATION";
    case RefusalReason::kBudgetSuperseded:
      return "BUDGET_SUPERSEDED";
  }
  return "REASON_UNSPECIFIED";
}

RefusalDetails FromMessage(const v1::Refusal& refusal, const std::string& charge_name) {
  RefusalDetails details;
  details.charge_name = charge_name;
  if (v1::Refusal::Reason_IsValid(refusal.reason())) {
    details.reason = static_cast<RefusalReason>(refusal.reason());
  }
  details.limiting_resource = refusal.limiting_resource();
  if (refusal.has_cell()) {
    details.quantity = v1::CellBalance::Quantity_Name(refusal.cell().quantity());
    details.order = refusal.cell().order();
    details.cap = refusal.cell().cap();
    details.spent = refusal.cell().spent();
  }
  details.requested = refusal.requested();
  details.steps_that_fit = refusal.steps_that_fit();
  details.remedy = refusal.remedy();
  return details;
}

std::optional<RefusalDetails> RefusalOf(const absl::Status& status) {
  if (const std::optional<v1::Charge> charge = RefusedChargeOf(status); charge.has_value()) {
    return FromMessage(charge->refusal(), charge->name());
  }
  if (const std::optional<v1::Refusal> plan = RefusedPlanOf(status); plan.has_value()) {
    return FromMessage(*plan, "");
  }
  return std::nullopt;
}

std::string RefusalText(const RefusalDetails& refusal) {
  std::string text = absl::StrCat("refused, ", std::string(RefusalReasonName(refusal.reason)));
  if (!refusal.limiting_resource.empty()) absl::StrAppend(&text, " by ", refusal.limiting_resource);
  if (!refusal.quantity.empty()) {
    absl::StrAppend(&text, " (", refusal.quantity);
    if (refusal.order > 0) {
      absl::StrAppend(&text, " at order ", ExactNumber(refusal.order));
    }
    const int digits = DigitsForSpent(refusal.spent, refusal.cap);
    absl::StrAppend(&text, ": cap ", RoundedNumber(refusal.cap, Rounding::kDown, digits),
                    ", spent ", RoundedNumber(refusal.spent, Rounding::kUp, digits), ", requested ",
                    RoundedNumber(refusal.requested, Rounding::kUp), ")");
  }
  return absl::StrCat(text, ": ", WhatToDo(refusal), ".");
}

}  // namespace epsledger
