#ifndef EPSLEDGER_SERVER_STORAGE_POSTGRES_KEY_ROWS_H_
#define EPSLEDGER_SERVER_STORAGE_POSTGRES_KEY_ROWS_H_

#include <cstdint>
#include <set>

#include "absl/status/statusor.h"
#include "server/storage/key_table.h"
#include "server/storage/postgres/connection.h"

namespace epsledger::storage {

// Reads the table of charge keys and returns the numbers of the ledgers for which it contradicts
// the entries in `keys`. REQUIRES: a transaction that sees exactly the same entries.
absl::StatusOr<std::set<int64_t>> ReadDamagedLedgers(PostgresConnection& connection, KeyTable keys);

}  // namespace epsledger::storage

#endif  // EPSLEDGER_SERVER_STORAGE_POSTGRES_KEY_ROWS_H_
