#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/cli/apply/budget_file.h"
#include "client/cli/apply/budget_step.h"
#include "client/cli/commands/all_budgets.h"
#include "client/cli/commands/commands.h"
#include "client/cli/confirmation.h"
#include "client/cli/files/input_file.h"
#include "client/cli/flags/resource_name.h"
#include "client/cli/print/answers.h"

namespace epsledger::cli {
namespace {

struct ApplyFlags {
  std::string file;
  bool plan = false;
  Confirmation confirmation;
};

using BudgetsByName = std::map<std::string, v1::Budget>;

// What a file and a server differ in.
struct ApplyPlan {
  std::vector<BudgetStep> steps;      // one per budget of the file, parents first
  std::vector<std::string> unlisted;  // budgets below those of the file, which it does not name
  size_t elsewhere = 0;               // other budgets that the file does not name

  size_t Count(bool (*is_counted)(const BudgetStep&)) const {
    return std::count_if(steps.begin(), steps.end(), is_counted);
  }
  size_t Conflicts() const {
    return Count([](const BudgetStep& step) { return !step.conflict.empty(); });
  }
  size_t Creates() const {
    return Count([](const BudgetStep& step) { return step.create.has_value(); });
  }
  size_t Changes() const {
    return Count([](const BudgetStep& step) { return !step.is_empty() && !step.create; });
  }
  size_t Drifts() const {
    return Count([](const BudgetStep& step) { return !step.drift.empty(); }) + unlisted.size();
  }
};

// What a server that was only asked said. Nothing: the call itself failed, which was told.
using Said = std::optional<absl::Status>;

// Asks the server, without a change, whether it would take the request.
template <class Request>
Said Ask(Invocation& invocation, Request request,
         grpc::Status (v1::BudgetService::StubInterface::*method)(grpc::ClientContext*,
                                                                  const Request&, v1::Budget*)) {
  request.set_validate_only(true);
  const absl::StatusOr<Connection*> connection = invocation.Connect();
  if (!connection.ok()) {
    invocation.Fail(connection.status(), CallKind::kRead);
    return std::nullopt;
  }
  const absl::Status status =
      (*connection)->Call((*connection)->budgets(), method, request).status();
  switch (status.code()) {
    case absl::StatusCode::kOk:
    case absl::StatusCode::kAlreadyExists:
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kFailedPrecondition:
    case absl::StatusCode::kNotFound:
    case absl::StatusCode::kPermissionDenied:
      return status;
    default:
      invocation.Fail(status, CallKind::kRead);
      return std::nullopt;
  }
}

// Asks whether the server would create the budget.
Said AskToCreate(Invocation& invocation, const v1::CreateBudgetRequest& request) {
  return Ask(invocation, request, &v1::BudgetService::StubInterface::CreateBudget);
}

// As AskToCreate, of a budget below one that the same file creates. The server knows the rest of it
// only, and not everybody may create a root.
Said AskToCreateBelow(Invocation& invocation, v1::CreateBudgetRequest request,
                      const v1::Budget& parent) {
  const v1::Budget& budget = request.budget();
  if (budget.neighboring_relation() != parent.neighboring_relation()) {
    return absl::InvalidArgumentError(
        absl::StrCat("neighboring_relation: got ",
                     v1::NeighboringRelation::Kind_Name(budget.neighboring_relation()),
                     ", want that of ", ShortName(parent.name()), ", ",
                     v1::NeighboringRelation::Kind_Name(parent.neighboring_relation())));
  }
  if (budget.privacy_unit() != parent.privacy_unit()) {
    return absl::InvalidArgumentError(absl::StrCat("privacy_unit: got \"", budget.privacy_unit(),
                                                   "\", want that of ", ShortName(parent.name()),
                                                   ", \"", parent.privacy_unit(), "\""));
  }
  request.mutable_budget()->clear_parent();
  Said said = AskToCreate(invocation, request);
  if (said.has_value() && absl::IsPermissionDenied(*said)) said = absl::OkStatus();
  return said;
}

// Asks about everything that the step of a budget that exists would do.
Said AskToChange(Invocation& invocation, const v1::Budget& wanted, const v1::Budget& existing,
                 const BudgetStep& step) {
  Said said = AskToCreate(invocation, SameBudgetRequest(wanted, existing));
  if (!said.has_value()) return said;
  if (absl::IsAlreadyExists(*said)) {
    return absl::AlreadyExistsError(
        absl::StrCat(std::string(said->message()), ": `epsctl budget supersede ",
                     ShortName(wanted.name()), "` makes a successor with another cap"));
  }
  if (said->ok() && step.update) {
    said = Ask(invocation, *step.update, &v1::BudgetService::StubInterface::UpdateBudget);
  }
  if (said.has_value() && said->ok() && step.guard) {
    said = Ask(invocation, *step.guard, &v1::BudgetService::StubInterface::SetApprovalPolicy);
  }
  return said;
}

// Returns the step for a budget with what the server says of it. `created` are the budgets of the
// file that do not exist yet.
std::optional<BudgetStep> CheckedStep(Invocation& invocation, const v1::Budget& wanted,
                                      const BudgetsByName& existing, const BudgetsByName& created) {
  const auto found = existing.find(wanted.name());
  const bool exists = found != existing.end();
  BudgetStep step = StepTo(wanted, exists ? &found->second : nullptr);
  if (!step.conflict.empty()) return step;
  Said said;
  if (exists) {
    said = AskToChange(invocation, wanted, found->second, step);
  } else if (const auto parent = created.find(wanted.parent()); parent != created.end()) {
    said = AskToCreateBelow(invocation, *step.create, parent->second);
  } else {
    said = AskToCreate(invocation, *step.create);
  }
  if (!said.has_value()) return std::nullopt;
  if (!said->ok()) step.conflict = std::string(said->message());
  return step;
}

// Returns whether a budget of the file is above `budget`.
bool IsBelowOneOf(const std::set<std::string>& names, const BudgetsByName& existing,
                  const v1::Budget& budget) {
  const v1::Budget* above = &budget;
  while (!above->parent().empty()) {
    if (names.count(above->parent()) > 0) return true;
    const auto parent = existing.find(above->parent());
    if (parent == existing.end()) return false;
    above = &parent->second;
  }
  return false;
}

std::optional<ApplyPlan> PlanOf(Invocation& invocation, const std::vector<v1::Budget>& wanted) {
  const std::optional<std::vector<v1::Budget>> all = AllBudgets(invocation);
  if (!all.has_value()) return std::nullopt;
  BudgetsByName existing;
  for (const v1::Budget& budget : *all) existing.emplace(budget.name(), budget);
  ApplyPlan plan;
  std::set<std::string> names;
  BudgetsByName created;
  for (const v1::Budget& budget : wanted) {
    std::optional<BudgetStep> step = CheckedStep(invocation, budget, existing, created);
    if (!step.has_value()) return std::nullopt;
    if (step->create) created.emplace(budget.name(), budget);
    plan.steps.push_back(*std::move(step));
    names.insert(budget.name());
  }
  for (const auto& [name, budget] : existing) {
    if (names.count(name) > 0 || budget.state() == v1::Budget::SUPERSEDED) continue;
    if (IsBelowOneOf(names, existing, budget)) {
      plan.unlisted.push_back(name);
    } else {
      ++plan.elsewhere;
    }
  }
  return plan;
}

const char* ActionOf(const BudgetStep& step) {
  if (!step.conflict.empty()) return "conflict";
  if (step.create) return "create";
  if (!step.is_empty()) return "change";
  return step.drift.empty() ? "as it is" : "drift";
}

std::string TextOf(const BudgetStep& step) {
  std::vector<std::string> texts = step.changes;
  if (!step.conflict.empty()) texts = {step.conflict};
  if (!step.drift.empty()) texts.push_back(step.drift);
  return absl::StrJoin(texts, "; ");
}

Tone ToneOf(const BudgetStep& step) {
  if (!step.conflict.empty()) return Tone::kBad;
  return step.is_empty() && step.drift.empty() ? Tone::kPlain : Tone::kWarning;
}

std::string SummaryOf(const ApplyPlan& plan) {
  std::string summary = absl::StrCat(plan.Creates(), " to create, ", plan.Changes(), " to change, ",
                                     plan.Conflicts(), " in conflict.");
  if (plan.elsewhere > 0) {
    absl::StrAppend(
        &summary, " ", plan.elsewhere,
        plan.elsewhere == 1 ? " other budget of the server is" : " other budgets of the server are",
        " in no tree of the file.");
  }
  return summary;
}

void PrintPlan(Invocation& invocation, const ApplyPlan& plan) {
  Table table({"budget", "action", "what"});
  for (const BudgetStep& step : plan.steps) {
    table.AddRow({NameCell(step.name), TableCell(ActionOf(step)).In(ToneOf(step)), TextOf(step)});
  }
  for (const std::string& name : plan.unlisted) {
    table.AddRow({NameCell(name), TableCell("not in the file").In(Tone::kWarning),
                  "a budget is never deleted: add it to the file, or close it"});
  }
  invocation.Print({.is_list = true, .table = std::move(table), .summary = SummaryOf(plan)});
}

// Makes the changes of one budget. Returns false if one failed, which was told.
bool Make(Invocation& invocation, const BudgetStep& step) {
  if (step.create &&
      invocation.Call(&Connection::budgets, &v1::BudgetService::StubInterface::CreateBudget,
                      *step.create, CallKind::kWrite) == nullptr) {
    return false;
  }
  if (step.update &&
      invocation.Call(&Connection::budgets, &v1::BudgetService::StubInterface::UpdateBudget,
                      *step.update, CallKind::kWrite) == nullptr) {
    return false;
  }
  return !step.guard ||
         invocation.Call(&Connection::budgets, &v1::BudgetService::StubInterface::SetApprovalPolicy,
                         *step.guard, CallKind::kWrite) != nullptr;
}

void MakeAll(Invocation& invocation, const ApplyPlan& plan) {
  size_t made = 0;
  const size_t wanted = plan.Creates() + plan.Changes();
  for (const BudgetStep& step : plan.steps) {
    if (step.is_empty()) continue;
    if (!Make(invocation, step)) {
      return invocation.Tell(absl::StrCat(made, " of ", wanted, " budgets were done before ",
                                          ShortName(step.name),
                                          ". The same command continues with the rest."));
    }
    ++made;
  }
  if (made > 0) invocation.Tell(absl::StrCat(made, " of ", wanted, " budgets done."));
}

void Apply(Invocation& invocation, const ApplyFlags& flags) {
  absl::StatusOr<std::string> text = ReadInput("--file", flags.file, invocation.terminal().in);
  if (!text.ok()) return invocation.Fail(text.status(), CallKind::kRead);
  const absl::StatusOr<std::vector<v1::Budget>> wanted = ReadBudgets(*text);
  if (!wanted.ok()) {
    return invocation.Fail(
        absl::InvalidArgumentError(
            absl::StrCat("--file ", flags.file, ": ", std::string(wanted.status().message()))),
        CallKind::kRead);
  }
  const std::optional<ApplyPlan> plan = PlanOf(invocation, *wanted);
  if (!plan.has_value()) return;
  PrintPlan(invocation, *plan);
  const size_t steps = plan->Creates() + plan->Changes();
  if (flags.plan || invocation.flags().dry_run) {
    const bool differs = steps + plan->Conflicts() + plan->Drifts() > 0;
    return invocation.set_exit_code(differs ? ExitCode::kFailed : ExitCode::kOk);
  }
  if (plan->Conflicts() > 0) {
    return invocation.Fail(
        absl::FailedPreconditionError("nothing was changed, because of the conflicts above"),
        CallKind::kRead);
  }
  if (steps == 0) return;
  if (!flags.confirmation.IsGiven(
          invocation, absl::StrCat(plan->Creates(), " budgets will be created, for good, and ",
                                   plan->Changes(), " changed"))) {
    return;
  }
  MakeAll(invocation, *plan);
}

}  // namespace

void AddApplyCommand(CLI::App& app, Invocation& invocation) {
  auto flags = std::make_shared<ApplyFlags>();
  CLI::App* apply = app.add_subcommand(
      "apply", "Make the budgets of the server what a file says, or show how they differ");
  apply->fallthrough();
  apply
      ->add_option("-f,--file", flags->file,
                   "a YAML or JSON list of budgets with the fields of `budget get -o json` (- for "
                   "standard input)")
      ->type_name("FILE")
      ->required();
  apply->add_flag("--plan", flags->plan,
                  "change nothing: show the difference, and end with 1 if there is one");
  flags->confirmation.AddTo(*apply);
  apply->footer(
      "A file names budgets with their caps, relations and units, which never change, and with\n"
      "their labels, thresholds, display names and guarded changes, which become those of the\n"
      "file. Budgets are created and never deleted. With a conflict, nothing is changed.\n"
      "Examples:\n"
      "  epsctl budget tree organisation -o json | epsctl apply -f - --plan\n"
      "  epsctl budget tree organisation -o json | epsctl apply -f - --yes");
  apply->callback([&invocation, flags] { Apply(invocation, *flags); });
}

}  // namespace epsledger::cli
