#include "server/core/entry.h"

namespace epsledger::core {

EntryBody::EntryBody() = default;
EntryBody::EntryBody(const EntryBody&) = default;
EntryBody::EntryBody(EntryBody&&) noexcept = default;
EntryBody& EntryBody::operator=(const EntryBody&) = default;
EntryBody& EntryBody::operator=(EntryBody&&) noexcept = default;
EntryBody::~EntryBody() = default;

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
    case RefusalReason::kPolicyViolation:
      return "POLICY_VIOLATION";
    case RefusalReason::kBudgetSuperseded:
      return "BUDGET_SUPERSEDED";
  }
  return "UNKNOWN_REASON";
}

std::string SettlementId(const std::string& lease_id) { return lease_id + "/settled"; }

std::optional<ChargeKey> ChargeKeyOf(const EntryBody& body) {
  if (const auto* row = std::get_if<ChargeDecided>(&body)) {
    return ChargeKey{row->session_number, row->attempt, row->charge_id};
  }
  if (const auto* row = std::get_if<ChargeRefused>(&body)) {
    return ChargeKey{row->session_number, row->attempt, row->charge_id};
  }
  return std::nullopt;
}

std::optional<ChargeKey> KeyOf(const EntryBody& body) {
  if (std::optional<ChargeKey> key = ChargeKeyOf(body)) return key;
  if (const auto* row = std::get_if<LeaseSettled>(&body)) {
    return ChargeKey{row->session_number, row->attempt, SettlementId(row->lease_id)};
  }
  return std::nullopt;
}

const BudgetSpec* NewBudgetOf(const EntryBody& body) {
  if (const auto* created = std::get_if<BudgetCreated>(&body)) return &created->spec;
  if (const auto* superseded = std::get_if<BudgetSuperseded>(&body)) return &superseded->successor;
  return nullptr;
}

}  // namespace epsledger::core
