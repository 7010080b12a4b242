#include "client/alerts/ledger/readings.h"

#include <set>
#include <utility>

#include "accounting/event/status_macros.h"

namespace epsledger::alerts {
namespace {

constexpr int kPageSize = 1000;

}  // namespace

absl::StatusOr<std::vector<std::string>> ReadRoots(Connection& connection) {
  std::vector<v1::Budget> budgets;
  std::set<std::string> names;
  v1::ListBudgetsRequest request;
  request.set_page_size(kPageSize);
  do {
    ASSIGN_OR_RETURN(const v1::ListBudgetsResponse page,
                     connection.Call(connection.budgets(),
                                     &v1::BudgetService::StubInterface::ListBudgets, request));
    for (const v1::Budget& budget : page.budgets()) {
      names.insert(budget.name());
      budgets.push_back(budget);
    }
    request.set_page_token(page.next_page_token());
  } while (!request.page_token().empty());
  std::vector<std::string> roots;
  for (const v1::Budget& budget : budgets) {
    if (names.count(budget.parent()) == 0) roots.push_back(budget.name());
  }
  return roots;
}

absl::StatusOr<std::vector<v1::Budget>> ReadTree(Connection& connection, const std::string& tree) {
  std::vector<v1::Budget> budgets;
  v1::GetBudgetTreeRequest request;
  request.set_name(tree);
  request.set_page_size(kPageSize);
  do {
    ASSIGN_OR_RETURN(const v1::GetBudgetTreeResponse page,
                     connection.Call(connection.budgets(),
                                     &v1::BudgetService::StubInterface::GetBudgetTree, request));
    budgets.insert(budgets.end(), page.budgets().begin(), page.budgets().end());
    request.set_page_token(page.next_page_token());
  } while (!request.page_token().empty());
  return budgets;
}

absl::StatusOr<v1::Budget> ReadBudget(Connection& connection, const std::string& name) {
  v1::GetBudgetRequest request;
  request.set_name(name);
  return connection.Call(connection.budgets(), &v1::BudgetService::StubInterface::GetBudget,
                         request);
}

absl::StatusOr<int64_t> ReadHead(Connection& connection, const std::string& tree) {
  v1::GetLedgerHeadRequest request;
  request.set_budget(tree);
  ASSIGN_OR_RETURN(const v1::LedgerHead head,
                   connection.Call(connection.audit(),
                                   &v1::AuditService::StubInterface::GetLedgerHead, request));
  return head.sequence();
}

absl::StatusOr<std::vector<v1::Proposal>> ReadPending(Connection& connection,
                                                      const std::string& tree) {
  std::vector<v1::Proposal> proposals;
  v1::ListProposalsRequest request;
  request.set_parent(tree);
  request.set_page_size(kPageSize);
  request.set_pending_only(true);
  do {
    ASSIGN_OR_RETURN(const v1::ListProposalsResponse page,
                     connection.Call(connection.proposals(),
                                     &v1::ProposalService::StubInterface::ListProposals, request));
    proposals.insert(proposals.end(), page.proposals().begin(), page.proposals().end());
    request.set_page_token(page.next_page_token());
  } while (!request.page_token().empty());
  return proposals;
}

absl::StatusOr<v1::ServerInfo> ReadServerInfo(Connection& connection) {
  return connection.Call(connection.server(), &v1::ServerService::StubInterface::GetServerInfo,
                         v1::GetServerInfoRequest());
}

}  // namespace epsledger::alerts
