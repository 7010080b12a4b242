#include "client/cli/commands/all_budgets.h"

#include <iterator>
#include <memory>

namespace epsledger::cli {

std::optional<std::vector<v1::Budget>> AllBudgets(Invocation& invocation) {
  std::vector<v1::Budget> budgets;
  v1::ListBudgetsRequest request;
  request.set_page_size(1000);
  do {
    const auto page =
        invocation.Call(&Connection::budgets, &v1::BudgetService::StubInterface::ListBudgets,
                        request, CallKind::kRead);
    if (page == nullptr) return std::nullopt;
    budgets.insert(budgets.end(), std::make_move_iterator(page->mutable_budgets()->begin()),
                   std::make_move_iterator(page->mutable_budgets()->end()));
    request.set_page_token(page->next_page_token());
  } while (!request.page_token().empty());
  return budgets;
}

}  // namespace epsledger::cli
