#include "server/storage/postgres/durability.h"

#include <string>

#include "absl/strings/str_format.h"
#include "accounting/event/status_macros.h"

namespace epsledger::storage {

// CockroachDB has no fsync to show, so it is refused; it always waits for a majority of its
// replicas. YugabyteDB shows all of these settings, but they mean nothing there: without a standby
// it may pass.
absl::Status CheckPostgresDurability(PostgresConnection& connection, bool without_standby) {
  const struct {
    const char* setting;
    const char* why;
  } must_be_on[] = {
      {"fsync", "a power loss would lose or damage charges that were acknowledged"},
      {"full_page_writes", "a power loss would leave half-written pages"},
  };
  for (const auto& [setting, why] : must_be_on) {
    ASSIGN_OR_RETURN(const std::string value,
                     connection.ReadText(absl::StrFormat("SHOW %s", setting)));
    if (value != "on") {
      return absl::FailedPreconditionError(
          absl::StrFormat("ledger database: %s is \"%s\", want \"on\": %s", setting, value, why));
    }
  }
  ASSIGN_OR_RETURN(const std::string commit, connection.ReadText("SHOW synchronous_commit"));
  const bool local = commit == "local" || commit == "remote_write";
  if (commit != "on" && commit != "remote_apply" && !(local && without_standby)) {
    return absl::FailedPreconditionError(absl::StrFormat(
        "ledger database: synchronous_commit is \"%s\", want \"on\" or \"remote_apply\": a charge "
        "would be acknowledged before it is durable%s",
        commit, local ? " on the standby" : ""));
  }
  RETURN_IF_ERROR(connection.Execute("SET synchronous_commit = " + commit));
  if (without_standby) return absl::OkStatus();
  ASSIGN_OR_RETURN(const std::string standbys,
                   connection.ReadText("SHOW synchronous_standby_names"));
  if (standbys.empty()) {
    return absl::FailedPreconditionError(
        "ledger database: synchronous_standby_names is empty, want a synchronous standby: a "
        "failover would lose charges that were acknowledged. Where there is one machine and no "
        "failover, say --postgres-without-standby");
  }
  return absl::OkStatus();
}

}  // namespace epsledger::storage
