#include <cstdint>
#include <istream>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/cli/commands/commands.h"
#include "client/cli/commands/refusal_verdict.h"
#include "client/cli/flags/attempt_flags.h"
#include "client/cli/flags/cap_delta.h"
#include "client/cli/flags/event_flags.h"
#include "client/cli/flags/resource_name.h"
#include "client/cli/print/answers.h"
#include "client/cpp/charging.h"
#include "client/cpp/rpc_status.h"
#include "epsledger/refusal.h"
#include "proto/bridge/json_message.h"

namespace epsledger::cli {
namespace {

constexpr int64_t kMostSteps = int64_t{1} << 40;  // with more, no cap limits

void PrintCharge(Invocation& invocation, const v1::Charge& charge) {
  invocation.Print({.messages = {&charge}, .table = ChargeTable({&charge})});
}

// Prints, for people, how much of the budget that refuses is spent, or else how much of the
// session's budget.
void TellSpentSoFar(Invocation& invocation, const std::string& session,
                    const v1::Refusal& refusal) {
  if (!invocation.IsForPeople()) return;
  const std::string& limit = refusal.limiting_resource();
  const bool is_budget = !limit.empty() && limit.find("/sessions/") == limit.npos;
  const std::string spent = SpentSoFar(invocation, is_budget ? limit : ParentOf(session));
  if (!spent.empty()) invocation.terminal().err << spent << "\n";
}

// Prints, for people, what is left for more of the same after a charge.
void TellWhatIsLeft(Invocation& invocation, const std::string& session,
                    const v1::MechanismEvent& event) {
  if (!invocation.IsForPeople()) return;
  const absl::StatusOr<Connection*> connection = invocation.Connect();
  if (!connection.ok()) return;
  v1::PreviewChargeRequest request;
  request.set_session(session);
  *request.mutable_event() = event;
  request.set_count(1);
  const auto preview = (*connection)
                           ->Call((*connection)->charges(),
                                  &v1::ChargeService::StubInterface::PreviewCharge, request);
  if (preview.ok() && preview->steps_that_fit() <= kMostSteps) {
    invocation.terminal().err << preview->steps_that_fit() << " more such "
                              << (preview->steps_that_fit() == 1 ? "step fits" : "steps fit")
                              << ", one by one.\n";
  }
  TellSpentSoFar(invocation, session, v1::Refusal());
}

// A step that costs less than a unit pays a whole unit if it is charged alone. Says so if a block
// of such steps fits more of them.
void TellBlock(Invocation& invocation, v1::PreviewChargeRequest request,
               const v1::PreviewChargeResponse& preview) {
  if (!invocation.IsForPeople() || preview.steps_that_fit() < 1 ||
      preview.steps_that_fit() > kMostSteps) {
    return;
  }
  const absl::StatusOr<Connection*> connection = invocation.Connect();
  if (!connection.ok()) return;
  const int64_t asked = request.count();
  request.set_count(preview.steps_that_fit() + preview.steps_that_fit() / 4 + 1);
  if (asked >= request.count()) return;  // the request was such a block already
  const auto block = (*connection)
                         ->Call((*connection)->charges(),
                                &v1::ChargeService::StubInterface::PreviewCharge, request);
  if (!block.ok() || block->decision() != v1::Charge::ACCEPTED) return;
  invocation.terminal().err << "One by one, " << preview.steps_that_fit()
                            << " fit; charged together, as one block or a lease, at least "
                            << request.count() << " fit.\n";
}

v1::PreviewChargeRequest PreviewRequest(const std::string& session, const v1::CountedEvent& event) {
  v1::PreviewChargeRequest request;
  request.set_session(session);
  *request.mutable_event() = event.event();
  request.set_count(event.count());
  return request;
}

// Prints what a preview says.
void PrintPreview(Invocation& invocation, const v1::PreviewChargeRequest& request,
                  const v1::PreviewChargeResponse& preview) {
  const bool accepted = preview.decision() == v1::Charge::ACCEPTED;
  Table table({"decision", "steps that fit", "reason", "limited by"});
  table.AddRow({v1::Charge::Decision_Name(preview.decision()), preview.steps_that_fit(),
                accepted ? "" : v1::Refusal::Reason_Name(preview.refusal().reason()),
                NameCell(accepted ? "" : preview.refusal().limiting_resource())});
  invocation.Print({.messages = {&preview}, .table = std::move(table)});
  if (!accepted) {
    invocation.set_exit_code(ExitCode::kRefused);
    invocation.Tell(
        absl::StrCat("would be ", RefusalVerdict(invocation, preview.refusal(), request.event())));
  }
  TellBlock(invocation, request, preview);
  TellSpentSoFar(invocation, request.session(), preview.refusal());
}

void PreviewOf(Invocation& invocation, const std::string& session, const v1::CountedEvent& event) {
  const v1::PreviewChargeRequest request = PreviewRequest(session, event);
  const auto preview =
      invocation.Call(&Connection::charges, &v1::ChargeService::StubInterface::PreviewCharge,
                      request, CallKind::kRead);
  if (preview != nullptr) PrintPreview(invocation, request, *preview);
}

// A charge that opens its attempt, which fences the session's current one for good.
struct OpeningCharge {
  std::string session;
  std::string charge_id;  // empty: a new one
  v1::CountedEvent event;
  v1::Provenance declared;  // what the new attempt says about itself
};

// Returns true if the charge may go on after a question that failed with this status. A token that
// may charge but not read cannot ask: its charge may fence in vain, or be made twice, but nothing
// is released uncharged.
bool GoesOnUnasked(Invocation& invocation, const absl::Status& status) {
  if (absl::IsPermissionDenied(status) && !invocation.flags().dry_run) return true;
  invocation.Fail(status, CallKind::kRead);
  return false;
}

// Returns false, after it told so, if the current attempt holds the charge already, accepted: this
// command was given before, or the id names another step. To answer with that charge would pass
// noise that is drawn anew, as after a restart, for noise that was charged.
bool IsNewCharge(Invocation& invocation, Connection& connection, int64_t attempt,
                 const OpeningCharge& opening) {
  if (attempt == 0 || opening.charge_id.empty()) return true;
  v1::GetChargeRequest request;
  request.set_name(
      absl::StrCat(opening.session, "/attempts/", attempt, "/charges/", opening.charge_id));
  const auto found =
      connection.Call(connection.charges(), &v1::ChargeService::StubInterface::GetCharge, request);
  if (absl::IsNotFound(found.status())) return true;
  if (!found.ok()) return GoesOnUnasked(invocation, found.status());
  if (found->decision() != v1::Charge::ACCEPTED) return true;
  invocation.Fail(
      absl::AlreadyExistsError(absl::StrCat(
          "--charge-id: got ", opening.charge_id, ", which attempt ", attempt,
          " was charged for already. No attempt was opened, and nothing was charged. To ask for "
          "that charge again, give --attempt ",
          attempt, " instead of --open-attempt; for noise that is drawn anew, give another id")),
      CallKind::kRead);
  return false;
}

v1::PreviewChargeRequest PreviewRequest(const OpeningCharge& opening) {
  v1::PreviewChargeRequest request = PreviewRequest(opening.session, opening.event);
  *request.mutable_provenance() = opening.declared;
  return request;
}

// Returns false, after it printed why, if the charge would be refused: the current attempt then
// goes on. A server of 0.1.0 does not know what policies say of a new attempt.
bool WouldBeAccepted(Invocation& invocation, Connection& connection, int64_t attempt,
                     const OpeningCharge& opening) {
  if (attempt == 0) return true;  // nobody is fenced, and the refusal is recorded
  const v1::PreviewChargeRequest request = PreviewRequest(opening);
  const auto preview = connection.Call(connection.charges(),
                                       &v1::ChargeService::StubInterface::PreviewCharge, request);
  if (!preview.ok()) return GoesOnUnasked(invocation, preview.status());
  const bool is_known =
      preview->for_new_attempt() || preview->refusal().reason() != v1::Refusal::POLICY_VIOLATION;
  if (preview->decision() != v1::Charge::REFUSED || !is_known) return true;
  PrintPreview(invocation, request, *preview);
  invocation.Tell(absl::StrCat("no attempt was opened: attempt ", attempt,
                               " goes on, and nothing was charged"));
  return false;
}

// Prints the charge of the attempt that would be opened.
void ValidateOpening(Invocation& invocation, Connection& connection, int64_t attempt,
                     const OpeningCharge& opening) {
  const auto preview =
      connection.Call(connection.charges(), &v1::ChargeService::StubInterface::PreviewCharge,
                      PreviewRequest(opening));
  if (!preview.ok()) return invocation.Fail(preview.status(), CallKind::kRead);
  v1::Charge charge;
  charge.set_name(absl::StrCat(opening.session, "/attempts/", attempt + 1, "/charges/",
                               opening.charge_id.empty() ? MakeKey() : opening.charge_id));
  *charge.mutable_event() = opening.event.event();
  charge.set_count(opening.event.count());
  charge.set_decision(preview->decision());
  if (preview->decision() == v1::Charge::ACCEPTED) return PrintCharge(invocation, charge);
  *charge.mutable_refusal() = preview->refusal();
  invocation.Fail(RefusedStatus(charge), CallKind::kRead);
}

// Looks before the attempt is opened. Returns false, after it printed why, if it must not be:
// because of the above, or because of --dry-run.
bool MayOpen(Invocation& invocation, const OpeningCharge& opening) {
  const bool is_dry_run = invocation.flags().dry_run;
  if (is_dry_run) invocation.TellDryRun();
  const absl::StatusOr<Connection*> connection = invocation.Connect();
  if (!connection.ok()) {
    invocation.Fail(connection.status(), CallKind::kRead);
    return false;
  }
  v1::GetSessionRequest request;
  request.set_name(opening.session);
  const auto session = (*connection)
                           ->Call((*connection)->sessions(),
                                  &v1::SessionService::StubInterface::GetSession, request);
  if (!session.ok()) return GoesOnUnasked(invocation, session.status());
  const int64_t attempt = session->current_attempt();
  if (!IsNewCharge(invocation, **connection, attempt, opening)) return false;
  if (is_dry_run) {
    ValidateOpening(invocation, **connection, attempt, opening);
    return false;
  }
  return WouldBeAccepted(invocation, **connection, attempt, opening);
}

// Prints what the server would decide. The answer names no entry of the ledger.
void Validate(Invocation& invocation, Connection& connection, const v1::ChargeRequest& request) {
  const absl::StatusOr<v1::Charge> charge =
      connection.Call(connection.charges(), &v1::ChargeService::StubInterface::Charge, request);
  if (charge.ok()) return PrintCharge(invocation, *charge);
  invocation.Fail(charge.status(), CallKind::kRead);
}

struct CreateChargeFlags {
  std::string session;
  EventFlags event;
  AttemptFlags attempt;
  std::string charge_id;
};

void CreateCharge(Invocation& invocation, const CreateChargeFlags& flags) {
  const absl::StatusOr<std::string> session = SessionName(flags.session);
  if (!session.ok()) return invocation.Fail(session.status(), CallKind::kRead);
  const absl::StatusOr<v1::CountedEvent> event = flags.event.ToCheckedMessage();
  if (!event.ok()) return invocation.Fail(event.status(), CallKind::kRead);
  const bool opens = flags.attempt.open_attempt && !flags.attempt.attempt.has_value();
  if (opens && !MayOpen(invocation, {.session = *session,
                                     .charge_id = flags.charge_id,
                                     .event = *event,
                                     .declared = flags.attempt.Declared()})) {
    return;
  }
  const std::optional<std::string> attempt = flags.attempt.AttemptName(invocation, *session);
  if (!attempt.has_value()) return;
  const absl::StatusOr<Connection*> connection = invocation.Connect();
  if (!connection.ok()) return invocation.Fail(connection.status(), CallKind::kRead);

  v1::ChargeRequest request;
  request.set_attempt(*attempt);
  request.set_charge_id(flags.charge_id.empty() ? MakeKey() : flags.charge_id);
  *request.mutable_event() = event->event();
  request.set_count(event->count());
  if (const absl::Status prepared = invocation.Prepare(request); !prepared.ok()) {
    return invocation.Fail(prepared, CallKind::kRead);
  }
  if (request.validate_only()) return Validate(invocation, **connection, request);
  const absl::StatusOr<v1::Charge> charge = ChargeUntilDefinite(**connection, request);
  if (charge.ok()) {
    PrintCharge(invocation, *charge);
    return TellWhatIsLeft(invocation, *session, request.event());
  }
  if (const auto refused = RefusedChargeOf(charge.status()); refused.has_value()) {
    PrintCharge(invocation, *refused);
    invocation.set_exit_code(ExitCode::kRefused);
    invocation.Tell(RefusalVerdict(invocation, refused->refusal(), request.event()));
    return TellSpentSoFar(invocation, *session, refused->refusal());
  }
  invocation.Fail(charge.status(), CallKind::kWrite);
  if (UnknownCharge(charge.status()).has_value()) {
    invocation.Tell(absl::StrCat("to ask for this charge again, repeat the command with --attempt ",
                                 LastSegment(*attempt), " --charge-id ", request.charge_id(),
                                 flags.attempt.open_attempt ? ", without --open-attempt" : ""));
  }
}

struct BatchFlags {
  std::string session;
  AttemptFlags attempt;
  std::string mode;
};

// Reads one item a line: {"chargeId": ..., "event": {...}, "count": 1}.
absl::Status ReadItems(std::istream& in, v1::BatchChargeRequest* request) {
  std::string line;
  for (int number = 1; std::getline(in, line); ++number) {
    if (line.find_first_not_of(" \t\r") == line.npos) continue;
    v1::BatchChargeItem* item = request->add_items();
    const absl::Status parsed = bridge::ReadJsonObject(line, item);
    if (!parsed.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat("line ", number, ": want the proto3 JSON of epsledger.v1.BatchChargeItem: ",
                       std::string(parsed.message())));
    }
    if (item->charge_id().empty()) item->set_charge_id(MakeKey());
    if (item->count() == 0) item->set_count(1);
  }
  if (in.bad()) {
    return absl::InvalidArgumentError("items: got a standard input that failed, want a file");
  }
  if (request->items_size() > 0) return absl::OkStatus();
  return absl::InvalidArgumentError("items: got none, want one a line on the standard input");
}

// Prints every item that was decided; the exit code is that of the worst item.
void PrintBatch(Invocation& invocation, const std::vector<absl::StatusOr<v1::Charge>>& results) {
  std::vector<v1::Charge> decided;
  absl::Status worst;
  for (const absl::StatusOr<v1::Charge>& result : results) {
    const std::optional<v1::Charge> refused = RefusedChargeOf(result.status());
    if (result.ok()) {
      decided.push_back(*result);
    } else if (refused.has_value()) {
      decided.push_back(*refused);
    }
    if (!result.ok() && (worst.ok() || UnknownCharge(result.status()).has_value())) {
      worst = result.status();
    }
  }
  std::vector<const v1::Charge*> charges;
  for (const v1::Charge& charge : decided) charges.push_back(&charge);
  invocation.Print({.messages = {charges.begin(), charges.end()},
                    .is_list = true,
                    .table = ChargeTable(charges)});
  if (!worst.ok()) invocation.Fail(worst, CallKind::kWrite);
}

void Batch(Invocation& invocation, const BatchFlags& flags) {
  const absl::StatusOr<std::string> session = SessionName(flags.session);
  if (!session.ok()) return invocation.Fail(session.status(), CallKind::kRead);
  v1::BatchChargeRequest request;
  if (absl::Status read = ReadItems(invocation.terminal().in, &request); !read.ok()) {
    return invocation.Fail(read, CallKind::kRead);
  }
  if (invocation.flags().dry_run) {
    return invocation.Fail(absl::InvalidArgumentError(
                               "--dry-run: a batch has no such form; preview its events one by one "
                               "(charge preview)"),
                           CallKind::kRead);
  }
  const std::optional<std::string> attempt = flags.attempt.AttemptName(invocation, *session);
  if (!attempt.has_value()) return;
  const absl::StatusOr<Connection*> connection = invocation.Connect();
  if (!connection.ok()) return invocation.Fail(connection.status(), CallKind::kRead);
  request.set_attempt(*attempt);
  request.set_mode(flags.mode == "per-item" ? v1::BatchChargeRequest::PER_ITEM
                                            : v1::BatchChargeRequest::ALL_OR_NOTHING);
  const auto results = BatchUntilDefinite(**connection, request);
  if (!results.ok()) return invocation.Fail(results.status(), CallKind::kWrite);
  PrintBatch(invocation, *results);
}

void Preview(Invocation& invocation, const std::string& text, const EventFlags& flags) {
  const absl::StatusOr<std::string> session = SessionName(text);
  if (!session.ok()) return invocation.Fail(session.status(), CallKind::kRead);
  const absl::StatusOr<v1::CountedEvent> event = flags.ToCheckedMessage();
  if (!event.ok()) return invocation.Fail(event.status(), CallKind::kRead);
  PreviewOf(invocation, *session, *event);
}

void GetCharge(Invocation& invocation, const std::string& text) {
  const absl::StatusOr<std::string> name = ChargeName(text);
  if (!name.ok()) return invocation.Fail(name.status(), CallKind::kRead);
  v1::GetChargeRequest request;
  request.set_name(*name);
  const auto charge = invocation.Call(
      &Connection::charges, &v1::ChargeService::StubInterface::GetCharge, request, CallKind::kRead);
  if (charge != nullptr) PrintCharge(invocation, *charge);
}

void List(Invocation& invocation, const std::string& text) {
  const absl::StatusOr<std::string> session = SessionName(text);
  if (!session.ok()) return invocation.Fail(session.status(), CallKind::kRead);
  std::vector<std::unique_ptr<v1::ListChargesResponse>> pages;
  std::vector<const v1::Charge*> charges;
  v1::ListChargesRequest request;
  request.set_parent(*session);
  request.set_page_size(1000);
  do {
    auto page =
        invocation.Call(&Connection::charges, &v1::ChargeService::StubInterface::ListCharges,
                        request, CallKind::kRead);
    if (page == nullptr) return;
    for (const v1::Charge& charge : page->charges()) charges.push_back(&charge);
    request.set_page_token(page->next_page_token());
    pages.push_back(std::move(page));
  } while (!request.page_token().empty());
  invocation.Print({.messages = {charges.begin(), charges.end()},
                    .is_list = true,
                    .table = ChargeTable(charges)});
}

}  // namespace

void AddChargeCommands(CLI::App& app, Invocation& invocation) {
  CLI::App* charge = app.add_subcommand("charge", "Rows of the ledger");
  charge->require_subcommand(1);
  charge->fallthrough();

  auto flags = std::make_shared<CreateChargeFlags>();
  CLI::App* create =
      charge->add_subcommand("create", "Charge a release by hand, before its noise is drawn");
  create->fallthrough();
  create->add_option("session", flags->session, "BUDGET/SESSION")->required();
  flags->event.AddTo(*create);
  flags->attempt.AddTo(*create);
  create
      ->add_option(
          "--charge-id", flags->charge_id,
          "the idempotency key: a key that is repeated with the same --attempt is charged\n"
          "once; with --open-attempt it must be new; default: a new one")
      ->type_name("ID");
  create->footer(
      "Examples:\n"
      "  epsctl charge create adult/run-1 --open-attempt --gaussian 40\n"
      "  epsctl charge create adult/run-1 --attempt 1 --charge-id epoch-3 \\\n"
      "      --gaussian 40 --sampling-probability 0.01 --count 100");
  create->callback([&invocation, flags] { CreateCharge(invocation, *flags); });

  auto batched = std::make_shared<BatchFlags>();
  CLI::App* batch = charge->add_subcommand(
      "batch", "Charge several releases in one commit: one JSON object a line, standard input");
  batch->fallthrough();
  batch->add_option("session", batched->session, "BUDGET/SESSION")->required();
  batch->add_option("--mode", batched->mode, "accept all or none, or decide one after the other")
      ->check(CLI::IsMember({"all-or-nothing", "per-item"}))
      ->required();
  batched->attempt.AddTo(*batch);
  batch->footer(
      "A line is {\"chargeId\": ..., \"event\": {...}, \"count\": 1}; a missing charge id is made "
      "up.\n"
      "Example:\n"
      "  echo '{\"chargeId\": \"a\", \"event\": {\"gaussian\": {\"noiseMultiplier\": 40}}}' |\n"
      "      epsctl charge batch adult/run-1 --attempt 1 --mode per-item");
  batch->callback([&invocation, batched] { Batch(invocation, *batched); });

  auto previewed = std::make_shared<std::pair<std::string, EventFlags>>();
  CLI::App* preview = charge->add_subcommand(
      "preview", "What a charge would do, and how many steps fit; charges nothing");
  preview->fallthrough();
  preview->add_option("session", previewed->first, "BUDGET/SESSION")->required();
  previewed->second.AddTo(*preview);
  preview->footer("Example:\n  epsctl charge preview adult/run-1 --gaussian 40 --count 10");
  preview->callback(
      [&invocation, previewed] { Preview(invocation, previewed->first, previewed->second); });

  auto name = std::make_shared<std::string>();
  CLI::App* get = charge->add_subcommand("get", "Show one charge");
  get->fallthrough();
  get->add_option("charge", *name, "BUDGET/SESSION/ATTEMPT/CHARGE")->required();
  get->footer("Example:\n  epsctl charge get adult/run-1/1/step-7");
  get->callback([&invocation, name] { GetCharge(invocation, *name); });

  auto session = std::make_shared<std::string>();
  CLI::App* list = charge->add_subcommand("list", "List the charges of a session, in order");
  list->fallthrough();
  list->add_option("session", *session, "BUDGET/SESSION")->required();
  list->footer("Example:\n  epsctl charge list adult/run-1 -o jsonl");
  list->callback([&invocation, session] { List(invocation, *session); });
}

}  // namespace epsledger::cli
