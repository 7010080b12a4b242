#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/cli/commands/commands.h"
#include "client/cli/confirmation.h"
#include "client/cli/flags/cap_delta.h"
#include "client/cli/flags/cap_flags.h"
#include "client/cli/flags/label_flags.h"
#include "client/cli/flags/resource_name.h"
#include "client/cli/print/answers.h"
#include "client/cpp/budget_message.h"

namespace epsledger::cli {
namespace {

struct PhaseFlags {
  std::string budget;
  std::string reason;
  Confirmation confirmation;
};

// `freeze`, `thaw` and `close` differ in their request, and in whether they can be undone.
template <class Request>
void AddPhaseChange(CLI::App& budget, Invocation& invocation, const char* verb, const char* what,
                    bool for_good,
                    grpc::Status (v1::BudgetService::StubInterface::*method)(grpc::ClientContext*,
                                                                             const Request&,
                                                                             v1::Budget*)) {
  auto flags = std::make_shared<PhaseFlags>();
  CLI::App* command = budget.add_subcommand(verb, what);
  command->fallthrough();
  command->add_option("budget", flags->budget, "BUDGET")->required();
  command->add_option("--reason", flags->reason, "for the auditor")->type_name("TEXT")->required();
  if (for_good) flags->confirmation.AddTo(*command);
  command->footer(absl::StrCat("Example:\n  epsctl budget ", verb, " adult --reason \"DPO-417\"",
                               for_good ? " --yes" : ""));
  command->callback([&invocation, flags, method, for_good] {
    const absl::StatusOr<std::string> name = BudgetName(flags->budget);
    if (!name.ok()) return invocation.Fail(name.status(), CallKind::kRead);
    if (for_good &&
        !flags->confirmation.IsGiven(invocation, absl::StrCat(*name,
                                                              " will be closed for good, and every "
                                                              "session below it refused"))) {
      return;
    }
    Request request;
    request.set_name(*name);
    request.set_reason(flags->reason);
    const auto changed = invocation.Call(&Connection::budgets, method, request, CallKind::kWrite);
    if (changed != nullptr) PrintBudget(invocation, *changed);
  });
}

struct SupersedeFlags {
  std::string budget;
  std::string successor;
  CapFlags cap;
  EventFlags reference;
  std::string reason;
  Confirmation confirmation;
};

void Supersede(Invocation& invocation, const SupersedeFlags& flags) {
  const absl::StatusOr<std::string> name = BudgetName(flags.budget);
  if (!name.ok()) return invocation.Fail(name.status(), CallKind::kRead);
  const absl::StatusOr<Cap> cap = flags.cap.ToCap();
  if (!cap.ok()) return invocation.Fail(cap.status(), CallKind::kRead);
  if (std::holds_alternative<std::monostate>(*cap)) {
    return invocation.Fail(
        absl::InvalidArgumentError(
            "cap: got none, want the successor's, for example --epsilon 2 --delta 1e-5"),
        CallKind::kRead);
  }
  if (!flags.confirmation.IsGiven(invocation,
                                  absl::StrCat(*name, " will be replaced by ", flags.successor,
                                               ": its guarantee is void, and its sessions end"))) {
    return;
  }
  v1::SupersedeBudgetRequest request;
  request.set_name(*name);
  request.set_successor_id(LastSegment(flags.successor));
  *request.mutable_cap() = ToMessage(*cap);
  if (absl::Status status = SetReference(flags.reference, request.mutable_cap()); !status.ok()) {
    return invocation.Fail(status, CallKind::kRead);
  }
  request.set_reason(flags.reason);
  const auto successor =
      invocation.Call(&Connection::budgets, &v1::BudgetService::StubInterface::SupersedeBudget,
                      request, CallKind::kWrite);
  if (successor != nullptr) PrintBudget(invocation, *successor);
}

struct UpdateFlags {
  std::string budget;
  CLI::Option* display_name_option = nullptr;
  std::string display_name;
  CLI::Option* labels_option = nullptr;
  std::vector<std::string> labels;
  CLI::Option* thresholds_option = nullptr;
  std::vector<double> thresholds;
};

void Update(Invocation& invocation, const UpdateFlags& flags) {
  const absl::StatusOr<std::string> name = BudgetName(flags.budget);
  if (!name.ok()) return invocation.Fail(name.status(), CallKind::kRead);
  v1::UpdateBudgetRequest request;
  v1::Budget* budget = request.mutable_budget();
  budget->set_name(*name);
  if (flags.display_name_option->count() > 0) {
    request.mutable_update_mask()->add_paths("display_name");
    budget->set_display_name(flags.display_name);
  }
  if (flags.labels_option->count() > 0) {
    request.mutable_update_mask()->add_paths("labels");
    if (absl::Status status = AddLabels(flags.labels, budget->mutable_labels()); !status.ok()) {
      return invocation.Fail(status, CallKind::kRead);
    }
  }
  if (flags.thresholds_option->count() > 0) {
    request.mutable_update_mask()->add_paths("alert_thresholds");
    budget->mutable_alert_thresholds()->Add(flags.thresholds.begin(), flags.thresholds.end());
  }
  const auto updated =
      invocation.Call(&Connection::budgets, &v1::BudgetService::StubInterface::UpdateBudget,
                      request, CallKind::kWrite);
  if (updated != nullptr) PrintBudget(invocation, *updated);
}

void PrintTree(Invocation& invocation, const std::string& text) {
  const absl::StatusOr<std::string> name = BudgetName(text);
  if (!name.ok()) return invocation.Fail(name.status(), CallKind::kRead);
  v1::GetBudgetTreeRequest request;
  request.set_name(*name);
  request.set_page_size(1000);
  std::vector<std::unique_ptr<v1::GetBudgetTreeResponse>> pages;
  std::vector<const v1::Budget*> budgets;
  do {
    pages.push_back(invocation.Call(&Connection::budgets,
                                    &v1::BudgetService::StubInterface::GetBudgetTree, request,
                                    CallKind::kRead));
    if (pages.back() == nullptr) return;
    for (const v1::Budget& budget : pages.back()->budgets()) budgets.push_back(&budget);
    request.set_page_token(pages.back()->next_page_token());
  } while (!request.page_token().empty());
  PrintBudgetTree(invocation, budgets);
}

struct GuaranteeFlags {
  std::string budget;
  std::optional<double> delta;
  std::string group;
};

void PrintGuarantees(Invocation& invocation, const GuaranteeFlags& flags) {
  const absl::StatusOr<std::string> name = BudgetName(flags.budget);
  if (!name.ok()) return invocation.Fail(name.status(), CallKind::kRead);
  const absl::StatusOr<Connection*> connection = invocation.Connect();
  if (!connection.ok()) return invocation.Fail(connection.status(), CallKind::kRead);
  const absl::StatusOr<double> delta = SaidOrCapDelta(**connection, flags.delta, *name);
  if (!delta.ok()) return invocation.Fail(delta.status(), CallKind::kRead);
  v1::GetBudgetGuaranteesRequest request;
  request.set_name(*name);
  request.set_delta(*delta);
  request.set_group(flags.group);
  const auto response =
      invocation.Call(&Connection::budgets, &v1::BudgetService::StubInterface::GetBudgetGuarantees,
                      request, CallKind::kRead);
  if (response != nullptr) PrintReadings(invocation, response->readings());
}

void AddBudgetSupersede(CLI::App& budget, Invocation& invocation) {
  auto superseded = std::make_shared<SupersedeFlags>();
  CLI::App* supersede = budget.add_subcommand(
      "supersede",
      "Replace a budget by one with another cap, which starts with everything spent so far; the "
      "old guarantee is void");
  supersede->fallthrough();
  supersede->add_option("budget", superseded->budget, "BUDGET")->required();
  supersede->add_option("successor", superseded->successor, "the name of the new budget")
      ->required();
  superseded->cap.AddTo(*supersede);
  superseded->reference.AddEventTo(*supersede,
                                   "Reference of --units (default: that of the superseded budget)");
  supersede->add_option("--reason", superseded->reason, "for the auditor")
      ->type_name("TEXT")
      ->required();
  superseded->confirmation.AddTo(*supersede);
  supersede->footer(
      "Example:\n"
      "  epsctl budget supersede adult adult-2 --epsilon 6 --delta 1e-5 \\\n"
      "      --reason \"DPO-417\" --yes");
  supersede->callback([&invocation, superseded] { Supersede(invocation, *superseded); });
}

void AddBudgetUpdate(CLI::App& budget, Invocation& invocation) {
  auto updated = std::make_shared<UpdateFlags>();
  CLI::App* update = budget.add_subcommand(
      "update", "Change the display name, the labels or the alert thresholds");
  update->fallthrough();
  update->add_option("budget", updated->budget, "BUDGET")->required();
  updated->display_name_option =
      update->add_option("--display-name", updated->display_name, "for people")->type_name("TEXT");
  updated->labels_option = AddLabelFlag(*update, updated->labels);
  updated->thresholds_option = AddThresholdFlag(*update, updated->thresholds);
  update->footer("Example:\n  epsctl budget update adult --label team=vision --alert-at 0.5,0.9");
  update->callback([&invocation, updated] { Update(invocation, *updated); });
}

void AddBudgetTree(CLI::App& budget, Invocation& invocation) {
  auto root = std::make_shared<std::string>();
  CLI::App* tree = budget.add_subcommand("tree", "A budget with its descendants, parents first");
  tree->fallthrough();
  tree->add_option("budget", *root, "BUDGET")->required();
  tree->footer("Example:\n  epsctl budget tree organisation");
  tree->callback([&invocation, root] { PrintTree(invocation, *root); });
}

void AddBudgetGuarantees(CLI::App& budget, Invocation& invocation) {
  auto read = std::make_shared<GuaranteeFlags>();
  CLI::App* guarantees = budget.add_subcommand(
      "guarantees", "What all sessions below have spent together, under every accountant");
  guarantees->fallthrough();
  guarantees->add_option("budget", read->budget, "BUDGET")->required();
  AddReadingDelta(*guarantees, read->delta);
  guarantees->add_option("--group", read->group, "only the sessions of this group")
      ->type_name("GROUP");
  guarantees->footer(
      "Examples:\n"
      "  epsctl budget guarantees adult\n"
      "  epsctl budget guarantees adult --delta 1e-6 --group sweep-1");
  guarantees->callback([&invocation, read] { PrintGuarantees(invocation, *read); });
}

}  // namespace

void AddBudgetChanges(CLI::App& budget, Invocation& invocation) {
  AddPhaseChange<v1::FreezeBudgetRequest>(budget, invocation, "freeze",
                                          "Refuse all charges of the sessions below, until thawed",
                                          false, &v1::BudgetService::StubInterface::FreezeBudget);
  AddPhaseChange<v1::ThawBudgetRequest>(budget, invocation, "thaw",
                                        "Allow charges to a frozen budget again", false,
                                        &v1::BudgetService::StubInterface::ThawBudget);
  AddPhaseChange<v1::CloseBudgetRequest>(budget, invocation, "close",
                                         "Refuse all charges of the sessions below, for good", true,
                                         &v1::BudgetService::StubInterface::CloseBudget);

  AddGuardCommand(budget, invocation);
  AddBudgetSupersede(budget, invocation);
  AddBudgetUpdate(budget, invocation);
  AddBudgetTree(budget, invocation);
  AddBudgetGuarantees(budget, invocation);
}

}  // namespace epsledger::cli
