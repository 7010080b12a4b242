#ifndef EPSLEDGER_CLIENT_CLI_APPLY_BUDGET_STEP_H_
#define EPSLEDGER_CLIENT_CLI_APPLY_BUDGET_STEP_H_

#include <optional>
#include <string>
#include <vector>

#include "epsledger/v1/budget_service.pb.h"

namespace epsledger::cli {

// What makes a budget of the server what a file says.
struct BudgetStep {
  std::string name;
  // In this order, each if there is something to do.
  std::optional<v1::CreateBudgetRequest> create;
  std::optional<v1::UpdateBudgetRequest> update;
  std::optional<v1::SetApprovalPolicyRequest> guard;
  // For people: "labels: {team=ads} -> {team=vision}".
  std::vector<std::string> changes;
  // How the server differs in a way that no step mends, and what people can do. Empty: it does not.
  std::string conflict;
  // The same, but the other changes can be made: the budget is frozen, or not frozen.
  std::string drift;

  bool is_empty() const { return !create && !update && !guard; }
};

// Returns the step from what the server has, nullptr if it has no such budget, to what a file says.
// Labels, thresholds and display name become those of the file, also where it has none. The guarded
// changes stay as they are if the file has no approval policy. The fields that never change are not
// compared: SameBudgetRequest asks the server.
BudgetStep StepTo(const v1::Budget& wanted, const v1::Budget* existing);

// Returns a request that only asks: the server answers ALREADY_EXISTS with the first field that
// differs if the fields of `existing` that never change are not those of `wanted`.
v1::CreateBudgetRequest SameBudgetRequest(const v1::Budget& wanted, const v1::Budget& existing);

}  // namespace epsledger::cli

#endif  // EPSLEDGER_CLIENT_CLI_APPLY_BUDGET_STEP_H_
