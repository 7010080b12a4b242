#include <cstdint>
#include <memory>
#include <ostream>
#include <string>

#include <google/protobuf/util/time_util.h>

#include "absl/strings/str_cat.h"
#include "client/cli/commands/commands.h"
#include "client/cli/flags/event_flags.h"
#include "client/cli/flags/resource_name.h"
#include "client/cli/interrupt.h"
#include "client/cpp/watch_changes.h"
#include "proto/bridge/printable.h"

namespace epsledger::cli {
namespace {

struct WatchFlags {
  std::string name;
  int64_t after_sequence = 0;
  int64_t limit = 0;
};

// Returns what the ledger says of the entry itself. The change holds a budget or session as it is
// now, which may have changed since. Empty if the entry cannot be read.
std::string TextOfEntry(Connection& connection, const v1::LedgerChange& change) {
  const std::string& name = NameOf(change);
  v1::ListAuditEntriesRequest request;
  request.set_budget(name.substr(0, name.find("/sessions/")));
  request.set_after_sequence(change.sequence() - 1);
  request.set_page_size(1);
  const absl::StatusOr<v1::ListAuditEntriesResponse> page = connection.Call(
      connection.audit(), &v1::AuditService::StubInterface::ListAuditEntries, request);
  if (!page.ok() || page->entries_size() != 1) return "";
  if (page->entries(0).sequence() != change.sequence()) return "";
  return page->entries(0).description();
}

// Describes what happened in a few words.
std::string Describe(Connection& connection, const v1::LedgerChange& change) {
  switch (change.change_case()) {
    case v1::LedgerChange::kBudget: {
      const std::string text = TextOfEntry(connection, change);
      return !text.empty() ? text
                           : absl::StrCat("budget changed, now ",
                                          v1::Budget::State_Name(change.budget().state()));
    }
    case v1::LedgerChange::kSession: {
      const std::string text = TextOfEntry(connection, change);
      return !text.empty() ? text
                           : absl::StrCat("session changed, now ",
                                          v1::Session::State_Name(change.session().state()));
    }
    case v1::LedgerChange::kAttempt:
      return "attempt opened";
    case v1::LedgerChange::kCharge: {
      const v1::Charge& charge = change.charge();
      const std::string what = absl::StrCat(charge.count(), " x ", DescribeEvent(charge));
      return charge.decision() == v1::Charge::ACCEPTED
                 ? absl::StrCat("charge ACCEPTED: ", what)
                 : absl::StrCat("charge REFUSED, ",
                                v1::Refusal::Reason_Name(charge.refusal().reason()), ": ", what);
    }
    case v1::LedgerChange::kLease:
      return change.lease().settled()
                 ? absl::StrCat("lease settled: ", change.lease().used_count(), " used, ",
                                change.lease().wasted_count(), " wasted")
                 : absl::StrCat("lease granted: ", change.lease().granted_count());
    case v1::LedgerChange::kRefusedSession:
      return absl::StrCat("session refused, ",
                          v1::Refusal::Reason_Name(change.refused_session().refusal().reason()));
    case v1::LedgerChange::CHANGE_NOT_SET:
      break;
  }
  return "";
}

// Prints one line per change in every format: a stream has no end at which to print a table.
void PrintChange(Invocation& invocation, Connection& connection, const v1::LedgerChange& change) {
  std::ostream& out = invocation.terminal().out;
  if (invocation.IsForPeople()) {
    out << change.sequence() << "  " << google::protobuf::util::TimeUtil::ToString(change.time())
        << "  " << ShortName(NameOf(change)) << "  "
        << bridge::Printable(Describe(connection, change)) << "\n";
  } else {
    out << ToJson(change, false) << "\n";
  }
  out.flush();
}

void Run(Invocation& invocation, const absl::StatusOr<std::string>& name, const WatchFlags& flags) {
  if (!name.ok()) return invocation.Fail(name.status(), CallKind::kRead);
  const absl::StatusOr<Connection*> connection = invocation.Connect();
  if (!connection.ok()) return invocation.Fail(connection.status(), CallKind::kRead);
  Canceller canceller;
  const Interrupt interrupt([&canceller] { canceller.Cancel(); });
  int64_t left = flags.limit;
  const absl::Status end = WatchChanges(
      **connection, *name, flags.after_sequence, canceller, [&](const v1::LedgerChange& change) {
        if (change.change_case() == v1::LedgerChange::CHANGE_NOT_SET) return true;
        PrintChange(invocation, **connection, change);
        return flags.limit == 0 || --left > 0;
      });
  if (!end.ok() && !canceller.cancelled()) invocation.Fail(end, CallKind::kRead);
}

}  // namespace

void AddWatchCommands(CLI::App& app, Invocation& invocation) {
  CLI::App* watch = app.add_subcommand(
      "watch", "Every change as it happens, a line each; continues after a broken connection");
  watch->require_subcommand(1);
  watch->fallthrough();
  const auto add = [&](const char* noun, const char* what, const char* type, const char* example,
                       auto full_name) {
    auto flags = std::make_shared<WatchFlags>();
    CLI::App* command = watch->add_subcommand(noun, what);
    command->fallthrough();
    command->add_option(noun, flags->name, type)->required();
    command
        ->add_option("--after", flags->after_sequence,
                     "only changes after this ledger entry; 0: from the first")
        ->type_name("SEQUENCE");
    command->add_option("--limit", flags->limit, "end after this many changes")
        ->check(CLI::PositiveNumber)
        ->type_name("N");
    command->footer(example);
    command->callback(
        [&invocation, flags, full_name] { Run(invocation, full_name(flags->name), *flags); });
  };
  add("budget", "Changes of a budget, its descendants and their sessions", "BUDGET",
      "csv is not a format of watch: lines are JSON, or words on a terminal. Ctrl-C ends it.\n"
      "Example:\n  epsctl watch budget adult --after 2 --limit 1",
      [](const std::string& text) { return BudgetName(text); });
  add("session", "Changes of one session", "BUDGET/SESSION",
      "csv is not a format of watch: lines are JSON, or words on a terminal. Ctrl-C ends it.\n"
      "Example:\n  epsctl watch session adult/run-1",
      [](const std::string& text) { return SessionName(text); });
}

}  // namespace epsledger::cli
