#ifndef EPSLEDGER_SERVER_CORE_CLAIM_H_
#define EPSLEDGER_SERVER_CORE_CLAIM_H_

#include <cstdint>
#include <optional>
#include <string>

#include "server/core/audit_record.h"

namespace epsledger::core {

// What the authors of a run state about its privacy. Numbers as in session.proto.
enum class ClaimStatus : uint8_t { kProven = 1, kNotProven = 2, kCounterexampleKnown = 3 };

struct Claim {
  ClaimStatus status = ClaimStatus::kProven;
  double epsilon = 0;
  double delta = 0;
  std::string source;
  template <class S, class V>
  static void Fields(S& s, V&& v) {
    v("status", s.status);
    v("epsilon", s.epsilon);
    v("delta", s.delta);
    v("source", s.source);
  }
};

// Returns the label of a session, the same wherever it is shown: "proven", or "as published;
// claimed guarantee not proven".
const char* LabelOf(ClaimStatus status);
// Returns the label with the flag beside it: "as published; claimed guarantee not proven
// (counterexample_known)".
std::string LabelAndFlag(ClaimStatus status);

// True if a session's guarantee is only a claim.
bool IsUnproven(const std::optional<Claim>& claim);

// True if the lower bound of the audit is above the epsilon that it was compared with, or above the
// claim: (epsilon, delta')-DP with delta' <= audit.delta is (epsilon, audit.delta)-DP.
bool ExceedsClaim(const AuditRecord& audit, const std::optional<Claim>& claim);

}  // namespace epsledger::core

#endif  // EPSLEDGER_SERVER_CORE_CLAIM_H_
