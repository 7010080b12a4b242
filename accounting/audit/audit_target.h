#ifndef EPSLEDGER_ACCOUNTING_AUDIT_AUDIT_TARGET_H_
#define EPSLEDGER_ACCOUNTING_AUDIT_AUDIT_TARGET_H_

#include "absl/status/status.h"

namespace epsledger::accounting {

// The parameters of every audit. An audit returns a number that is above the truth with probability
// at most 1 - confidence, over the draws of the mechanism and of the canaries.
struct AuditTarget {
  // The delta at which epsilon is bounded from below. In [0, 1).
  double delta = 0;
  // In (0, 1).
  double confidence = 0.95;

  double failure_probability() const { return 1 - confidence; }
};

// INVALID_ARGUMENT names "delta" or "confidence".
absl::Status Validate(const AuditTarget& target);

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_AUDIT_AUDIT_TARGET_H_
