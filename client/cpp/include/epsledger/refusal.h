#ifndef EPSLEDGER_REFUSAL_H_
#define EPSLEDGER_REFUSAL_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace epsledger {

// Why the ledger refused; the words of epsledger.v1.Refusal.Reason.
enum class RefusalReason {
  kUnspecified = 0,  // also a reason that this version does not know
  kBudgetExhausted = 1,
  kBudgetFrozen = 2,
  kClosed = 3,
  kNotInPlan = 4,
  kAttemptFenced = 5,  // a newer attempt of the session was opened; the status is ABORTED
  kEventNotChargeable = 6,
  kBatchRefused = 7,
  kPolicyViolation = 8,  // what the attempt says of itself does not meet a policy
  kBudgetSuperseded = 9,
};

// "BUDGET_EXHAUSTED", ...
std::string_view RefusalReasonName(RefusalReason reason);

// What a refusal said. Sticky: the same charge gives the same refusal for ever.
struct RefusalDetails {
  std::string charge_name;  // empty for a plan that was refused as a whole
  RefusalReason reason = RefusalReason::kUnspecified;
  // The budget or session whose cap said no; may be empty for other reasons.
  std::string limiting_resource;
  // The cell with the most room there: "RENYI_DIVERGENCE", ...; empty if no cap was asked.
  std::string quantity;
  double order = 0;  // with RENYI_DIVERGENCE
  double cap = 0;
  double spent = 0;
  double requested = 0;
  // How many single uses of the event would still have fitted everywhere.
  int64_t steps_that_fit = 0;
  // With kPolicyViolation: what the policy wants.
  std::string remedy;
};

// Returns what the ledger said if `status` is a refusal (FAILED_PRECONDITION, or ABORTED for a
// fenced attempt) that came with its details, and nothing otherwise.
std::optional<RefusalDetails> RefusalOf(const absl::Status& status);

// Returns one sentence: what the refusal said, and what can be done. Numbers are rounded so that
// nothing looks better than it is.
std::string RefusalText(const RefusalDetails& refusal);

// Returns the id of the charge whose outcome `status` leaves unknown: it may have been committed,
// it COUNTS AS SPENT, and no noise may be drawn for it. Session::RetryCharge asks for the same
// charge again. Nothing if the outcome is known.
std::optional<std::string> UnknownCharge(const absl::Status& status);

}  // namespace epsledger

#endif  // EPSLEDGER_REFUSAL_H_
