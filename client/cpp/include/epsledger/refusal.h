#ifndef EPSLEDGER_REFUSAL_H_
#define EPSLEDGER_REFUSAL_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace epsledger {

// Why the ledger refused, as in epsledger.v1.Refusal.Reason.
enum class RefusalReason {
  kUnspecified = 0,  // also a reason that this version does not know
  kBudgetExhausted = 1,
  kBudgetFrozen = 2,
  kClosed = 3,
  kNotInPlan = 4,
  kAttemptFenced = 5,  // a newer attempt of the session was opened; the status is ABORTED
  kEventNotChargeable = 6,
  kBatchRefused = 7,
  kPolicyViolation = 8,  // what the attempt declares does not meet a policy
  kBudgetSuperseded = 9,
};

// "BUDGET_EXHAUSTED", ...
std::string_view RefusalReasonName(RefusalReason reason);

// The content of a refusal. It is permanent: the same charge gets the same refusal for ever.
struct RefusalDetails {
  std::string charge_name;  // empty for a plan that was refused as a whole
  RefusalReason reason = RefusalReason::kUnspecified;
  // The budget or session whose cap refused; may be empty for other reasons.
  std::string limiting_resource;
  // The cell with the most room there: "RENYI_DIVERGENCE", ...; empty if no cap was checked.
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

// Returns the details of the refusal if `status` is one (FAILED_PRECONDITION, or ABORTED for a
// fenced attempt) and carries them, and nullopt otherwise.
std::optional<RefusalDetails> RefusalOf(const absl::Status& status);

// Returns one sentence: the refusal, and what can be done. Numbers are rounded so that nothing
// looks better than it is.
std::string RefusalText(const RefusalDetails& refusal);

// Returns the id of the charge whose outcome `status` leaves unknown; nullopt if the outcome is
// known. The charge may have been committed, it COUNTS AS SPENT, and no noise may be drawn for it.
// Session::RetryCharge asks for the same charge again.
std::optional<std::string> UnknownCharge(const absl::Status& status);

}  // namespace epsledger

#endif  // EPSLEDGER_REFUSAL_H_
