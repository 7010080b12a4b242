#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/cli/cap_flags.h"
#include "client/cli/commands.h"
#include "client/cli/resource_name.h"
#include "client/cpp/budget_message.h"

namespace epsledger::cli {
namespace {

Table BudgetTable(const std::vector<const v1::Budget*>& budgets) {
  Table table({"name", "state", "cap", "spent %", "accepted", "refused", "relation", "privacy unit",
               "parent", "display name", "theorem"});
  for (const v1::Budget* budget : budgets) {
    table.AddRow({budget->name(), v1::Budget::State_Name(budget->state()),
                  DescribeCap(budget->cap()), Cell(100 * budget->spent_fraction(), Rounding::kUp),
                  budget->accepted_charge_count(), budget->refused_charge_count(),
                  v1::NeighboringRelation::Kind_Name(budget->neighboring_relation()),
                  budget->privacy_unit(), budget->parent(), budget->display_name(),
                  budget->theorem()});
  }
  return table;
}

// The columns that fit on a line; csv and json have all of them.
Table ShortBudgetTable(const std::vector<const v1::Budget*>& budgets) {
  Table table({"name", "state", "cap", "spent %", "accepted", "refused"});
  for (const v1::Budget* budget : budgets) {
    table.AddRow({budget->name(), v1::Budget::State_Name(budget->state()),
                  DescribeCap(budget->cap()), Cell(100 * budget->spent_fraction(), Rounding::kUp),
                  budget->accepted_charge_count(), budget->refused_charge_count()});
  }
  return table;
}

void PrintBudget(Invocation& invocation, const v1::Budget& budget) {
  const Table cells = CellTable(budget.cells());
  invocation.Print({.messages = {&budget}, .table = BudgetTable({&budget}), .below = &cells});
}

struct CreateFlags {
  std::string id;
  std::string parent;
  CapFlags cap;
  NeighboringRelation relation = NeighboringRelation::kUnspecified;
  std::string privacy_unit;
  std::string display_name;
};

void Create(Invocation& invocation, const CreateFlags& flags) {
  absl::StatusOr<Cap> cap = flags.cap.ToCap();
  if (!cap.ok()) return invocation.Fail(cap.status(), CallKind::kRead);
  if (std::holds_alternative<std::monostate>(*cap)) {
    return invocation.Fail(
        absl::InvalidArgumentError("cap: got none, want for example --epsilon 1 --delta 1e-5: a "
                                   "budget without a cap is no budget"),
        CallKind::kRead);
  }
  const v1::CreateBudgetRequest request = ToMessage(
      BudgetOptions{.id = flags.id.starts_with("budgets/") ? LastSegment(flags.id) : flags.id,
                    .parent = flags.parent,
                    .cap = *cap,
                    .neighboring_relation = flags.relation,
                    .privacy_unit = flags.privacy_unit,
                    .display_name = flags.display_name});
  const auto budget =
      invocation.Call(&Connection::budgets, &v1::BudgetService::StubInterface::CreateBudget,
                      request, CallKind::kWrite);
  if (budget != nullptr) PrintBudget(invocation, *budget);
}

void Get(Invocation& invocation, const std::string& text) {
  const absl::StatusOr<std::string> name = BudgetName(text);
  if (!name.ok()) return invocation.Fail(name.status(), CallKind::kRead);
  v1::GetBudgetRequest request;
  request.set_name(*name);
  const auto budget = invocation.Call(
      &Connection::budgets, &v1::BudgetService::StubInterface::GetBudget, request, CallKind::kRead);
  if (budget != nullptr) PrintBudget(invocation, *budget);
}

void List(Invocation& invocation) {
  std::vector<std::unique_ptr<v1::ListBudgetsResponse>> pages;
  std::vector<const v1::Budget*> budgets;
  v1::ListBudgetsRequest request;
  request.set_page_size(1000);
  do {
    auto page =
        invocation.Call(&Connection::budgets, &v1::BudgetService::StubInterface::ListBudgets,
                        request, CallKind::kRead);
    if (page == nullptr) return;
    for (const v1::Budget& budget : page->budgets()) budgets.push_back(&budget);
    request.set_page_token(page->next_page_token());
    pages.push_back(std::move(page));
  } while (!request.page_token().empty());
  invocation.Print(
      {.messages = {budgets.begin(), budgets.end()},
       .is_list = true,
       .table = invocation.IsForPeople() ? ShortBudgetTable(budgets) : BudgetTable(budgets)});
}

}  // namespace

Table CellTable(const google::protobuf::RepeatedPtrField<v1::CellBalance>& cells) {
  Table table({"quantity", "order", "cap", "spent", "remaining"});
  for (const v1::CellBalance& cell : cells) {
    const int digits = DigitsForSpent(cell.spent(), cell.cap());
    const bool has_order = cell.quantity() == v1::CellBalance::RENYI_DIVERGENCE;
    table.AddRow({v1::CellBalance::Quantity_Name(cell.quantity()),
                  has_order ? Cell(cell.order(), Rounding::kDown) : Cell(""),
                  Cell(cell.cap(), Rounding::kDown, digits),
                  Cell(cell.spent(), Rounding::kUp, digits),
                  Cell(cell.remaining(), Rounding::kDown)});
  }
  return table;
}

void AddBudgetCommands(CLI::App& app, Invocation& invocation) {
  CLI::App* budget = app.add_subcommand("budget", "Caps over populations of privacy units");
  budget->require_subcommand(1);
  budget->fallthrough();

  auto flags = std::make_shared<CreateFlags>();
  CLI::App* create = budget->add_subcommand(
      "create",
      "Create a budget. It never changes afterwards; the same command twice is harmless.");
  create->fallthrough();
  create->add_option("budget", flags->id, "its name: [a-z0-9][a-z0-9._-]*")->required();
  flags->cap.AddTo(*create);
  AddRelationFlag(*create, flags->relation)->required();
  create
      ->add_option("--privacy-unit", flags->privacy_unit,
                   "what one unit of the population is: person, device-day, ...")
      ->type_name("WHAT")
      ->required();
  create->add_option("--parent", flags->parent, "the budget that all its charges also enter")
      ->type_name("BUDGET");
  create->add_option("--display-name", flags->display_name, "for people")->type_name("TEXT");
  create->footer(
      "Example:\n"
      "  epsctl budget create adult --epsilon 1 --delta 1e-5 \\\n"
      "      --relation add-or-remove-one --privacy-unit person");
  create->callback([&invocation, flags] { Create(invocation, *flags); });

  auto name = std::make_shared<std::string>();
  CLI::App* get = budget->add_subcommand("get", "Show a budget: its cap and how much is spent");
  get->fallthrough();
  get->add_option("budget", *name, "BUDGET or budgets/BUDGET")->required();
  get->callback([&invocation, name] { Get(invocation, *name); });

  CLI::App* list = budget->add_subcommand("list", "List all budgets");
  list->fallthrough();
  list->callback([&invocation] { List(invocation); });
}

}  // namespace epsledger::cli
