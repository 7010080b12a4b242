#include "server/access/method_roles.h"

#include <algorithm>
#include <iterator>
#include <string>

#include "absl/strings/match.h"

namespace epsledger::access {
namespace {

using core::Role;

struct MethodRole {
  std::string_view method;  // below "epsledger.v1."
  Role least;
};

constexpr std::string_view kPackage = "epsledger.v1.";

// A method that is missing here is denied.
constexpr MethodRole kMethodRoles[] = {
    {"AccessService.CreateToken", Role::kAdmin},
    {"AccessService.ListTokens", Role::kAdmin},
    {"AccessService.RevokeToken", Role::kAdmin},
    {"AccessService.GetCaller", Role::kViewer},

    // Without state: the mathematics is everybody's.
    {"AccountingService.Compute", Role::kViewer},
    {"AccountingService.CompareAccountants", Role::kViewer},
    {"AccountingService.GetPrivacyProfile", Role::kViewer},
    {"AccountingService.GetTradeOffCurve", Role::kViewer},
    {"AccountingService.AuditCanaries", Role::kViewer},

    {"AuditService.GetLedgerHead", Role::kViewer},
    {"AuditService.ListAuditEntries", Role::kViewer},
    {"AuditService.ProveInclusion", Role::kViewer},
    {"AuditService.ProveConsistency", Role::kViewer},
    {"AuditService.VerifyLedger", Role::kViewer},
    {"AuditService.ExportLedger", Role::kViewer},
    {"AuditService.GetPrivacyStatement", Role::kViewer},
    {"AuditService.ListDenials", Role::kAdmin},
    {"AuditService.LiftQuarantine", Role::kAdmin},

    {"BudgetService.CreateBudget", Role::kAdmin},
    {"BudgetService.GetBudget", Role::kViewer},
    {"BudgetService.ListBudgets", Role::kViewer},
    {"BudgetService.UpdateBudget", Role::kAdmin},
    {"BudgetService.FreezeBudget", Role::kAdmin},
    {"BudgetService.ThawBudget", Role::kAdmin},
    {"BudgetService.CloseBudget", Role::kAdmin},
    {"BudgetService.SupersedeBudget", Role::kAdmin},
    {"BudgetService.GetBudgetTree", Role::kViewer},
    {"BudgetService.GetBudgetGuarantees", Role::kViewer},
    {"BudgetService.GetBudgetActivity", Role::kViewer},
    {"BudgetService.WatchBudget", Role::kViewer},

    {"ChargeService.Charge", Role::kTrainer},
    {"ChargeService.BatchCharge", Role::kTrainer},
    {"ChargeService.PreviewCharge", Role::kViewer},
    {"ChargeService.GetCharge", Role::kViewer},
    {"ChargeService.ListCharges", Role::kViewer},
    {"ChargeService.ListRefusals", Role::kViewer},
    {"ChargeService.StreamCharges", Role::kTrainer},
    {"ChargeService.AcquireLease", Role::kTrainer},
    {"ChargeService.SettleLease", Role::kTrainer},

    {"ServerService.GetServerInfo", Role::kViewer},

    {"SessionService.CreateSession", Role::kTrainer},
    {"SessionService.GetSession", Role::kViewer},
    {"SessionService.ListSessions", Role::kViewer},
    {"SessionService.OpenAttempt", Role::kTrainer},
    {"SessionService.GetSessionGuarantees", Role::kViewer},
    {"SessionService.GetSessionHistory", Role::kViewer},
    {"SessionService.GetSessionPrivacyProfile", Role::kViewer},
    {"SessionService.GetSessionTradeOffCurve", Role::kViewer},
    {"SessionService.GetSessionSeries", Role::kViewer},
    {"SessionService.CloseSession", Role::kTrainer},
    {"SessionService.RecordAudit", Role::kTrainer},
    {"SessionService.WatchSession", Role::kViewer},
};

}  // namespace

std::optional<Role> LeastRoleFor(std::string_view method) {
  if (method.substr(0, kPackage.size()) != kPackage) return std::nullopt;
  method.remove_prefix(kPackage.size());
  const auto* found = std::find_if(std::begin(kMethodRoles), std::end(kMethodRoles),
                                   [&](const MethodRole& row) { return row.method == method; });
  if (found == std::end(kMethodRoles)) return std::nullopt;
  return found->least;
}

const char* Name(Role role) {
  switch (role) {
    case Role::kViewer:
      return "VIEWER";
    case Role::kTrainer:
      return "TRAINER";
    case Role::kAdmin:
      return "ADMIN";
  }
  return "UNKNOWN";
}

std::optional<Role> RoleNamed(std::string_view name) {
  for (const Role role : {Role::kViewer, Role::kTrainer, Role::kAdmin}) {
    if (absl::EqualsIgnoreCase(Name(role), absl::string_view(name.data(), name.size()))) {
      return role;
    }
  }
  return std::nullopt;
}

}  // namespace epsledger::access
