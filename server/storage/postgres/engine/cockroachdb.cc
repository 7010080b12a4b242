// CockroachDB: a commit is on the disks of a majority of the replicas before it is acknowledged or
// visible, unless the cluster setting below is changed. From its documentation; never run.

#include <string>
#include <string_view>

#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "accounting/event/status_macros.h"
#include "server/storage/postgres/engine/engine.h"
#include "server/storage/postgres/schema.h"

namespace epsledger::storage {
namespace {

// One query for the check at the start and for the one after every commit.
constexpr PostgresStatement kSyncsItsLog = {
    "SELECT CASE WHEN disabled OR $1::bigint < 0 THEN 'no' ELSE 'yes' END"
    " FROM [SHOW CLUSTER SETTING kv.raft_log.synchronization.unsafe.disabled] AS s (disabled)"};

// The number after "name = " in the statement that would make the present configuration; 0 if it
// has none.
int CountIn(std::string_view zone, std::string_view name) {
  size_t at = zone.find(std::string(name) + " = ");
  if (at == std::string_view::npos) return 0;
  at += name.size() + 3;
  int count = 0;
  return absl::SimpleAtoi(
             std::string(zone.substr(at, zone.find_first_not_of("0123456789", at) - at)), &count)
             ? count
             : 0;
}

absl::Status CheckReplicas(PostgresConnection& connection) {
  for (const char* table : kLedgerTables) {
    ASSIGN_OR_RETURN(
        const std::string zone,
        connection.ReadText(absl::StrFormat(
            "SELECT raw_config_sql FROM [SHOW ZONE CONFIGURATION FROM TABLE %s]", table)));
    const int voters = CountIn(zone, "num_voters");
    const int replicas = voters > 0 ? voters : CountIn(zone, "num_replicas");
    if (replicas < 3) {
      return absl::FailedPreconditionError(absl::StrFormat(
          "ledger database: num_replicas of the table %s is %d, want 3 or more: the loss of one "
          "machine would lose charges that were acknowledged. Where there is one machine and no "
          "failover, say --postgres-without-standby",
          table, replicas));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckCockroachdbDurability(PostgresConnection& connection, bool without_standby) {
  ASSIGN_OR_RETURN(const auto synced, connection.Run({{&kSyncsItsLog, PostgresValues().Int(0)}}));
  if (synced.front().count() != 1 || synced.front().Bytes(0, 0) != "yes") {
    return absl::FailedPreconditionError(
        "ledger database: kv.raft_log.synchronization.unsafe.disabled is true, want false: a power "
        "loss would lose or damage charges that were acknowledged");
  }
  ASSIGN_OR_RETURN(const std::string isolation,
                   connection.ReadText("SHOW default_transaction_isolation"));
  if (isolation != "serializable") {
    return absl::FailedPreconditionError(absl::StrFormat(
        "ledger database: default_transaction_isolation is \"%s\", want \"serializable\": at "
        "another level a lock may be lost in the middle of a transaction",
        isolation));
  }
  ASSIGN_OR_RETURN(const std::string autocommit, connection.ReadText("SHOW autocommit_before_ddl"));
  if (autocommit != "off") {
    return absl::FailedPreconditionError(absl::StrFormat(
        "ledger database: autocommit_before_ddl is \"%s\", want \"off\": a transaction that makes "
        "a table would end before it",
        autocommit));
  }
  return without_standby ? absl::OkStatus() : CheckReplicas(connection);
}

}  // namespace

const PostgresEngine kCockroachdb = {
    .name = "CockroachDB",
    .is_tested = false,
    .caution =
        "no client can see the settings of its disks: start every node with a store on a disk, "
        "and not with --store=type=mem",
    // At SERIALIZABLE locks are a help, and not what the caps rest on; with the two settings of
    // locks, FOR SHARE locks too, and no lock is lost when a lease moves.
    .session_settings =
        "SET default_transaction_isolation = 'serializable';"
        "SET enable_durable_locking_for_serializable = on;"
        "SET enable_shared_locking_for_serializable = on;"
        "SET autocommit_before_ddl = off;"
        "SET client_min_messages = 'warning';"
        "SET idle_in_transaction_session_timeout = '15s';"
        "SET lock_timeout = '10s'",
    .check_durability = CheckCockroachdbDurability,
    .still_durable = kSyncsItsLog,
    .still_durable_settings = "kv.raft_log.synchronization.unsafe.disabled",
    .await_standby = nullptr,
    // An unknown outcome has a code of its own there, 40003, which is UNAVAILABLE.
    .is_aborted_commit_definite = true,
    .held_phase = {"SELECT phase, schema_version FROM epsledger FOR SHARE"},
    .await_writers = nullptr,  // it has no LOCK TABLE
    // Strings compare by bytes, and keys are in order.
    .schema_words = {.by_bytes = "", .ascending = "", .if_missing = ""},
    .owner_keeps_rights = true,
    .place =
        "SELECT crdb_internal.cluster_id()::text || '/' || (SELECT oid FROM pg_database WHERE "
        "datname = current_database())::text",
};

}  // namespace epsledger::storage
