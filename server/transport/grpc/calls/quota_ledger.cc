#include "server/transport/grpc/calls/quota_ledger.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "accounting/event/status_macros.h"
#include "server/core/unavailable.h"
#include "server/transport/grpc/status/status_mapping.h"

namespace epsledger::transport {
namespace {

constexpr double kBurstSeconds = 10;

RateLimits LimitsOf(double per_second) {
  return {.burst = per_second * kBurstSeconds, .per_second = per_second};
}

double ChangesIn(const core::Command& command) {
  const auto* charge = std::get_if<core::Charge>(&command.body);
  return charge == nullptr ? 1 : static_cast<double>(charge->items.size());
}

bool IsChange(const core::Command& command) {
  return !command.validate_only && !std::holds_alternative<core::ChargePreview>(command.body) &&
         !std::holds_alternative<core::AccessCommand>(command.body);
}

// Freezing is exempt: whoever stops charges must not wait.
bool Freezes(const core::Command& command) {
  const auto* phase = std::get_if<core::ChangeBudgetPhase>(&command.body);
  return phase != nullptr && phase->phase == core::BudgetPhase::kFrozen;
}

// A batch larger than the burst could never fit: everybody would pay off its debt for minutes.
absl::Status CheckBatch(double changes, double per_second, const char* whose) {
  const double most = per_second * kBurstSeconds;
  if (changes <= std::max(most, 1.0)) return absl::OkStatus();
  return QuotaExceeded(absl::StrCat("items: got ", changes, ", want at most the ", std::floor(most),
                                    " changes that ", whose, " may make at once here"));
}

bool Makes(const core::Command& command) {
  return IsChange(command) && (std::holds_alternative<core::CreateSession>(command.body) ||
                               std::holds_alternative<core::CreateBudget>(command.body) ||
                               std::holds_alternative<core::SupersedeBudget>(command.body));
}

// Returns true if the command's result exists already, so the command is a repetition.
bool IsThere(core::LedgerReader& reader, const core::Command& command) {
  if (const auto* create = std::get_if<core::CreateSession>(&command.body)) {
    const core::Ledger* ledger = reader.LedgerOf(create->spec.budget_id);
    return ledger != nullptr &&
           ledger->FindSession({create->spec.budget_id, create->spec.id}) != nullptr;
  }
  const auto* supersede = std::get_if<core::SupersedeBudget>(&command.body);
  return reader.LedgerOf(supersede != nullptr
                             ? supersede->successor_id
                             : std::get<core::CreateBudget>(command.body).spec.id) != nullptr;
}

absl::Status CheckBelow(const char* what, int64_t count, int64_t most) {
  if (count < most) return absl::OkStatus();
  return QuotaExceeded(
      absl::StrCat("the tenant has ", count, " ", what, ", the most that one may have here"));
}

}  // namespace

QuotaLedger::QuotaLedger(core::DurableLedger& ledger, const Quotas& quotas)
    : ForwardingLedger(ledger),
      quotas_(quotas),
      of_tenants_(LimitsOf(quotas.changes_per_second_of_tenant)),
      of_callers_(LimitsOf(quotas.changes_per_second_of_caller)) {}

absl::Status QuotaLedger::TakeRate(const core::Tenant& tenant, const core::Command& command) {
  const bool counts_tenants = quotas_.changes_per_second_of_tenant > 0;
  const bool counts_callers = quotas_.changes_per_second_of_caller > 0 && command.actor.has_value();
  if (!counts_tenants && !counts_callers) return absl::OkStatus();
  const double changes = ChangesIn(command);
  if (counts_callers) {
    RETURN_IF_ERROR(CheckBatch(changes, quotas_.changes_per_second_of_caller, "one caller"));
  }
  if (counts_tenants) {
    RETURN_IF_ERROR(CheckBatch(changes, quotas_.changes_per_second_of_tenant, "the tenant"));
  }
  const RateLimiter::Clock::time_point now = RateLimiter::Clock::now();
  absl::MutexLock lock(&mutex_);
  if (counts_callers &&
      !of_callers_.Take(absl::StrCat(tenant.name, "\n", command.actor->principal), now, changes)) {
    return core::Overload("this caller changes the ledger faster than one may here: try again");
  }
  if (counts_tenants && !of_tenants_.Take(tenant.name, now, changes)) {
    return core::Overload("the tenant changes its ledgers faster than one may here: try again");
  }
  return absl::OkStatus();
}

absl::Status QuotaLedger::CheckCount(core::LedgerReader& reader, const core::Tenant& tenant,
                                     const core::Command& command) const {
  if (IsThere(reader, command)) return absl::OkStatus();
  int64_t sessions = 0;
  int64_t budgets = 0;
  for (const auto& [name, ledger] : reader.AllLedgers()) {
    if (name != tenant.name) continue;
    sessions += ledger->session_count();
    budgets += static_cast<int64_t>(ledger->budgets().size());
  }
  return std::holds_alternative<core::CreateSession>(command.body)
             ? CheckBelow("sessions", sessions, quotas_.sessions_of_tenant)
             : CheckBelow("budgets", budgets, quotas_.budgets_of_tenant);
}

void QuotaLedger::Submit(core::Tenant tenant, core::Command command, Reply reply) {
  if (IsChange(command) && !Freezes(command)) {
    if (absl::Status status = TakeRate(tenant, command); !status.ok()) {
      return std::move(reply)(std::move(status));
    }
  }
  if (!Makes(command)) {
    return ledger().Submit(std::move(tenant), std::move(command), std::move(reply));
  }
  ledger().Read(tenant, [this, tenant, command = std::move(command), reply = std::move(reply)](
                            absl::StatusOr<core::LedgerReader*> reader) mutable {
    absl::Status status = reader.ok() ? CheckCount(**reader, tenant, command) : reader.status();
    if (!status.ok()) return std::move(reply)(std::move(status));
    ledger().Submit(std::move(tenant), std::move(command), std::move(reply));
  });
}

}  // namespace epsledger::transport
