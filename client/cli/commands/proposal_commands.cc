#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <google/protobuf/util/json_util.h>
#include <google/protobuf/util/time_util.h>

#include "absl/random/random.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "accounting/event/status_macros.h"
#include "client/cli/commands/all_budgets.h"
#include "client/cli/commands/commands.h"
#include "client/cli/confirmation.h"
#include "client/cli/flags/cap_flags.h"
#include "client/cli/flags/resource_name.h"
#include "client/cli/print/answers.h"
#include "client/cpp/budget_message.h"
#include "epsledger/v1/proposal_service.pb.h"
#include "proto/bridge/printable.h"

namespace epsledger::cli {
namespace {

using google::protobuf::util::TimeUtil;

std::map<std::string, v1::ApprovalPolicy::Change> GuardedChanges() {
  return {{"supersede", v1::ApprovalPolicy::SUPERSEDE},
          {"close", v1::ApprovalPolicy::CLOSE},
          {"thaw", v1::ApprovalPolicy::THAW},
          {"lift-quarantine", v1::ApprovalPolicy::LIFT_QUARANTINE}};
}

std::string PolicyText(const v1::ApprovalPolicy& policy) {
  std::vector<std::string> names;
  for (const auto& [name, change] : GuardedChanges()) {
    for (const int guarded : policy.guarded()) {
      if (guarded == change) names.push_back(name);
    }
  }
  return names.empty() ? "nothing" : absl::StrJoin(names, ", ");
}

// The fields of the message that are set, as JSON.
std::string WhatIsSet(const google::protobuf::Message& message) {
  std::string json;
  const auto status = google::protobuf::util::MessageToJsonString(message, &json);
  return status.ok() ? json : "with fields that cannot be shown";
}

std::string ChangeText(const v1::Proposal& proposal) {
  switch (proposal.change_case()) {
    case v1::Proposal::kCreateChild: {
      // Everything that is asked for: the cap in words, the rest as it was proposed.
      v1::Budget rest = proposal.create_child().budget();
      rest.clear_cap();
      rest.clear_parent();
      return absl::StrCat("create ", proposal.create_child().budget_id(), " below it, ",
                          DescribeCap(proposal.create_child().budget().cap()), ", ",
                          WhatIsSet(rest));
    }
    case v1::Proposal::kSupersede:
      return absl::StrCat("supersede it by ", proposal.supersede().successor_id(), ", ",
                          DescribeCap(proposal.supersede().cap()));
    case v1::Proposal::kClose:
      return "close it";
    case v1::Proposal::kThaw:
      return "thaw it";
    case v1::Proposal::kSetApprovalPolicy:
      return absl::StrCat("guard ", PolicyText(proposal.set_approval_policy()));
    case v1::Proposal::CHANGE_NOT_SET:
      break;
  }
  return "a change that this version does not know";
}

Table ProposalTable(const std::vector<const v1::Proposal*>& proposals) {
  Table table(
      {"name", "sequence", "change", "reason", "proposed by", "state", "until", "resolved by"});
  table.IfRoom({"sequence", "until", "resolved by"}).MayCut({"change", "reason", "proposed by"});
  for (const v1::Proposal* proposal : proposals) {
    table.AddRow({proposal->name(), absl::StrCat(proposal->sequence()), ChangeText(*proposal),
                  proposal->reason(), proposal->proposed_by(),
                  v1::Proposal::State_Name(proposal->state()),
                  TimeUtil::ToString(proposal->expire_time()), proposal->resolved_by()});
  }
  return table;
}

void Print(Invocation& invocation, const v1::Proposal& proposal) {
  invocation.Print({.messages = {&proposal}, .table = ProposalTable({&proposal})});
}

struct ProposeFlags {
  std::string budget;
  std::string other;  // the child or the successor
  std::string id;
  std::string reason;
  CapFlags cap;
  EventFlags reference;
  std::vector<std::string> guarded;
};

// Returns nullptr, after it printed the failure, if no such budget exists.
std::unique_ptr<v1::Budget> GetBudget(Invocation& invocation, const std::string& name) {
  v1::GetBudgetRequest request;
  request.set_name(name);
  return invocation.Call(&Connection::budgets, &v1::BudgetService::StubInterface::GetBudget,
                         request, CallKind::kRead);
}

absl::Status SetCap(const ProposeFlags& flags, v1::Cap* message) {
  ASSIGN_OR_RETURN(const Cap cap, flags.cap.ToCap());
  if (std::holds_alternative<std::monostate>(cap)) {
    return absl::InvalidArgumentError("cap: got none, want for example --epsilon 2 --delta 1e-5");
  }
  *message = ToMessage(cap);
  return SetReference(flags.reference, message);
}

// Makes a proposal; `fill`, absl::Status(const std::string& budget, v1::Proposal&), adds its
// content.
template <class Fill>
void Propose(Invocation& invocation, const ProposeFlags& flags, const std::string& verb,
             const Fill& fill) {
  const absl::StatusOr<std::string> name = BudgetName(flags.budget);
  if (!name.ok()) return invocation.Fail(name.status(), CallKind::kRead);
  v1::CreateProposalRequest request;
  request.set_parent(*name);
  absl::BitGen random;
  request.set_proposal_id(flags.id.empty()
                              ? absl::StrFormat("%s-%08x", verb, absl::Uniform<uint32_t>(random))
                              : LastSegment(flags.id));
  request.mutable_proposal()->set_reason(flags.reason);
  if (absl::Status status = fill(*name, *request.mutable_proposal()); !status.ok()) {
    return invocation.Fail(status, CallKind::kRead);
  }
  const auto proposal =
      invocation.Call(&Connection::proposals, &v1::ProposalService::StubInterface::CreateProposal,
                      request, CallKind::kWrite);
  if (proposal != nullptr) Print(invocation, *proposal);
}

CLI::App* AddProposing(CLI::App& proposal, const char* verb, const char* what,
                       const std::shared_ptr<ProposeFlags>& flags) {
  CLI::App* command = proposal.add_subcommand(verb, what);
  command->fallthrough();
  command->add_option("budget", flags->budget, "BUDGET")->required();
  command->add_option("--reason", flags->reason, "for the auditor")->type_name("TEXT")->required();
  command->add_option("--id", flags->id, "the proposal's name; repeating it is harmless")
      ->type_name("ID");
  return command;
}

void AddProposals(CLI::App& proposal, Invocation& invocation) {
  for (const bool closes : {true, false}) {
    auto flags = std::make_shared<ProposeFlags>();
    const char* verb = closes ? "close" : "thaw";
    CLI::App* command = AddProposing(
        proposal, verb, closes ? "Propose to close a budget" : "Propose to thaw a budget", flags);
    command->footer(absl::StrCat("Example:\n  epsctl proposal ", verb,
                                 closes ? " adult" : " paused", " --reason \"DPO-417\""));
    command->callback([&invocation, flags, verb, closes] {
      Propose(invocation, *flags, verb, [&](const std::string&, v1::Proposal& message) {
        if (closes) {
          message.mutable_close();
        } else {
          message.mutable_thaw();
        }
        return absl::OkStatus();
      });
    });
  }

  auto superseded = std::make_shared<ProposeFlags>();
  CLI::App* supersede = AddProposing(
      proposal, "supersede",
      "Propose another cap: a successor that starts with everything spent so far", superseded);
  supersede->add_option("successor", superseded->other, "the name of the new budget")->required();
  superseded->cap.AddTo(*supersede);
  superseded->reference.AddEventTo(*supersede,
                                   "Reference of --units (default: that of the superseded budget)");
  supersede->footer(
      "Example:\n"
      "  epsctl proposal supersede adult adult-2 --epsilon 6 --delta 1e-5 \\\n"
      "      --reason \"a second model\"");
  supersede->callback([&invocation, superseded] {
    Propose(invocation, *superseded, "supersede", [&](const std::string&, v1::Proposal& message) {
      message.mutable_supersede()->set_successor_id(LastSegment(superseded->other));
      return SetCap(*superseded, message.mutable_supersede()->mutable_cap());
    });
  });

  auto made = std::make_shared<ProposeFlags>();
  CLI::App* create = AddProposing(
      proposal, "create", "Propose a budget below another one, with its privacy unit", made);
  create->add_option("child", made->other, "the name of the new budget")->required();
  made->cap.AddTo(*create);
  made->reference.AddEventTo(
      *create, "Reference (the step that most sessions repeat; the cap counts units of it)");
  create->footer(
      "Example:\n"
      "  epsctl proposal create adult team-a --epsilon .5 --delta 1e-6 \\\n"
      "      --reason \"a share for team A\"");
  create->callback([&invocation, made] {
    const absl::StatusOr<std::string> name = BudgetName(made->budget);
    if (!name.ok()) return invocation.Fail(name.status(), CallKind::kRead);
    const auto parent = GetBudget(invocation, *name);
    if (parent == nullptr) return;
    Propose(invocation, *made, "create", [&](const std::string& budget, v1::Proposal& message) {
      v1::Proposal::Child& child = *message.mutable_create_child();
      child.set_budget_id(LastSegment(made->other));
      child.mutable_budget()->set_parent(budget);
      child.mutable_budget()->set_neighboring_relation(parent->neighboring_relation());
      child.mutable_budget()->set_privacy_unit(parent->privacy_unit());
      return SetCap(*made, child.mutable_budget()->mutable_cap());
    });
  });
}

void SetPolicy(Invocation& invocation, const ProposeFlags& flags, bool propose) {
  v1::ApprovalPolicy policy;
  const auto changes = GuardedChanges();
  for (const std::string& name : flags.guarded) policy.add_guarded(changes.at(name));
  if (propose) {
    return Propose(invocation, flags, "guard", [&](const std::string&, v1::Proposal& message) {
      *message.mutable_set_approval_policy() = policy;
      return absl::OkStatus();
    });
  }
  const absl::StatusOr<std::string> name = BudgetName(flags.budget);
  if (!name.ok()) return invocation.Fail(name.status(), CallKind::kRead);
  v1::SetApprovalPolicyRequest request;
  request.set_name(*name);
  *request.mutable_policy() = policy;
  const auto budget =
      invocation.Call(&Connection::budgets, &v1::BudgetService::StubInterface::SetApprovalPolicy,
                      request, CallKind::kWrite);
  if (budget != nullptr) PrintBudget(invocation, *budget);
}

void AddGuarding(CLI::App& command, const std::shared_ptr<ProposeFlags>& flags) {
  command
      .add_option("--change", flags->guarded,
                  "a change that needs two people: supersede, close, thaw, lift-quarantine; "
                  "default: none")
      ->type_name("CHANGE")
      ->delimiter(',')
      ->check(CLI::IsMember(GuardedChanges()));
}

struct ListFlags {
  std::string budget;
  bool all = false;
};

void List(Invocation& invocation, const ListFlags& flags) {
  std::vector<std::string> tops;
  if (!flags.budget.empty()) {
    const absl::StatusOr<std::string> name = BudgetName(flags.budget);
    if (!name.ok()) return invocation.Fail(name.status(), CallKind::kRead);
    tops.push_back(*name);
  } else {
    const std::optional<std::vector<v1::Budget>> budgets = AllBudgets(invocation);
    if (!budgets.has_value()) return;
    for (const v1::Budget& budget : *budgets) {
      if (budget.parent().empty()) tops.push_back(budget.name());
    }
  }
  std::vector<std::unique_ptr<v1::ListProposalsResponse>> pages;
  std::vector<const v1::Proposal*> proposals;
  for (const std::string& top : tops) {
    v1::ListProposalsRequest request;
    request.set_parent(top);
    request.set_page_size(1000);
    request.set_pending_only(!flags.all);
    do {
      auto page = invocation.Call(&Connection::proposals,
                                  &v1::ProposalService::StubInterface::ListProposals, request,
                                  CallKind::kRead);
      if (page == nullptr) return;
      for (const v1::Proposal& proposal : page->proposals()) proposals.push_back(&proposal);
      request.set_page_token(page->next_page_token());
      pages.push_back(std::move(page));
    } while (!request.page_token().empty());
  }
  invocation.Print({.messages = {proposals.begin(), proposals.end()},
                    .is_list = true,
                    .table = ProposalTable(proposals)});
}

struct ResolveFlags {
  std::string name;
  std::string reason;
  std::optional<int64_t> sequence;  // approve
  Confirmation confirmation;
};

void Approve(Invocation& invocation, const ResolveFlags& flags) {
  v1::GetProposalRequest get;
  get.set_name(flags.name);
  const auto proposal =
      invocation.Call(&Connection::proposals, &v1::ProposalService::StubInterface::GetProposal, get,
                      CallKind::kRead);
  if (proposal == nullptr) return;
  if (flags.confirmation.is_given_before() && !flags.sequence.has_value()) {
    return invocation.FailOffline(absl::InvalidArgumentError(
        "--sequence: got nothing, want with --yes the sequence number of the proposal that you "
        "have read (`epsctl proposal list` shows it)"));
  }
  if (!flags.confirmation.IsGiven(
          invocation,
          absl::StrCat(flags.name, ", sequence number ", proposal->sequence(), ", of ",
                       proposal->proposed_by(), " will be approved: ", ChangeText(*proposal),
                       "; their reason: \"",
                       absl::Utf8SafeCEscape(bridge::Printable(proposal->reason())), "\""))) {
    return;
  }
  v1::ApproveProposalRequest request;
  request.set_name(flags.name);
  request.set_reason(flags.reason);
  request.set_sequence(flags.sequence.value_or(proposal->sequence()));
  const auto approved =
      invocation.Call(&Connection::proposals, &v1::ProposalService::StubInterface::ApproveProposal,
                      request, CallKind::kWrite);
  if (approved != nullptr) Print(invocation, *approved);
}

void Reject(Invocation& invocation, const ResolveFlags& flags) {
  v1::RejectProposalRequest request;
  request.set_name(flags.name);
  request.set_reason(flags.reason);
  const auto rejected =
      invocation.Call(&Connection::proposals, &v1::ProposalService::StubInterface::RejectProposal,
                      request, CallKind::kWrite);
  if (rejected != nullptr) Print(invocation, *rejected);
}

}  // namespace

void AddProposalCommands(CLI::App& app, Invocation& invocation) {
  CLI::App* proposal =
      app.add_subcommand("proposal", "Changes that one person proposes and another one approves");
  proposal->require_subcommand(1);
  proposal->fallthrough();
  AddProposals(*proposal, invocation);

  auto policy = std::make_shared<ProposeFlags>();
  CLI::App* guard = AddProposing(
      *proposal, "guard", "Propose which changes of a budget need two people from then on", policy);
  AddGuarding(*guard, policy);
  guard->footer(
      "Example:\n  epsctl proposal guard adult --change supersede --reason \"closing is easy\"");
  guard->callback([&invocation, policy] { SetPolicy(invocation, *policy, /*propose=*/true); });

  auto listed = std::make_shared<ListFlags>();
  CLI::App* list = proposal->add_subcommand("list", "List what waits for another person");
  list->fallthrough();
  list->add_option("budget", listed->budget, "BUDGET: only for it and the budgets below it");
  list->add_flag("--all", listed->all, "also approved, rejected and expired proposals");
  list->footer("Examples:\n  epsctl proposal list\n  epsctl proposal list adult --all");
  list->callback([&invocation, listed] { List(invocation, *listed); });

  auto approved = std::make_shared<ResolveFlags>();
  CLI::App* approve =
      proposal->add_subcommand("approve", "Make a change that another person proposed");
  approve->fallthrough();
  approve->add_option("proposal", approved->name, "budgets/BUDGET/proposals/PROPOSAL")->required();
  approve->add_option("--reason", approved->reason, "for the auditor")
      ->type_name("TEXT")
      ->required();
  approve
      ->add_option("--sequence", approved->sequence,
                   "the sequence number of the proposal that you have read, as `proposal list` "
                   "shows it; a later proposal with the same name is not approved. Default: that "
                   "of the proposal shown with the question")
      ->type_name("NUMBER")
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 53));
  approved->confirmation.AddTo(*approve);
  approve->footer(
      "Example:\n"
      "  epsctl proposal approve budgets/adult/proposals/close-1 --sequence 12 \\\n"
      "      --reason \"agreed\" --yes");
  approve->callback([&invocation, approved] { Approve(invocation, *approved); });

  auto rejected = std::make_shared<ResolveFlags>();
  CLI::App* reject =
      proposal->add_subcommand("reject", "Refuse a proposed change, or withdraw one");
  reject->fallthrough();
  reject->add_option("proposal", rejected->name, "budgets/BUDGET/proposals/PROPOSAL")->required();
  reject->add_option("--reason", rejected->reason, "for the auditor")
      ->type_name("TEXT")
      ->required();
  reject->footer(
      "Example:\n"
      "  epsctl proposal reject budgets/adult/proposals/close-1 --reason \"not yet\"");
  reject->callback([&invocation, rejected] { Reject(invocation, *rejected); });
}

void AddGuardCommand(CLI::App& budget, Invocation& invocation) {
  auto flags = std::make_shared<ProposeFlags>();
  CLI::App* guard = budget.add_subcommand(
      "guard",
      "Set which changes of a budget and of those below it need two people; guarding fewer than "
      "before needs two people itself");
  guard->fallthrough();
  guard->add_option("budget", flags->budget, "BUDGET")->required();
  AddGuarding(*guard, flags);
  guard->footer("Example:\n  epsctl budget guard adult --change supersede,close,thaw");
  guard->callback([&invocation, flags] { SetPolicy(invocation, *flags, /*propose=*/false); });
}

}  // namespace epsledger::cli
