#include "accounting/audit/audit_target.h"

#include "accounting/event/domain.h"
#include "accounting/event/status_macros.h"

namespace epsledger::accounting {

absl::Status Validate(const AuditTarget& target) {
  RETURN_IF_ERROR(CheckInterval("delta", target.delta, Interval{0, 1, true, false}));
  return CheckInterval("confidence", target.confidence, kOpenProbability);
}

}  // namespace epsledger::accounting
