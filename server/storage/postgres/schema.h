#ifndef EPSLEDGER_SERVER_STORAGE_POSTGRES_SCHEMA_H_
#define EPSLEDGER_SERVER_STORAGE_POSTGRES_SCHEMA_H_

#include <cstdint>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/storage/postgres/connection.h"
#include "server/storage/postgres/engine/engine.h"

namespace epsledger::storage {

// The allowed use of the ledgers of a database.
enum class PostgresPhase {
  kOpen,       // servers serve them
  kReceiving,  // a migration is bringing them: they are not complete yet
  kMoved,      // a migration has moved them: they continue elsewhere
};

// The tables of the ledgers: all but `epsledger`, which has the version and the phase.
inline constexpr const char* kLedgerTables[] = {"ledgers", "budgets",       "entries",
                                                "charges", "charge_blocks", "incarnations"};

// True if the change that ended with `status` is worth another try, because another server makes
// the same tables. Where a table is no part of the transaction, the lock does not keep two servers
// apart: one of them is aborted, or told that the table is there, even with IF NOT EXISTS, or that
// its rights were changed concurrently.
bool MayBeOfARace(const PostgresConnection& connection, const PostgresEngine& engine,
                  const absl::Status& status);

// Creates or updates the tables. Any number of servers may call it concurrently: it locks one row.
// FAILED_PRECONDITION for a database that a newer server has changed.
absl::Status MigratePostgresSchema(PostgresConnection& connection, const PostgresEngine& engine);

// Returns true if there is nothing for MigratePostgresSchema to do.
absl::StatusOr<bool> HasNewestPostgresSchema(PostgresConnection& connection);

// FAILED_PRECONDITION unless `version` is the one that MigratePostgresSchema leaves: otherwise a
// newer server has changed the tables during the life of this one.
absl::Status CheckPostgresVersion(int64_t version);

// Returns the phase with this name in the table `epsledger`. FAILED_PRECONDITION for an unknown
// name.
absl::StatusOr<PostgresPhase> PostgresPhaseOf(std::string_view name);
// Durable when it returns OK.
absl::Status WritePostgresPhase(PostgresConnection& connection, PostgresPhase phase);

}  // namespace epsledger::storage

#endif  // EPSLEDGER_SERVER_STORAGE_POSTGRES_SCHEMA_H_
