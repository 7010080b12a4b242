#include "accounting/audit/audit_target.h"

#include "accounting/event/domain.h"

namespace epsledger::accounting {

absl::Status Validate(const AuditTarget& target) {
  absl::Status status = CheckInterval("delta", target.delta, Interval{0, 1, true, false});
  if (!status.ok()) return status;
  return CheckInterval("confidence", target.confidence, kOpenProbability);
}

}  // namespace epsledger::accounting
