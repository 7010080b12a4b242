#include "server/access/method_rules.h"

#include <algorithm>
#include <iterator>
#include <string>

#include "absl/strings/match.h"

namespace epsledger::access {
namespace {

using core::Role;

constexpr std::string_view kPackage = "epsledger.v1.";

constexpr bool kOneRow = true;  // MethodRule::is_of_one_row

// A method that is missing here is denied to everybody.
constexpr MethodRule kMethodRules[] = {
    {"AccessService.CreateToken", Role::kAdmin, Subject::kTenant},
    {"AccessService.ListTokens", Role::kAdmin, Subject::kTenant},
    {"AccessService.RevokeToken", Role::kAdmin, Subject::kTenant},
    {"AccessService.GetCaller", Role::kViewer, Subject::kCaller},
    {"AccessService.CreateLogin", Role::kViewer, Subject::kCaller},
    {"AccessService.EndLogin", Role::kViewer, Subject::kCaller},

    {"AccountingService.Compute", Role::kViewer, Subject::kNothing},
    {"AccountingService.CompareAccountants", Role::kViewer, Subject::kNothing},
    {"AccountingService.GetPrivacyProfile", Role::kViewer, Subject::kNothing},
    {"AccountingService.GetTradeOffCurve", Role::kViewer, Subject::kNothing},
    {"AccountingService.AuditCanaries", Role::kViewer, Subject::kNothing},

    {"AuditService.GetLedgerHead", Role::kViewer, Subject::kNamed},
    {"AuditService.ListAuditEntries", Role::kViewer, Subject::kLedger},
    {"AuditService.ProveInclusion", Role::kViewer, Subject::kNamed},
    {"AuditService.ProveConsistency", Role::kViewer, Subject::kNamed},
    {"AuditService.VerifyLedger", Role::kViewer, Subject::kLedger},
    {"AuditService.ExportLedger", Role::kViewer, Subject::kLedger},
    {"AuditService.GetPrivacyStatement", Role::kViewer, Subject::kNamed},
    {"AuditService.GetAnnotations", Role::kViewer, Subject::kNamed},
    {"AuditService.UpdateAnnotations", Role::kTrainer, Subject::kNamed},
    {"AuditService.RecordSignOff", Role::kAdmin, Subject::kNamed},
    {"AuditService.ListDenials", Role::kAdmin, Subject::kTenant},
    {"AuditService.LiftQuarantine", Role::kAdmin, Subject::kTenant},

    {"BudgetService.CreateBudget", Role::kAdmin, Subject::kParent},
    {"BudgetService.GetBudget", Role::kViewer, Subject::kNamed},
    {"BudgetService.ListBudgets", Role::kViewer, Subject::kVisibleBudgets},
    {"BudgetService.ListBudgetReadings", Role::kViewer, Subject::kVisibleBudgets},
    {"BudgetService.UpdateBudget", Role::kAdmin, Subject::kNamed},
    {"BudgetService.FreezeBudget", Role::kAdmin, Subject::kNamed},
    {"BudgetService.ThawBudget", Role::kAdmin, Subject::kNamed},
    {"BudgetService.CloseBudget", Role::kAdmin, Subject::kNamed},
    {"BudgetService.SupersedeBudget", Role::kAdmin, Subject::kNamed},
    {"BudgetService.SetApprovalPolicy", Role::kAdmin, Subject::kNamed},
    {"BudgetService.GetBudgetTree", Role::kViewer, Subject::kNamed},
    {"BudgetService.GetBudgetGuarantees", Role::kViewer, Subject::kNamed},
    {"BudgetService.GetBudgetActivity", Role::kViewer, Subject::kNamed},
    {"BudgetService.WatchBudget", Role::kViewer, Subject::kNamed},

    {"ChargeService.Charge", Role::kTrainer, Subject::kNamed, kOneRow},
    {"ChargeService.BatchCharge", Role::kTrainer, Subject::kNamed},
    {"ChargeService.PreviewCharge", Role::kViewer, Subject::kNamed, kOneRow},
    {"ChargeService.GetCharge", Role::kViewer, Subject::kNamed, kOneRow},
    {"ChargeService.ListCharges", Role::kViewer, Subject::kNamed},
    {"ChargeService.ListRefusals", Role::kViewer, Subject::kNamed},
    {"ChargeService.StreamCharges", Role::kTrainer, Subject::kNamed},
    {"ChargeService.AcquireLease", Role::kTrainer, Subject::kNamed, kOneRow},
    {"ChargeService.SettleLease", Role::kTrainer, Subject::kNamed, kOneRow},

    {"ProposalService.CreateProposal", Role::kTrainer, Subject::kNamed},
    {"ProposalService.GetProposal", Role::kViewer, Subject::kNamed},
    {"ProposalService.ListProposals", Role::kViewer, Subject::kNamed},
    {"ProposalService.ApproveProposal", Role::kAdmin, Subject::kNamed},
    {"ProposalService.RejectProposal", Role::kAdmin, Subject::kNamed},

    {"ServerService.GetServerInfo", Role::kViewer, Subject::kCaller},

    {"SessionService.CreateSession", Role::kTrainer, Subject::kNamed},
    {"SessionService.GetSession", Role::kViewer, Subject::kNamed},
    {"SessionService.ListSessions", Role::kViewer, Subject::kNamed},
    {"SessionService.ListSessionReadings", Role::kViewer, Subject::kNamed},
    {"SessionService.OpenAttempt", Role::kTrainer, Subject::kNamed, kOneRow},
    {"SessionService.GetSessionGuarantees", Role::kViewer, Subject::kNamed},
    {"SessionService.GetSessionHistory", Role::kViewer, Subject::kNamed},
    {"SessionService.GetSessionPrivacyProfile", Role::kViewer, Subject::kNamed},
    {"SessionService.GetSessionTradeOffCurve", Role::kViewer, Subject::kNamed},
    {"SessionService.GetSessionSeries", Role::kViewer, Subject::kNamed},
    {"SessionService.CloseSession", Role::kTrainer, Subject::kNamed},
    {"SessionService.RecordAudit", Role::kTrainer, Subject::kNamed},
    {"SessionService.WatchSession", Role::kViewer, Subject::kNamed},
};

const MethodRule* FindByShortName(std::string_view method) {
  const auto* found = std::find_if(std::begin(kMethodRules), std::end(kMethodRules),
                                   [&](const MethodRule& row) { return row.method == method; });
  return found == std::end(kMethodRules) ? nullptr : found;
}

}  // namespace

const MethodRule* FindMethodRule(std::string_view method) {
  if (method.substr(0, kPackage.size()) != kPackage) return nullptr;
  return FindByShortName(method.substr(kPackage.size()));
}

bool IsGrantable(std::string_view short_method) {
  const MethodRule* rule = FindByShortName(short_method);
  return rule != nullptr && rule->subject != Subject::kTenant && rule->subject != Subject::kCaller;
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
