#ifndef EPSLEDGER_SERVER_STORAGE_POSTGRES_INCARNATIONS_H_
#define EPSLEDGER_SERVER_STORAGE_POSTGRES_INCARNATIONS_H_

#include <vector>

#include "absl/status/statusor.h"
#include "server/core/incarnation.h"
#include "server/storage/postgres/connection.h"

namespace epsledger::storage {

// The incarnations of the database, the present one last. Begins another one first if there is
// none, or if the database is another one than before: a dump that was restored, or a copy. A base
// backup and a standby that was promoted are the same one. Any number of servers may do it at once.
// REQUIRES: MigratePostgresSchema.
absl::StatusOr<std::vector<core::Incarnation>> KeepIncarnations(PostgresConnection& connection);

// The same without beginning one; none if no server has kept an account of them.
absl::StatusOr<std::vector<core::Incarnation>> ReadIncarnations(PostgresConnection& connection);

}  // namespace epsledger::storage

#endif  // EPSLEDGER_SERVER_STORAGE_POSTGRES_INCARNATIONS_H_
