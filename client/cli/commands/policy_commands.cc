#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/cli/commands/all_budgets.h"
#include "client/cli/commands/commands.h"
#include "client/cli/flags/resource_name.h"
#include "client/cli/print/answers.h"

namespace epsledger::cli {
namespace {

Table RuleTable() {
  Table table({"budget", "rule", "value", "means"});
  table.IfRoom({"means"}).MayCut({"value"});
  return table;
}

// Adds a row for each rule of a budget's policy.
void AddRules(const v1::Budget& budget, Table& table) {
  std::vector<std::string> samplers;
  for (const int sampler : budget.policy().allowed_samplers()) {
    samplers.push_back(v1::Provenance::Sampler_Name(static_cast<v1::Provenance::Sampler>(sampler)));
  }
  if (!samplers.empty()) {
    table.AddRow({NameCell(budget.name()), "allowed samplers", absl::StrJoin(samplers, ", "),
                  "sampled events only from attempts that declare one of these samplers"});
  }
  if (budget.policy().provenance_required()) {
    table.AddRow({NameCell(budget.name()), "provenance required", "yes",
                  "attempts must declare sampler, clip norm, library and version"});
  }
  std::vector<std::string> normalizers;
  for (const int normalizer : budget.policy().allowed_normalizers()) {
    normalizers.push_back(
        v1::Provenance::Normalizer_Name(static_cast<v1::Provenance::Normalizer>(normalizer)));
  }
  if (!normalizers.empty()) {
    table.AddRow({NameCell(budget.name()), "allowed normalizers", absl::StrJoin(normalizers, ", "),
                  "only attempts that declare that they divide noisy sums by one of these"});
  }
  if (budget.policy().known_faults_refused()) {
    table.AddRow({NameCell(budget.name()), "known faults refused", "yes",
                  "no library version whose accounting or sampler is known to be wrong"});
  }
}

void PrintRules(Invocation& invocation, Table rules, const std::string& none) {
  const bool empty = rules.empty();
  invocation.Print(
      {.is_list = true, .table = std::move(rules), .summary = empty ? none : std::string()});
}

// Prints the rules of a budget and of those above it: a charge must meet them all.
void Get(Invocation& invocation, const std::string& text) {
  const absl::StatusOr<std::string> name = BudgetName(text);
  if (!name.ok()) return invocation.Fail(name.status(), CallKind::kRead);
  Table table = RuleTable();
  v1::GetBudgetRequest request;
  request.set_name(*name);
  while (!request.name().empty()) {
    const auto budget =
        invocation.Call(&Connection::budgets, &v1::BudgetService::StubInterface::GetBudget, request,
                        CallKind::kRead);
    if (budget == nullptr) return;
    AddRules(*budget, table);
    request.set_name(budget->parent());
  }
  PrintRules(
      invocation, std::move(table),
      absl::StrCat("No policy at ", *name, " or above: every claim is charged as it is declared."));
}

void ListRules(Invocation& invocation) {
  const std::optional<std::vector<v1::Budget>> budgets = AllBudgets(invocation);
  if (!budgets.has_value()) return;
  Table table = RuleTable();
  for (const v1::Budget& budget : *budgets) AddRules(budget, table);
  PrintRules(invocation, std::move(table), "No budget has a policy.");
}

}  // namespace

void AddPolicyCommands(CLI::App& app, Invocation& invocation) {
  CLI::App* policy =
      app.add_subcommand("policy", "What attempts must declare in the sessions below a budget");
  policy->require_subcommand(1);
  policy->fallthrough();
  policy->footer(
      "A policy is set when its budget is created, by `budget create --allow-sampler`,\n"
      "`--require-provenance`, `--allow-normalizer` and `--refuse-known-faults`, and never\n"
      "changes. Charges that violate it are refused: POLICY_VIOLATION.");

  auto name = std::make_shared<std::string>();
  CLI::App* get = policy->add_subcommand(
      "get", "The rules for the charges of a budget: its own and those of the budgets above");
  get->fallthrough();
  get->add_option("budget", *name, "BUDGET")->required();
  get->footer("Example:\n  epsctl policy get adult");
  get->callback([&invocation, name] { Get(invocation, *name); });

  CLI::App* list = policy->add_subcommand("list", "The rules of every budget that has any");
  list->fallthrough();
  list->footer("Example:\n  epsctl policy list -o csv");
  list->callback([&invocation] { ListRules(invocation); });
}

}  // namespace epsledger::cli
