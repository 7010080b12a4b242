#ifndef EPSLEDGER_SERVER_TRANSPORT_GRPC_HANDLERS_BUDGET_PAGES_H_
#define EPSLEDGER_SERVER_TRANSPORT_GRPC_HANDLERS_BUDGET_PAGES_H_

#include <string>

#include "absl/status/status.h"
#include "epsledger/v1/budget_service.pb.h"
#include "server/transport/grpc/handlers/handler_context.h"

namespace epsledger::transport {

// True if the caller's grants cover the budget with everything below it.
bool IsVisible(const core::Ledger& ledger, const std::string& budget_id,
               const access::Caller& caller);

// Lists of budgets, page by page. A page is read a few budgets at a time, and charges are decided
// in between: each budget has the state of the moment when it was read.

// BudgetService.ListBudgets: in the order of their ids.
absl::Status ListBudgets(const HandlerContext& context, const v1::ListBudgetsRequest& request,
                         const Call& call);
// BudgetService.GetBudgetTree: parents before children, children in the order of their creation.
absl::Status GetBudgetTree(const HandlerContext& context, const v1::GetBudgetTreeRequest& request,
                           const Call& call);

}  // namespace epsledger::transport

#endif  // EPSLEDGER_SERVER_TRANSPORT_GRPC_HANDLERS_BUDGET_PAGES_H_
