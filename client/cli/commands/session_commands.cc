#include <istream>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "accounting/event/status_macros.h"
#include "client/cli/commands/commands.h"
#include "client/cli/flags/cap_delta.h"
#include "client/cli/flags/cap_flags.h"
#include "client/cli/flags/event_flags.h"
#include "client/cli/flags/label_flags.h"
#include "client/cli/flags/resource_file.h"
#include "client/cli/flags/resource_name.h"
#include "client/cli/print/answers.h"
#include "client/cli/print/live_view.h"
#include "client/cli/print/session_chart.h"
#include "client/cpp/budget_message.h"
#include "client/cpp/mechanism_message.h"
#include "epsledger/mechanism.h"
#include "proto/bridge/json_message.h"

namespace epsledger::cli {
namespace {

struct CreateFlags {
  std::string name;
  std::string file;
  NeighboringRelation relation = NeighboringRelation::kUnspecified;
  CapFlags own_cap;
  bool no_own_cap = false;
  EventFlags planned;
  std::string plan_json;
  std::optional<double> plan_delta;
  std::string display_name;
  std::string group;
  std::vector<std::string> labels;
  std::string claim;
  double claimed_epsilon = 0;
  double claimed_delta = 0;
  std::string claim_source;
  std::string expects_json;
};

const std::map<std::string, v1::Claim::Status>& Claims() {
  static const auto& claims = *new std::map<std::string, v1::Claim::Status>{
      {"proven", v1::Claim::PROVEN},
      {"not-proven", v1::Claim::NOT_PROVEN},
      {"counterexample-known", v1::Claim::COUNTEREXAMPLE_KNOWN},
  };
  return claims;
}

absl::StatusOr<v1::CreateSessionRequest> CreateRequest(const CreateFlags& flags, std::istream& in) {
  ASSIGN_OR_RETURN(const std::string name, SessionName(flags.name));
  v1::CreateSessionRequest request;
  request.set_parent(ParentOf(name));
  request.set_session_id(LastSegment(name));
  v1::Session* session = request.mutable_session();
  if (!flags.file.empty()) RETURN_IF_ERROR(ReadResourceFile(flags.file, in, session));
  if (flags.relation != NeighboringRelation::kUnspecified) {
    session->set_neighboring_relation(ToMessage(flags.relation));
  }
  if (session->neighboring_relation() == v1::NeighboringRelation::KIND_UNSPECIFIED) {
    return absl::InvalidArgumentError(
        "--relation: got none, want for example add-or-remove-one: which data sets are neighbors");
  }
  if (!flags.display_name.empty()) session->set_display_name(flags.display_name);
  if (flags.no_own_cap) session->set_no_own_cap(true);
  if (!flags.group.empty()) session->set_group(flags.group);
  RETURN_IF_ERROR(AddLabels(flags.labels, session->mutable_labels()));
  if (!flags.claim.empty()) {
    v1::Claim* claim = session->mutable_claim();
    claim->set_status(Claims().at(flags.claim));
    claim->set_epsilon(flags.claimed_epsilon);
    claim->set_delta(flags.claimed_delta);
    claim->set_source(flags.claim_source);
  }
  ASSIGN_OR_RETURN(const Cap cap, flags.own_cap.ToCap());
  if (!std::holds_alternative<std::monostate>(cap)) *session->mutable_own_cap() = ToMessage(cap);

  if (flags.planned.any() || !flags.plan_json.empty()) session->clear_plan();
  if (flags.planned.any()) {
    ASSIGN_OR_RETURN(const v1::CountedEvent planned, flags.planned.ToCheckedMessage());
    *session->mutable_plan()->add_events() = planned;
  }
  if (!flags.plan_json.empty()) {
    const absl::Status parsed = bridge::ReadJsonObject(flags.plan_json, session->mutable_plan());
    if (!parsed.ok()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "--plan: want the proto3 JSON of epsledger.v1.Plan: ", std::string(parsed.message())));
    }
  }
  if (!flags.expects_json.empty()) {
    ASSIGN_OR_RETURN(const Mechanism expects, ReadEvent("--expects", flags.expects_json));
    *request.mutable_expects() = MechanismMessage::Of(expects);
  }
  session->set_mode(session->has_plan() ? v1::Session::DECLARED : v1::Session::ADAPTIVE);
  if (flags.plan_delta) session->set_plan_delta(*flags.plan_delta);
  if (session->has_plan() && !(session->plan_delta() > 0)) {
    return absl::InvalidArgumentError(
        "--plan-delta: got nothing, want the delta in (0, 1) at which the plan is stated");
  }
  if (!session->has_plan() && !session->has_own_cap() && !session->no_own_cap()) {
    return absl::InvalidArgumentError(
        "session: got neither a plan nor a cap, want an event with --plan-delta, a cap of its own "
        "such as --epsilon 0.5 --delta 1e-6, or --no-own-cap to let only the budgets limit it");
  }
  return request;
}

void Create(Invocation& invocation, const CreateFlags& flags) {
  const absl::StatusOr<v1::CreateSessionRequest> request =
      CreateRequest(flags, invocation.terminal().in);
  if (!request.ok()) return invocation.Fail(request.status(), CallKind::kRead);
  const auto session =
      invocation.Call(&Connection::sessions, &v1::SessionService::StubInterface::CreateSession,
                      *request, CallKind::kWrite);
  if (session != nullptr) PrintSession(invocation, *session);
}

struct GetFlags {
  std::string name;
  std::optional<double> delta;
  LiveFlags live;
};

std::optional<std::vector<std::string>> Get(Invocation& invocation, const GetFlags& flags) {
  const absl::StatusOr<std::string> name = SessionName(flags.name);
  if (!name.ok()) {
    invocation.Fail(name.status(), CallKind::kRead);
    return std::nullopt;
  }
  v1::GetSessionRequest request;
  request.set_name(*name);
  const auto session =
      invocation.Call(&Connection::sessions, &v1::SessionService::StubInterface::GetSession,
                      request, CallKind::kRead);
  if (session == nullptr) return std::nullopt;
  PrintSession(invocation, *session,
               invocation.DrawsCharts() ? SessionChart(invocation, *session, flags.delta) : "");
  return std::vector<std::string>{*name};
}

void ListSessions(Invocation& invocation, const std::string& text) {
  const absl::StatusOr<std::string> name = BudgetName(text);
  if (!name.ok()) return invocation.Fail(name.status(), CallKind::kRead);
  std::vector<std::unique_ptr<v1::ListSessionsResponse>> pages;
  std::vector<const v1::Session*> sessions;
  v1::ListSessionsRequest request;
  request.set_parent(*name);
  request.set_page_size(1000);
  do {
    auto page =
        invocation.Call(&Connection::sessions, &v1::SessionService::StubInterface::ListSessions,
                        request, CallKind::kRead);
    if (page == nullptr) return;
    for (const v1::Session& session : page->sessions()) sessions.push_back(&session);
    request.set_page_token(page->next_page_token());
    pages.push_back(std::move(page));
  } while (!request.page_token().empty());
  PrintSessions(invocation, sessions);
}

void PrintGuarantees(Invocation& invocation, const std::string& text, std::optional<double> said) {
  const absl::StatusOr<std::string> name = SessionName(text);
  if (!name.ok()) return invocation.Fail(name.status(), CallKind::kRead);
  const absl::StatusOr<Connection*> connection = invocation.Connect();
  if (!connection.ok()) return invocation.Fail(connection.status(), CallKind::kRead);
  const absl::StatusOr<double> delta = SaidOrCapDelta(**connection, said, *name);
  if (!delta.ok()) return invocation.Fail(delta.status(), CallKind::kRead);
  v1::GetSessionGuaranteesRequest request;
  request.set_name(*name);
  request.set_delta(*delta);
  const auto response = invocation.Call(&Connection::sessions,
                                        &v1::SessionService::StubInterface::GetSessionGuarantees,
                                        request, CallKind::kRead);
  if (response == nullptr) return;
  PrintReadings(invocation, response->readings());
}

void AddSessionCreate(CLI::App& session, Invocation& invocation) {
  auto flags = std::make_shared<CreateFlags>();
  CLI::App* create = session.add_subcommand(
      "create", "Create a session: ADAPTIVE, or DECLARED when a plan is given");
  create->fallthrough();
  create->add_option("session", flags->name, "BUDGET/SESSION")->required();
  AddFileFlag(*create, flags->file);
  AddRelationFlag(*create, flags->relation);
  flags->own_cap.AddTo(*create);
  create->add_flag("--no-own-cap", flags->no_own_cap, "only the budgets limit this session");
  flags->planned.AddTo(*create);
  create->add_option("--plan", flags->plan_json, "a plan of several events, as JSON")
      ->type_name("JSON");
  create
      ->add_option("--plan-delta", flags->plan_delta,
                   "the delta at which the plan is charged to budgets that count epsilons")
      ->type_name("DELTA");
  create->add_option("--display-name", flags->display_name, "for people")->type_name("TEXT");
  create->add_option("--group", flags->group, "the hyper-parameter search that it belongs to")
      ->type_name("GROUP");
  AddLabelFlag(*create, flags->labels);
  const char* claim = "Claim (what is published about the algorithm)";
  CLI::Option* status = create->add_option("--claim", flags->claim, "default: proven")
                            ->check(CLI::IsMember(Claims()))
                            ->type_name("STATUS")
                            ->group(claim);
  create->add_option("--claimed-epsilon", flags->claimed_epsilon, "as published; never a guarantee")
      ->type_name("EPSILON")
      ->needs(status)
      ->group(claim);
  create->add_option("--claimed-delta", flags->claimed_delta, "in [0, 1)")
      ->type_name("DELTA")
      ->needs(status)
      ->group(claim);
  create
      ->add_option("--claim-source", flags->claim_source, "where it is published: \"Theorem 3.3\"")
      ->type_name("TEXT")
      ->needs(status)
      ->group(claim);
  create
      ->add_option("--expects", flags->expects_json,
                   "the event that it will charge most, as the proto3 JSON of "
                   "epsledger.v1.MechanismEvent: caps without a reference yet count units of it")
      ->type_name("JSON");
  create->footer(
      "Examples:\n"
      "  epsctl session create adult/run-1 --relation add-or-remove-one --no-own-cap\n"
      "  epsctl session create adult/run-2 --relation add-or-remove-one \\\n"
      "      --gaussian 40 --count 50 --plan-delta 1e-5");
  create->callback([&invocation, flags] { Create(invocation, *flags); });
}

void AddSessionGet(CLI::App& session, Invocation& invocation) {
  auto shown = std::make_shared<GetFlags>();
  CLI::App* get = session.add_subcommand("get", "Show a session: mode, attempt, history");
  get->fallthrough();
  get->add_option("session", shown->name, "BUDGET/SESSION")->required();
  get->add_option(
         "--delta", shown->delta,
         "the delta of the chart on a terminal, in (0, 1); default: that of the session's cap or "
         "plan, or of the budget's cap")
      ->type_name("DELTA");
  shown->live.AddTo(*get);
  get->footer(
      "Examples:\n"
      "  epsctl session get adult/run-1\n"
      "  epsctl session get adult/run-1 --watch");
  get->callback([&invocation, shown] {
    Show(invocation, shown->live, [shown](Invocation& frame) { return Get(frame, *shown); });
  });
}

void AddSessionList(CLI::App& session, Invocation& invocation) {
  auto budget = std::make_shared<std::string>();
  CLI::App* list = session.add_subcommand("list", "List the sessions of a budget");
  list->fallthrough();
  list->add_option("budget", *budget, "BUDGET")->required();
  list->footer("Example:\n  epsctl session list adult -o csv");
  list->callback([&invocation, budget] { ListSessions(invocation, *budget); });
}

void AddSessionGuarantees(CLI::App& session, Invocation& invocation) {
  auto read = std::make_shared<std::string>();
  auto delta = std::make_shared<std::optional<double>>();
  CLI::App* guarantees = session.add_subcommand(
      "guarantees", "What the history spends, under every accountant that knows its events");
  guarantees->fallthrough();
  guarantees->add_option("session", *read, "BUDGET/SESSION")->required();
  AddReadingDelta(*guarantees, *delta);
  guarantees->footer("Example:\n  epsctl session guarantees adult/run-1");
  guarantees->callback([&invocation, read, delta] { PrintGuarantees(invocation, *read, *delta); });
}

}  // namespace

void AddSessionCommands(CLI::App& app, Invocation& invocation) {
  CLI::App* session = app.add_subcommand("session", "Training runs under a budget");
  session->require_subcommand(1);
  session->fallthrough();
  AddSessionCreate(*session, invocation);
  AddSessionGet(*session, invocation);
  AddSessionList(*session, invocation);
  AddSessionGuarantees(*session, invocation);

  AddSessionReadings(*session, invocation);
}

}  // namespace epsledger::cli
