#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "accounting/event/status_macros.h"
#include "client/cli/commands/all_budgets.h"
#include "client/cli/commands/commands.h"
#include "client/cli/flags/cap_delta.h"
#include "client/cli/flags/cap_flags.h"
#include "client/cli/flags/event_flags.h"
#include "client/cli/flags/label_flags.h"
#include "client/cli/flags/resource_file.h"
#include "client/cli/flags/resource_name.h"
#include "client/cli/print/answers.h"
#include "client/cli/print/live_view.h"
#include "client/cpp/budget_message.h"

namespace epsledger::cli {
namespace {

struct CreateFlags {
  std::string id;
  std::string file;
  std::string parent;
  CapFlags cap;
  EventFlags reference;
  NeighboringRelation relation = NeighboringRelation::kUnspecified;
  std::string privacy_unit;
  std::string display_name;
  std::string partition;
  std::vector<std::string> samplers;
  bool provenance_required = false;
  std::vector<std::string> normalizers;
  bool known_faults_refused = false;
  std::vector<std::string> labels;
  std::vector<double> thresholds;
};

// Replaces what the flags say in a budget that a file may have begun.
absl::Status SetBudget(const CreateFlags& flags, v1::Budget* budget) {
  ASSIGN_OR_RETURN(const Cap cap, flags.cap.ToCap());
  if (!std::holds_alternative<std::monostate>(cap)) *budget->mutable_cap() = ToMessage(cap);
  if (!budget->has_cap()) {
    return absl::InvalidArgumentError(
        "cap: got none, want for example --epsilon 1 --delta 1e-5: every budget has a cap");
  }
  RETURN_IF_ERROR(SetReference(flags.reference, budget->mutable_cap()));
  if (flags.relation != NeighboringRelation::kUnspecified) {
    budget->set_neighboring_relation(ToMessage(flags.relation));
  }
  if (budget->neighboring_relation() == v1::NeighboringRelation::KIND_UNSPECIFIED) {
    return absl::InvalidArgumentError(
        "--relation: got none, want for example add-or-remove-one: which data sets are neighbors");
  }
  if (!flags.privacy_unit.empty()) budget->set_privacy_unit(flags.privacy_unit);
  if (budget->privacy_unit().empty()) {
    return absl::InvalidArgumentError(
        "--privacy-unit: got none, want for example person: what one unit of the population is");
  }
  if (!flags.parent.empty()) {
    ASSIGN_OR_RETURN(const std::string parent, BudgetName(flags.parent));
    budget->set_parent(parent);
  }
  if (!flags.display_name.empty()) budget->set_display_name(flags.display_name);
  if (!flags.partition.empty()) budget->mutable_partition()->set_function(flags.partition);
  if (!flags.samplers.empty()) budget->mutable_policy()->clear_allowed_samplers();
  for (const std::string& sampler : flags.samplers) {
    budget->mutable_policy()->add_allowed_samplers(SamplerNamed(sampler));
  }
  if (flags.provenance_required) budget->mutable_policy()->set_provenance_required(true);
  if (!flags.normalizers.empty()) budget->mutable_policy()->clear_allowed_normalizers();
  for (const std::string& normalizer : flags.normalizers) {
    budget->mutable_policy()->add_allowed_normalizers(NormalizerNamed(normalizer));
  }
  if (flags.known_faults_refused) budget->mutable_policy()->set_known_faults_refused(true);
  RETURN_IF_ERROR(AddLabels(flags.labels, budget->mutable_labels()));
  if (!flags.thresholds.empty()) budget->clear_alert_thresholds();
  budget->mutable_alert_thresholds()->Add(flags.thresholds.begin(), flags.thresholds.end());
  return absl::OkStatus();
}

void Create(Invocation& invocation, const CreateFlags& flags) {
  v1::CreateBudgetRequest request;
  request.set_budget_id(flags.id.starts_with("budgets/") ? LastSegment(flags.id) : flags.id);
  v1::Budget* message = request.mutable_budget();
  absl::Status status;
  if (!flags.file.empty()) {
    status = ReadResourceFile(flags.file, invocation.terminal().in, message);
  }
  if (status.ok()) status = SetBudget(flags, message);
  if (!status.ok()) return invocation.Fail(status, CallKind::kRead);
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
  AddFileFlag(*create, flags->file);
  AddRelationFlag(*create, flags->relation);
  create
      ->add_option("--privacy-unit", flags->privacy_unit,
                   "what one unit of the population is: person, device-day, ...")
      ->type_name("WHAT");
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
  create
      ->add_option("--allow-normalizer", flags->normalizers,
                   "only attempts that declare that they divide noisy sums by this; may be "
                   "repeated")
      ->type_name("NORMALIZER")
      ->expected(1)
      ->take_all()
      ->check(CLI::IsMember(NormalizerNames()))
      ->group(policy);
  create
      ->add_flag("--refuse-known-faults", flags->known_faults_refused,
                 "refuse library versions whose accounting or sampler is known to be wrong")
      ->group(policy);
  AddLabelFlag(*create, flags->labels);
  AddThresholdFlag(*create, flags->thresholds);
  create->footer(
      "Examples:\n"
      "  epsctl budget create adult --epsilon 1 --delta 1e-5 \\\n"
      "      --relation add-or-remove-one --privacy-unit person\n"
      "  epsctl budget get adult -o json | epsctl budget create adult-copy --file -\n"
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
  AddBudgetRefusals(*budget, invocation);
  AddBudgetSpending(*budget, invocation);

  AddBudgetChanges(*budget, invocation);
}

}  // namespace epsledger::cli
