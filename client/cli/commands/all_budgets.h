#ifndef EPSLEDGER_CLIENT_CLI_COMMANDS_ALL_BUDGETS_H_
#define EPSLEDGER_CLIENT_CLI_COMMANDS_ALL_BUDGETS_H_

#include <optional>
#include <vector>

#include "client/cli/invocation.h"
#include "epsledger/v1/budget.pb.h"

namespace epsledger::cli {

// Returns every budget of the caller's tenant, ordered by name, or Fails and returns nothing.
std::optional<std::vector<v1::Budget>> AllBudgets(Invocation& invocation);

}  // namespace epsledger::cli

#endif  // EPSLEDGER_CLIENT_CLI_COMMANDS_ALL_BUDGETS_H_
