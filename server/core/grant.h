#ifndef EPSLEDGER_SERVER_CORE_GRANT_H_
#define EPSLEDGER_SERVER_CORE_GRANT_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"

namespace epsledger::core {

class Ledger;
struct Command;

// A part of a tenant's ledgers, and the methods that are allowed there. A caller with grants may do
// only what one of them allows.
struct Grant {
  // The budget, everything below it, and their successors. With a session id: that session only.
  std::string budget_id;
  std::string session_id;
  // As in access/method_rules.h, in order: "ChargeService.Charge". Empty: all methods of the role.
  std::vector<std::string> methods;
  template <class S, class V>
  static void Fields(S& s, V&& v) {
    v("budget_id", s.budget_id);
    v("session_id", s.session_id);
    v("methods", s.methods);
  }
  bool operator==(const Grant&) const = default;
};

// "budgets/vision" or "budgets/vision/sessions/first".
std::string NameOf(const Grant& grant);

// All grants of one caller. Never empty: a caller without grants has no scope.
using Scope = std::vector<Grant>;

// True if one of the grants covers the session of the budget, or, if `session_id` is empty, the
// budget with everything below it. Ignores methods. False for a budget that `ledger` does not hold.
// Cost: O(grants * (depth + supersessions)).
bool Covers(const Scope& scope, const Ledger& ledger, std::string_view budget_id,
            std::string_view session_id);

// Returns NOT_FOUND, the same for things that do not exist and for things outside the grants. The
// message lists the grants.
absl::Status OutsideScope(const Scope& scope);

// True if the command concerns something that one of the grants covers. The command for a new
// budget concerns its parent, so no grant covers a new root. No grant covers an AccessCommand
// either.
bool Covers(const Scope& scope, const Ledger& ledger, const Command& command);

}  // namespace epsledger::core

#endif  // EPSLEDGER_SERVER_CORE_GRANT_H_
