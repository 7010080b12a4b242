#ifndef EPSLEDGER_CLIENT_CLI_FLAGS_RESOURCE_NAME_H_
#define EPSLEDGER_CLIENT_CLI_FLAGS_RESOURCE_NAME_H_

#include <string>

#include "absl/status/statusor.h"

namespace epsledger::cli {

// Names as people type them. Each function takes the full name or the short form. It returns the
// full name, or INVALID_ARGUMENT that shows both forms. Only the number of segments is checked, and
// that none is empty; the server knows what they may hold.

// "adult" -> "budgets/adult"
absl::StatusOr<std::string> BudgetName(const std::string& text);
// "adult/run-1" -> "budgets/adult/sessions/run-1"
absl::StatusOr<std::string> SessionName(const std::string& text);
// "adult" is a budget, "adult/run-1" a session.
absl::StatusOr<std::string> BudgetOrSessionName(const std::string& text);
// "adult/run-1/1/step-7" -> "budgets/adult/sessions/run-1/attempts/1/charges/step-7"
absl::StatusOr<std::string> ChargeName(const std::string& text);

// "adult/run-1/1/lease-7" -> "budgets/adult/sessions/run-1/attempts/1/leases/lease-7"
absl::StatusOr<std::string> LeaseName(const std::string& text);

// Returns the short form of a full name, which the functions above take too: "adult/run-1" for
// "budgets/adult/sessions/run-1". Any other text stays as it is.
std::string ShortName(const std::string& name);

// Returns the last segment of a full name.
std::string LastSegment(const std::string& name);
// Returns the name without its last two segments: the budget of a session's full name.
std::string ParentOf(const std::string& name);

}  // namespace epsledger::cli

#endif  // EPSLEDGER_CLIENT_CLI_FLAGS_RESOURCE_NAME_H_
