#ifndef EPSLEDGER_SERVER_STORAGE_POSTGRES_DURABILITY_H_
#define EPSLEDGER_SERVER_STORAGE_POSTGRES_DURABILITY_H_

#include "absl/status/status.h"
#include "server/storage/postgres/connection.h"

namespace epsledger::storage {

// OK if what the database acknowledges in this session survives the loss of its power and, unless
// `without_standby`, of its machine. FAILED_PRECONDITION names the setting, what it is and what it
// must be. Settings are read, not proven: a disk may lie. The session keeps its
// synchronous_commit; the other settings may change under it.
absl::Status CheckPostgresDurability(PostgresConnection& connection, bool without_standby);

}  // namespace epsledger::storage

#endif  // EPSLEDGER_SERVER_STORAGE_POSTGRES_DURABILITY_H_
