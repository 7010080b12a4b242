#ifndef EPSLEDGER_SERVER_ACCESS_METHOD_ROLES_H_
#define EPSLEDGER_SERVER_ACCESS_METHOD_ROLES_H_

#include <optional>
#include <string_view>

#include "server/core/access_command.h"

namespace epsledger::access {

// The least role that may call a method, by its full name, "epsledger.v1.BudgetService.GetBudget".
// Nothing for a method that is not in the table: it is denied to everybody.
std::optional<core::Role> LeastRoleFor(std::string_view method);

// "VIEWER", "TRAINER", "ADMIN".
const char* Name(core::Role role);
// The role of that name, or nothing. Small letters are taken too.
std::optional<core::Role> RoleNamed(std::string_view name);

}  // namespace epsledger::access

#endif  // EPSLEDGER_SERVER_ACCESS_METHOD_ROLES_H_
