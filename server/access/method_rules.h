#ifndef EPSLEDGER_SERVER_ACCESS_METHOD_RULES_H_
#define EPSLEDGER_SERVER_ACCESS_METHOD_RULES_H_

#include <optional>
#include <string_view>

#include "server/core/access_command.h"

namespace epsledger::access {

// What a method is about, as far as grants distinguish it.
enum class Subject {
  // Nothing stored: the mathematics.
  kNothing,
  // The caller and the server. Allowed even if the grants name other methods.
  kCaller,
  // The budget or session that the request names.
  kNamed,
  // The budget below which the request creates one.
  kParent,
  // Every entry of the ledger that holds the named budget: the whole of it must be granted.
  kLedger,
  // Those budgets that the caller may see.
  kVisibleBudgets,
  // The tenant as a whole: for callers without grants.
  kTenant,
};

struct MethodRule {
  std::string_view method;  // below "epsledger.v1.": "BudgetService.GetBudget"
  core::Role least;         // role that may call it
  Subject subject;
  // The answer is about one charge or attempt, however much is stored: kilobytes at most.
  bool is_of_one_row = false;
  // Returns true if the method changes nothing and its answer may be as large as the stored data.
  bool IsRead() const {
    return least == core::Role::kViewer && subject != Subject::kCaller && !is_of_one_row;
  }
};

// Returns the rule of a method by its full name, "epsledger.v1.BudgetService.GetBudget". Returns
// nullptr for a method that is not in the table, which is denied to everybody.
const MethodRule* FindMethodRule(std::string_view method);

// Returns true if a grant may name the method. The name has the short form of MethodRule.
bool IsGrantable(std::string_view short_method);

// "VIEWER", "TRAINER", "ADMIN".
const char* Name(core::Role role);
// Returns the role of that name, or nullopt. Accepts lower case too.
std::optional<core::Role> RoleNamed(std::string_view name);

}  // namespace epsledger::access

#endif  // EPSLEDGER_SERVER_ACCESS_METHOD_RULES_H_
