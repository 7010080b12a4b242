#ifndef EPSLEDGER_CLIENT_CLI_APPLY_BUDGET_FILE_H_
#define EPSLEDGER_CLIENT_CLI_APPLY_BUDGET_FILE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "epsledger/v1/budget.pb.h"

namespace epsledger::cli {

// Returns the budgets of a YAML or JSON text, parents before children, with full names and what a
// person may say of a budget: what the server computes is left out. `state` stays if it is given,
// and `approval_policy` is set if it is.
//
//   budgets:
//     - name: organisation
//       cap: {approximateDp: {epsilon: 3, delta: 1e-5}}
//       neighboringRelation: ADD_OR_REMOVE_ONE
//       privacyUnit: person
//       labels: {team: ads}
//     - name: adult
//       parent: organisation
//       ...
//
// Each is the proto3 JSON of epsledger.v1.Budget, so what `epsctl budget tree -o json` and
// `budget list -o json` print is such a file. INVALID_ARGUMENT names the line and the field: a
// field that a budget has not, a budget without a name, a name twice, budgets that are parents of
// each other.
absl::StatusOr<std::vector<v1::Budget>> ReadBudgets(const std::string& text);

}  // namespace epsledger::cli

#endif  // EPSLEDGER_CLIENT_CLI_APPLY_BUDGET_FILE_H_
