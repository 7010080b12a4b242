#ifndef EPSLEDGER_CLIENT_CPP_BUDGET_MESSAGE_H_
#define EPSLEDGER_CLIENT_CPP_BUDGET_MESSAGE_H_

#include <string>
#include <string_view>

#include "epsledger/budget.h"
#include "epsledger/v1/budget.pb.h"
#include "epsledger/v1/budget_service.pb.h"

namespace epsledger {

// Between the public structs and the messages; nothing is validated, the server is the judge.
v1::NeighboringRelation::Kind ToMessage(NeighboringRelation relation);
v1::Cap ToMessage(const Cap& cap);
v1::CreateBudgetRequest ToMessage(const BudgetOptions& options);

CellBalance FromMessage(const v1::CellBalance& cell);
Budget FromMessage(const v1::Budget& budget);

// "adult" and "budgets/adult" both give "budgets/adult".
std::string BudgetName(std::string_view name_or_id);

}  // namespace epsledger

#endif  // EPSLEDGER_CLIENT_CPP_BUDGET_MESSAGE_H_
