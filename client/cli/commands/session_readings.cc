#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/cli/commands/commands.h"
#include "client/cli/confirmation.h"
#include "client/cli/flags/curve_points.h"
#include "client/cli/flags/event_flags.h"
#include "client/cli/flags/history_flags.h"
#include "client/cli/flags/resource_name.h"
#include "client/cli/print/answers.h"

namespace epsledger::cli {
namespace {

struct CloseFlags {
  std::string session;
  std::string reason;
  Confirmation confirmation;
};

void Close(Invocation& invocation, const CloseFlags& flags) {
  const absl::StatusOr<std::string> name = SessionName(flags.session);
  if (!name.ok()) return invocation.Fail(name.status(), CallKind::kRead);
  if (!flags.confirmation.IsGiven(invocation, absl::StrCat(*name, " will be closed for good"))) {
    return;
  }
  v1::CloseSessionRequest request;
  request.set_name(*name);
  request.set_reason(flags.reason);
  const auto session =
      invocation.Call(&Connection::sessions, &v1::SessionService::StubInterface::CloseSession,
                      request, CallKind::kWrite);
  if (session != nullptr) PrintSession(invocation, *session);
}

constexpr int kHistoryPageSize = 1'000;

void PrintHistory(Invocation& invocation, const std::string& text, int64_t at_sequence) {
  const absl::StatusOr<std::string> name = SessionName(text);
  if (!name.ok()) return invocation.Fail(name.status(), CallKind::kRead);
  v1::GetSessionHistoryRequest request;
  request.set_name(*name);
  request.set_at_sequence(at_sequence);
  request.set_page_size(kHistoryPageSize);
  v1::GetSessionHistoryResponse whole;
  do {
    const auto page = invocation.Call(&Connection::sessions,
                                      &v1::SessionService::StubInterface::GetSessionHistory,
                                      request, CallKind::kRead);
    if (page == nullptr) return;
    request.set_page_token(page->next_page_token());
    whole.MergeFrom(*page);
  } while (!request.page_token().empty());
  whole.clear_next_page_token();
  Table table({"count", "event"});
  std::vector<const google::protobuf::Message*> messages;
  for (const v1::CountedEvent& event : whole.history()) {
    messages.push_back(&event);
    table.AddRow({event.count(), DescribeEvent(event.event())});
  }
  invocation.Print({.messages = std::move(messages),
                    .is_list = true,
                    .table = std::move(table),
                    .whole = &whole});
}

struct SessionCurveFlags {
  std::string session;
  v1::Accountant::Kind accountant = v1::Accountant::BEST;
  PointFlags points;
};

void PrintSessionProfile(Invocation& invocation, const SessionCurveFlags& flags) {
  const absl::StatusOr<std::string> name = SessionName(flags.session);
  if (!name.ok()) return invocation.Fail(name.status(), CallKind::kRead);
  v1::GetSessionPrivacyProfileRequest request;
  request.set_name(*name);
  request.set_accountant(flags.accountant);
  const absl::Status status = flags.points.Fill(
      10, request.mutable_epsilons(), [&request] { return request.mutable_epsilon_range(); });
  if (!status.ok()) return invocation.Fail(status, CallKind::kRead);
  const auto profile = invocation.Call(&Connection::sessions,
                                       &v1::SessionService::StubInterface::GetSessionPrivacyProfile,
                                       request, CallKind::kRead);
  if (profile != nullptr) PrintProfile(invocation, *profile);
}

void PrintSessionTradeOff(Invocation& invocation, const SessionCurveFlags& flags) {
  const absl::StatusOr<std::string> name = SessionName(flags.session);
  if (!name.ok()) return invocation.Fail(name.status(), CallKind::kRead);
  v1::GetSessionTradeOffCurveRequest request;
  request.set_name(*name);
  request.set_accountant(flags.accountant);
  const absl::Status status = flags.points.Fill(1, request.mutable_type_one_errors(), [&request] {
    return request.mutable_type_one_error_range();
  });
  if (!status.ok()) return invocation.Fail(status, CallKind::kRead);
  const auto curve = invocation.Call(&Connection::sessions,
                                     &v1::SessionService::StubInterface::GetSessionTradeOffCurve,
                                     request, CallKind::kRead);
  if (curve != nullptr) PrintTradeOff(invocation, *curve);
}

}  // namespace

void AddSessionReadings(CLI::App& session, Invocation& invocation) {
  auto closed = std::make_shared<CloseFlags>();
  CLI::App* close = session.add_subcommand("close", "End a session for good");
  close->fallthrough();
  close->add_option("session", closed->session, "BUDGET/SESSION")->required();
  close->add_option("--reason", closed->reason, "for the auditor")->type_name("TEXT")->required();
  closed->confirmation.AddTo(*close);
  close->footer("Example:\n  epsctl session close adult/run-1 --reason done --yes");
  close->callback([&invocation, closed] { Close(invocation, *closed); });

  auto past = std::make_shared<std::pair<std::string, int64_t>>();
  CLI::App* history =
      session.add_subcommand("history", "What was charged so far, in the order of first use");
  history->fallthrough();
  history->add_option("session", past->first, "BUDGET/SESSION")->required();
  history->add_option("--at-sequence", past->second, "up to this entry of the ledger; 0: all")
      ->type_name("N");
  history->footer("Example:\n  epsctl session history adult/run-1 --at-sequence 5");
  history->callback([&invocation, past] { PrintHistory(invocation, past->first, past->second); });

  auto profiled = std::make_shared<SessionCurveFlags>();
  CLI::App* profile =
      session.add_subcommand("profile", "Delta at each epsilon of what was charged so far");
  profile->fallthrough();
  profile->add_option("session", profiled->session, "BUDGET/SESSION")->required();
  AddAccountantFlag(*profile, profiled->accountant);
  profiled->points.AddTo(*profile, "Points (up to 1,000 epsilons)");
  profile->footer("Example:\n  epsctl session profile adult/run-1 --at 0.5,1,2");
  profile->callback([&invocation, profiled] { PrintSessionProfile(invocation, *profiled); });

  auto drawn = std::make_shared<SessionCurveFlags>();
  CLI::App* trade_off =
      session.add_subcommand("trade-off", "The trade-off curve of what was charged so far");
  trade_off->fallthrough();
  trade_off->add_option("session", drawn->session, "BUDGET/SESSION")->required();
  AddAccountantFlag(*trade_off, drawn->accountant);
  drawn->points.AddTo(*trade_off, "Points (up to 1,000 type I errors)");
  trade_off->footer("Example:\n  epsctl session trade-off adult/run-1 --at 0.001,0.01,0.1");
  trade_off->callback([&invocation, drawn] { PrintSessionTradeOff(invocation, *drawn); });
}

}  // namespace epsledger::cli
