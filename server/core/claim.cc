#include "server/core/claim.h"

namespace epsledger::core {

const char* LabelOf(ClaimStatus status) {
  return status == ClaimStatus::kProven ? "proven" : "as published; claimed guarantee not proven";
}

std::string LabelAndFlag(ClaimStatus status) {
  std::string text = LabelOf(status);
  if (status == ClaimStatus::kCounterexampleKnown) text += " (counterexample_known)";
  return text;
}

bool IsUnproven(const std::optional<Claim>& claim) {
  return claim.has_value() && claim->status != ClaimStatus::kProven;
}

bool ExceedsClaim(const AuditRecord& audit, const std::optional<Claim>& claim) {
  if (audit.claimed_epsilon.has_value() && audit.epsilon_lower > *audit.claimed_epsilon) {
    return true;
  }
  return claim.has_value() && claim->delta <= audit.delta && audit.epsilon_lower > claim->epsilon;
}

}  // namespace epsledger::core
