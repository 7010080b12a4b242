#ifndef EPSLEDGER_SERVER_CORE_GRANT_H_
#define EPSLEDGER_SERVER_CORE_GRANT_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"

namespace epsledger::core {

class Ledger;
struct Command;

// A part of a tenant's ledgers, and what may be done there. A caller with grants may do what one of
// them allows, and nothing else.
struct Grant {
  // The budget, everything below it, and what supersedes them. With a session: that one alone.
  std::string budget_id;
  std::string session_id;
  // As in access/method_rules.h, in order: "ChargeService.Charge". Empty: all that the role may.
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

// Grants that hold together. Never empty: who has none is limited to nothing.
using Scope = std::vector<Grant>;

// True if one of the grants holds the session of the budget, or, where that is empty, the budget
// with everything below it. Whatever their methods. False for a budget that `ledger` does not hold.
// Cost: O(grants * (depth + supersessions)).
bool Covers(const Scope& scope, const Ledger& ledger, std::string_view budget_id,
            std::string_view session_id);

// NOT_FOUND, the same for what is not there and for what the grants do not hold: says what they do.
absl::Status OutsideScope(const Scope& scope);

// True if the command is about something that one of the grants holds. A new budget is about its
// parent; so a new root is held by none, and an AccessCommand is not either.
bool Covers(const Scope& scope, const Ledger& ledger, const Command& command);

}  // namespace epsledger::core

#endif  // EPSLEDGER_SERVER_CORE_GRANT_H_
