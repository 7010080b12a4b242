#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include <google/protobuf/util/time_util.h>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/cli/commands/commands.h"
#include "client/cli/print/answers.h"

namespace epsledger::cli {
namespace {

std::unique_ptr<v1::ServerInfo> GetInfo(Invocation& invocation) {
  return invocation.Call(&Connection::server, &v1::ServerService::StubInterface::GetServerInfo,
                         v1::GetServerInfoRequest(), CallKind::kRead);
}

void Info(Invocation& invocation) {
  const auto info = GetInfo(invocation);
  if (info == nullptr) return;
  std::string incarnation;
  if (const int count = info->incarnations_size(); count > 0) {
    const v1::Incarnation& present = info->incarnations(count - 1);
    incarnation = absl::StrCat(
        absl::BytesToHexString(present.id()), " since ",
        google::protobuf::util::TimeUtil::ToString(present.begin_time()), ": ", present.reason(),
        count > 1 ? absl::StrCat(" (incarnation ", count, " of this database)") : "");
  }
  std::vector<std::string> quarantined;
  for (const v1::Quarantine& quarantine : info->quarantines()) {
    quarantined.push_back(absl::StrCat(quarantine.root_budget(), ": ", quarantine.reason()));
  }
  Table table({"version", "storage", "started", "not serving", "quarantined", "budgets", "sessions",
               "entries", "access control", "incarnation", "statement public key"});
  table.AddRow({info->version(), info->storage(),
                google::protobuf::util::TimeUtil::ToString(info->start_time()),
                TableCell(info->not_serving_reason()).In(Tone::kBad),
                TableCell(absl::StrJoin(quarantined, "; ")).In(Tone::kBad), info->budget_count(),
                info->session_count(), info->entry_count(), info->access_control() ? "yes" : "no",
                incarnation, absl::BytesToHexString(info->statement_public_key())});
  invocation.Print({.messages = {info.get()}, .table = table});
}

// For scripts and probes: the exit code has the answer.
void Health(Invocation& invocation) {
  const auto info = GetInfo(invocation);
  if (info == nullptr) return;
  const bool serving = info->not_serving_reason().empty();
  Table table({"serving", "reason"});
  table.AddRow({TableCell(serving ? "yes" : "no").In(serving ? Tone::kGood : Tone::kBad),
                info->not_serving_reason()});
  invocation.Print({.table = table});
  if (!serving) invocation.set_exit_code(ExitCode::kFailed);
}

void WhoAmI(Invocation& invocation) {
  const auto caller =
      invocation.Call(&Connection::access, &v1::AccessService::StubInterface::GetCaller,
                      v1::GetCallerRequest(), CallKind::kRead);
  if (caller == nullptr) return;
  Table table({"principal", "role", "tenant", "limited to"});
  table.AddRow({caller->principal(), v1::Role::Kind_Name(caller->role()), caller->tenant(),
                GrantText(caller->grants())});
  invocation.Print({.messages = {caller.get()}, .table = table});
  if (!invocation.tenant().empty() && invocation.tenant() != caller->tenant()) {
    invocation.FailOffline(absl::FailedPreconditionError(
        absl::StrCat("tenant: got \"", caller->tenant(), "\" from the server, want \"",
                     invocation.tenant(), "\" as the context says")));
  }
}

}  // namespace

void AddServerCommands(CLI::App& app, Invocation& invocation) {
  CLI::App* server = app.add_subcommand("server", "The server itself, and who you are for it");
  server->require_subcommand(1);
  server->fallthrough();
  const auto add = [&](const char* verb, const char* what, const char* footer,
                       void (*run)(Invocation&)) {
    CLI::App* command = server->add_subcommand(verb, what);
    command->fallthrough();
    command->footer(footer);
    command->callback([&invocation, run] { run(invocation); });
  };
  add("info", "Version, storage, sizes, and the key that checks its statements",
      "Example:\n  epsctl server info -o json", Info);
  add("health", "Does it take charges? Exit code 0 if so, else 1 with the reason",
      "Example:\n  epsctl server health --timeout 2", Health);
  add("whoami", "The caller's name, role and tenant", "Example:\n  epsctl server whoami", WhoAmI);
}

}  // namespace epsledger::cli
