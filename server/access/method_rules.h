#ifndef EPSLEDGER_SERVER_ACCESS_METHOD_RULES_H_
#define EPSLEDGER_SERVER_ACCESS_METHOD_RULES_H_

#include <optional>
#include <string_view>

#include "server/core/access_command.h"

namespace epsledger::access {

// What a method is about: which of the things that grants hold.
enum class Subject {
  // Nothing that is stored: the mathematics.
  kNothing,
  // The caller and the server. Methods that grants name do not leave these out.
  kCaller,
  // The budget or session that the request names.
  kNamed,
  // The budget below which the request makes one.
  kParent,
  // Every entry of the ledger that holds the named budget: the whole of it must be granted.
  kLedger,
  // The budgets that the caller may see, of all there are.
  kVisibleBudgets,
  // The tenant as a whole: for callers without grants.
  kTenant,
};

struct MethodRule {
  std::string_view method;  // below "epsledger.v1.": "BudgetService.GetBudget"
  core::Role least;         // role that may call it
  Subject subject;
  // Its answer tells of one charge or attempt, whatever is stored: kilobytes at most.
  bool is_of_one_row = false;
  // It changes nothing, and its answer may be as large as what is stored.
  bool IsRead() const {
    return least == core::Role::kViewer && subject != Subject::kCaller && !is_of_one_row;
  }
};

// The rule of a method, by its full name, "epsledger.v1.BudgetService.GetBudget". Nullptr for a
// method that is not in the table: it is denied to everybody.
const MethodRule* FindMethodRule(std::string_view method);

// True for the methods that a grant may name, in the short form of MethodRule.
bool IsGrantable(std::string_view short_method);

// "VIEWER", "TRAINER", "ADMIN".
const char* Name(core::Role role);
// The role of that name, or nothing. Small letters are taken too.
std::optional<core::Role> RoleNamed(std::string_view name);

}  // namespace epsledger::access

#endif  // EPSLEDGER_SERVER_ACCESS_METHOD_RULES_H_
