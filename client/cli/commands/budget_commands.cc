#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/cli/commands/all_budgets.h"
#include "client/cli/commands/commands.h"
#include "client/cli/flags/cap_delta.h"
#include "client/cli/flags/cap_flags.h"
#include "client/cli/flags/event_flags.h"
#include "client/cli/flags/label_flags.h"
#include "client/cli/flags/resource_name.h"
#include "client/cli/print/answers.h"
#include "client/cli/print/live_view.h"
#include "client/cpp/budget_message.h"

namespace epsledger::cli {
namespace {

struct CreateFlags {
  std::string id;
  std::string parent;
  CapFlags cap;
  EventFlags reference;
  NeighboringRelation relation = NeighboringRelation::kUnspecified;
  std::string privacy_unit;
  std::string display_name;
  std::string partition;
  std::vector<std::string> samplers;
  bool provenance_required = false;
  std::vector<std::string> labels;
  std::vector<double> thresholds;
};

void Create(Invocation& invocation, const CreateFlags& flags) {
  absl::StatusOr<Cap> cap = flags.cap.ToCap();
  if (!cap.ok()) return invocation.Fail(cap.status(), CallKind::kRead);
  if (std::holds_alternative<std::monostate>(*cap)) {
    return invocation.Fail(
        absl::InvalidArgumentError(
            "cap: got none, want for example --epsilon 1 --delta 1e-5: every budget has a cap"),
        CallKind::kRead);
  }
  v1::CreateBudgetRequest request = ToMessage(
      BudgetOptions{.id = flags.id.starts_with("budgets/") ? LastSegment(flags.id) : flags.id,
                    .parent = flags.parent,
                    .cap = *cap,
                    .neighboring_relation = flags.relation,
                    .privacy_unit = flags.privacy_unit,
                    .display_name = flags.display_name});
  v1::Budget* message = request.mutable_budget();
  if (absl::Status status = SetReference(flags.reference, message->mutable_cap()); !status.ok()) {
    return invocation.Fail(status, CallKind::kRead);
  }
  if (!flags.partition.empty()) message->mutable_partition()->set_function(flags.partition);
  for (const std::string& sampler : flags.samplers) {
    message->mutable_policy()->add_allowed_samplers(SamplerNamed(sampler));
  }
  if (flags.provenance_required) message->mutable_policy()->set_provenance_required(true);
  if (absl::Status status = AddLabels(flags.labels, message->mutable_labels()); !status.ok()) {
    return invocation.Fail(status, CallKind::kRead);
  }
  message->mutable_alert_thresholds()->Add(flags.thresholds.begin(), flags.thresholds.end());
  const auto budget =
      invocation.Call(&Connection::budgets, &v1::BudgetService::StubInterface::CreateBudget,
                      request, CallKind::kWrite);
  if (budget != nullptr) PrintBudget(invocation, *budget);
}

using Watched = std::optional<std::vector<std::string>>;

Watched Get(Invocation& invocation, const std::string& text) {
  const absl::StatusOr<std::string> name = BudgetName(text);
  if (!name.ok()) {
    invocation.Fail(name.status(), CallKind::kRead);
    return std::nullopt;
  }
  v1::GetBudgetRequest request;
  request.set_name(*name);
  const auto budget = invocation.Call(
      &Connection::budgets, &v1::BudgetService::StubInterface::GetBudget, request, CallKind::kRead);
  if (budget == nullptr) return std::nullopt;
  PrintBudget(invocation, *budget, invocation.IsForPeople() ? SpentSoFar(invocation, *budget) : "");
  return std::vector<std::string>{*name};
}

Watched List(Invocation& invocation) {
  const std::optional<std::vector<v1::Budget>> budgets = AllBudgets(invocation);
  if (!budgets.has_value()) return std::nullopt;
  std::vector<const v1::Budget*> shown;
  std::vector<std::string> roots;  // the changes of a root include those of all budgets below it
  for (const v1::Budget& budget : *budgets) {
    shown.push_back(&budget);
    if (budget.parent().empty()) roots.push_back(budget.name());
  }
  PrintBudgets(invocation, shown);
  return roots;
}

void AddBudgetCreate(CLI::App& budget, Invocation& invocation) {
  auto flags = std::make_shared<CreateFlags>();
  CLI::App* create = budget.add_subcommand(
      "create", "Create a budget. Its cap never changes; repeating the command is harmless.");
  create->fallthrough();
  create->add_option("budget", flags->id, "its name: [a-z0-9][a-z0-9._-]*")->required();
  flags->cap.AddTo(*create);
  flags->reference.AddEventTo(
      *create, "Reference (the step that most sessions repeat; the cap counts units of it)");
  AddRelationFlag(*create, flags->relation)->required();
  create
      ->add_option("--privacy-unit", flags->privacy_unit,
                   "what one unit of the population is: person, device-day, ...")
      ->type_name("WHAT")
      ->required();
  create
      ->add_option("--parent", flags->parent, "the budget above, which counts all its charges too")
      ->type_name("BUDGET");
  create->add_option("--display-name", flags->display_name, "for people")->type_name("TEXT");
  create
      ->add_option("--partition", flags->partition,
                   "declares that the children are disjoint: in words, the fixed public function "
                   "that assigns each unit to one of them")
      ->type_name("FUNCTION");
  const char* policy = "Policy";
  create
      ->add_option("--allow-sampler", flags->samplers,
                   "allow sampled events only from attempts that declare this sampler; may be "
                   "repeated")
      ->type_name("SAMPLER")
      ->expected(1)
      ->take_all()
      ->check(CLI::IsMember(SamplerNames()))
      ->group(policy);
  create
      ->add_flag("--require-provenance", flags->provenance_required,
                 "attempts must declare sampler, clip norm, library and version")
      ->group(policy);
  AddLabelFlag(*create, flags->labels);
  AddThresholdFlag(*create, flags->thresholds);
  create->footer(
      "Examples:\n"
      "  epsctl budget create adult --epsilon 1 --delta 1e-5 \\\n"
      "      --relation add-or-remove-one --privacy-unit person\n"
      "Example of a cap that promises a whole curve, that of 3000 steps:\n"
      "  epsctl budget create runs --units 3000 --delta 1e-5 \\\n"
      "      --gaussian 1.1 --sampling-probability .01 \\\n"
      "      --relation add-or-remove-one --privacy-unit person");
  create->callback([&invocation, flags] { Create(invocation, *flags); });
}

void AddBudgetGet(CLI::App& budget, Invocation& invocation) {
  auto name = std::make_shared<std::string>();
  auto live = std::make_shared<LiveFlags>();
  CLI::App* get = budget.add_subcommand("get", "Show a budget: its cap and how much is spent");
  get->fallthrough();
  get->add_option("budget", *name, "BUDGET or budgets/BUDGET")->required();
  live->AddTo(*get);
  get->footer(
      "Examples:\n"
      "  epsctl budget get adult\n"
      "  epsctl budget get adult --watch");
  get->callback([&invocation, name, live] {
    Show(invocation, *live, [name](Invocation& shown) { return Get(shown, *name); });
  });
}

void AddBudgetList(CLI::App& budget, Invocation& invocation) {
  auto live = std::make_shared<LiveFlags>();
  CLI::App* list = budget.add_subcommand("list", "List all budgets");
  list->fallthrough();
  live->AddTo(*list);
  list->footer(
      "Examples:\n"
      "  epsctl budget list -o csv\n"
      "  epsctl budget list --watch");
  list->callback([&invocation, live] { Show(invocation, *live, List); });
}

}  // namespace

void AddBudgetCommands(CLI::App& app, Invocation& invocation) {
  CLI::App* budget = app.add_subcommand("budget", "Caps over populations of privacy units");
  budget->require_subcommand(1);
  budget->fallthrough();
  AddBudgetCreate(*budget, invocation);
  AddBudgetGet(*budget, invocation);
  AddBudgetList(*budget, invocation);

  AddBudgetChanges(*budget, invocation);
}

}  // namespace epsledger::cli
