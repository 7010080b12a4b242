// YugabyteDB: PostgreSQL's own code above another storage. It shows fsync and the like, but they
// mean nothing there. From its documentation; never run.

#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "accounting/event/status_macros.h"
#include "server/storage/postgres/engine/engine.h"
#include "server/storage/postgres/statements.h"

namespace epsledger::storage {
namespace {

// Whoever waits for a lock reads afterwards what was committed in the meantime: only at READ
// COMMITTED, which is a snapshot of the beginning unless the servers have the flag.
absl::Status CheckYugabytedbDurability(PostgresConnection& connection, bool without_standby) {
  ASSIGN_OR_RETURN(const std::string isolation,
                   connection.ReadText("SELECT yb_get_effective_transaction_isolation_level()"));
  if (isolation != "read committed") {
    return absl::FailedPreconditionError(absl::StrFormat(
        "ledger database: its transactions are \"%s\", want \"read committed\": start yb-tserver "
        "with --yb_enable_read_committed_isolation=true",
        isolation));
  }
  if (without_standby) return absl::OkStatus();
  ASSIGN_OR_RETURN(const std::string servers,
                   connection.ReadText("SELECT count(*) FROM yb_servers()"));
  int64_t count = 0;
  if (!absl::SimpleAtoi(servers, &count) || count < 3) {
    return absl::FailedPreconditionError(absl::StrFormat(
        "ledger database: yb_servers() has %s servers, want 3 or more: the loss of one machine "
        "would lose charges that were acknowledged. Where there is one machine and no failover, "
        "say --postgres-without-standby",
        servers));
  }
  return absl::OkStatus();
}

}  // namespace

const PostgresEngine kYugabytedb = {
    .name = "YugabyteDB",
    .is_tested = false,
    .caution =
        "no client can see whether it syncs its log: start yb-tserver and yb-master with "
        "--durable_wal_write=true, because their default acknowledges a commit up to a second "
        "before it is on a disk; and with --replication_factor=3 or more",
    .session_settings = kSessionSettings,
    .check_durability = CheckYugabytedbDurability,
    // What is checked stays fixed for the session.
    .still_durable = {"SELECT CASE WHEN $1::bigint < 0 THEN 'no' ELSE 'yes' END"},
    .still_durable_settings = "nothing",
    .await_standby = nullptr,
    // 40001 also stands for a transaction that has expired: what became of it is not said.
    .is_aborted_commit_definite = false,
    .held_phase = {"SELECT phase, schema_version FROM epsledger FOR SHARE"},
    .await_writers = nullptr,  // LOCK TABLE is refused, or locks nothing
    // The first column of a key is hashed unless it is ASC. A table is made in a transaction of its
    // own, whatever transaction is open.
    .schema_words = {.by_bytes = " COLLATE \"C\"",
                     .ascending = " ASC",
                     .if_missing = " IF NOT EXISTS"},
    .owner_keeps_rights = false,
    // pg_control_system() is of one server only.
    .place =
        "SELECT min(universe_uuid::text) || '/' || (SELECT oid FROM pg_database WHERE datname = "
        "current_database()) FROM yb_servers()",
};

}  // namespace epsledger::storage
