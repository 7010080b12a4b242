#include "server/core/grant.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "server/core/command.h"
#include "server/core/ledger.h"

namespace epsledger::core {
namespace {

// True if `budget` is `ancestor` or below it. On the way up, a budget stands also for the budgets
// that it supersedes.
bool IsWithin(const Ledger& ledger, const BudgetState* budget, std::string_view ancestor) {
  for (; budget != nullptr; budget = ledger.FindBudget(budget->spec.parent_id)) {
    for (const BudgetState* life = budget; life != nullptr;
         life = ledger.FindBudget(life->supersedes)) {
      if (life->spec.id == ancestor) return true;
    }
  }
  return false;
}

struct SessionFinder {
  const std::string& operator()(const CreateSession& c) const { return c.spec.id; }
  const std::string& operator()(const CloseSession& c) const { return c.session.session_id; }
  const std::string& operator()(const RecordAudit& c) const { return c.session.session_id; }
  const std::string& operator()(const Annotate& c) const { return c.resource.session_id; }
  const std::string& operator()(const RecordSignOff& c) const { return c.resource.session_id; }
  const std::string& operator()(const OpenAttempt& c) const { return c.session.session_id; }
  const std::string& operator()(const Charge& c) const { return c.session.session_id; }
  const std::string& operator()(const ChargePreview& c) const { return c.session.session_id; }
  const std::string& operator()(const SettleLease& c) const { return c.session.session_id; }
  // Commands about a budget name no session.
  template <class Body>
  const std::string& operator()(const Body&) const {
    return none;
  }
  const std::string none;
};

}  // namespace

std::string NameOf(const Grant& grant) {
  return absl::StrCat("budgets/", grant.budget_id, grant.session_id.empty() ? "" : "/sessions/",
                      grant.session_id);
}

bool Covers(const Scope& scope, const Ledger& ledger, std::string_view budget_id,
            std::string_view session_id) {
  const BudgetState* budget = ledger.FindBudget(budget_id);
  if (budget == nullptr) return false;
  return std::any_of(scope.begin(), scope.end(), [&](const Grant& grant) {
    if (grant.session_id.empty()) return IsWithin(ledger, budget, grant.budget_id);
    return grant.budget_id == budget_id && grant.session_id == session_id;
  });
}

absl::Status OutsideScope(const Scope& scope) {
  return absl::NotFoundError(absl::StrCat(
      "there is nothing of that name in what this caller is limited to: ",
      absl::StrJoin(scope, ", ",
                    [](std::string* out, const Grant& grant) { *out += NameOf(grant); })));
}

bool Covers(const Scope& scope, const Ledger& ledger, const Command& command) {
  const auto* create = std::get_if<CreateBudget>(&command.body);
  if (create != nullptr && create->spec.parent_id.empty()) return false;
  static const SessionFinder session;
  return Covers(scope, ledger, BudgetOf(command), std::visit(session, command.body));
}

}  // namespace epsledger::core
