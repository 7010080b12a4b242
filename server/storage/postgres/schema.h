#ifndef EPSLEDGER_SERVER_STORAGE_POSTGRES_SCHEMA_H_
#define EPSLEDGER_SERVER_STORAGE_POSTGRES_SCHEMA_H_

#include <cstdint>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/storage/postgres/connection.h"

namespace epsledger::storage {

// What may be done with the ledgers of a database.
enum class PostgresPhase {
  kOpen,       // servers serve them
  kReceiving,  // a migration is bringing them: what is there is not all of it
  kMoved,      // a migration has taken them elsewhere: they go on there
};

// Makes or brings up to date the tables. Any number of servers may do it at once: one row is
// locked meanwhile. FAILED_PRECONDITION for a database that a newer server has changed.
absl::Status MigratePostgresSchema(PostgresConnection& connection);

// FAILED_PRECONDITION unless it is the version that MigratePostgresSchema leaves: a newer server
// has changed the tables under this one.
absl::Status CheckPostgresVersion(int64_t version);

// The phase of this name in the table `epsledger`. FAILED_PRECONDITION for an unknown name.
absl::StatusOr<PostgresPhase> PostgresPhaseOf(std::string_view name);
// Durable when it returns OK.
absl::Status WritePostgresPhase(PostgresConnection& connection, PostgresPhase phase);

}  // namespace epsledger::storage

#endif  // EPSLEDGER_SERVER_STORAGE_POSTGRES_SCHEMA_H_
