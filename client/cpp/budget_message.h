#ifndef EPSLEDGER_CLIENT_CPP_BUDGET_MESSAGE_H_
#define EPSLEDGER_CLIENT_CPP_BUDGET_MESSAGE_H_

#include <string>
#include <string_view>

#include "epsledger/budget.h"
#include "epsledger/v1/budget.pb.h"
#include "epsledger/v1/budget_service.pb.h"

namespace epsledger {

// Convert between the public structs and the messages. They validate nothing: the server does.
v1::NeighboringRelation::Kind ToMessage(NeighboringRelation relation);
v1::Cap ToMessage(const Cap& cap);
v1::CreateBudgetRequest ToMessage(const BudgetOptions& options);

CellBalance FromMessage(const v1::CellBalance& cell);
Budget FromMessage(const v1::Budget& budget);

// Returns "budgets/adult" for both "adult" and "budgets/adult".
std::string BudgetName(std::string_view name_or_id);

}  // namespace epsledger

#endif  // EPSLEDGER_CLIENT_CPP_BUDGET_MESSAGE_H_
