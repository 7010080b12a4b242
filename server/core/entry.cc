#include "server/core/entry.h"

namespace epsledger::core {

const char* Name(RefusalReason reason) {
  switch (reason) {
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
  }
  return "UNKNOWN_REASON";
}

}  // namespace epsledger::core
