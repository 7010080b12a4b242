#ifndef EPSLEDGER_SERVER_STORAGE_POSTGRES_DURABILITY_H_
#define EPSLEDGER_SERVER_STORAGE_POSTGRES_DURABILITY_H_

#include "absl/status/status.h"
#include "server/storage/postgres/connection.h"

namespace epsledger::storage {

// OK if everything that the database acknowledges in this session survives a power loss and, unless
// `without_standby`, the loss of its machine. FAILED_PRECONDITION names the setting, its value and
// the required value. The settings are read, not proven: a disk may lie. synchronous_commit stays
// fixed for the session; the other settings may change during it.
absl::Status CheckPostgresDurability(PostgresConnection& connection, bool without_standby);

}  // namespace epsledger::storage

#endif  // EPSLEDGER_SERVER_STORAGE_POSTGRES_DURABILITY_H_
