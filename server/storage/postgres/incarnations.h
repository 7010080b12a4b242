#ifndef EPSLEDGER_SERVER_STORAGE_POSTGRES_INCARNATIONS_H_
#define EPSLEDGER_SERVER_STORAGE_POSTGRES_INCARNATIONS_H_

#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/core/incarnation.h"
#include "server/storage/postgres/connection.h"
#include "server/storage/postgres/engine/engine.h"

namespace epsledger::storage {

// Returns the incarnations of the database, the present one last. First begins a new one if none
// exists, or if the database is another one than before: a restored dump, or a copy. A base backup
// and a promoted standby count as the same database. Any number of servers may call it
// concurrently. REQUIRES: MigratePostgresSchema was called.
absl::StatusOr<std::vector<core::Incarnation>> KeepIncarnations(PostgresConnection& connection,
                                                                const PostgresEngine& engine);

// Makes the table alone, without an incarnation. REQUIRES: as KeepIncarnations.
absl::Status MakeTableOfIncarnations(PostgresConnection& connection, const PostgresEngine& engine);

// Returns the incarnations without beginning one; none if no server has recorded any.
absl::StatusOr<std::vector<core::Incarnation>> ReadIncarnations(PostgresConnection& connection);

}  // namespace epsledger::storage

#endif  // EPSLEDGER_SERVER_STORAGE_POSTGRES_INCARNATIONS_H_
