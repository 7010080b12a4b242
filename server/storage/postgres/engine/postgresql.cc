// PostgreSQL: the server syncs its log at every commit and waits for its standby, if it is set so.

#include <string>

#include "absl/strings/str_format.h"
#include "accounting/event/status_macros.h"
#include "server/storage/postgres/engine/engine.h"
#include "server/storage/postgres/statements.h"

namespace epsledger::storage {
namespace {

constexpr PostgresStatement kAwaitStandby = {
    "SELECT 1 FROM pg_logical_emit_message(true, 'epsledger', 'seen')"};

// synchronous_commit stays fixed for the session; the other settings may change during it.
absl::Status CheckPostgresqlDurability(PostgresConnection& connection, bool without_standby) {
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

}  // namespace

const PostgresEngine kPostgresql = {
    .name = "PostgreSQL",
    .is_tested = true,
    .caution = "",
    .session_settings = kSessionSettings,
    .check_durability = CheckPostgresqlDurability,
    .still_durable = {"SELECT CASE WHEN current_setting('fsync') = 'on'"
                      " AND current_setting('full_page_writes') = 'on'"
                      " AND ($1::bigint = 1 OR current_setting('synchronous_standby_names') <> '')"
                      " THEN 'yes' ELSE 'no' END"},
    .still_durable_settings = "fsync, full_page_writes or synchronous_standby_names",
    // Waits for its own later record.
    .await_standby = &kAwaitStandby,
    .is_aborted_commit_definite = true,
    .held_phase = kPhase,
    // A transaction that read the old phase holds a row lock of this table until it ends.
    .await_writers = "BEGIN; LOCK TABLE ledgers IN EXCLUSIVE MODE; COMMIT",
    // Not by the locale's order: a new version of its library would break the index.
    .schema_words = {.by_bytes = " COLLATE \"C\"", .ascending = "", .if_missing = ""},
    .owner_keeps_rights = false,
    .place =
        "SELECT system_identifier || '/' || (SELECT oid FROM pg_database WHERE datname = "
        "current_database()) FROM pg_control_system()",
};

}  // namespace epsledger::storage
