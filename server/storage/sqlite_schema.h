#ifndef EPSLEDGER_SERVER_STORAGE_SQLITE_SCHEMA_H_
#define EPSLEDGER_SERVER_STORAGE_SQLITE_SCHEMA_H_

#include <sqlite3.h>

#include "absl/status/status.h"

namespace epsledger::storage {

// Brings the database to the newest schema, one transaction a step. The version is SQLite's
// user_version. FAILED_PRECONDITION for a database of a newer version or of another program.
absl::Status MigrateSqliteSchema(sqlite3* database);

// OK if the database is ours and has the newest schema. Changes nothing. FAILED_PRECONDITION as
// above, and for an older version: a server that is started on it brings it up to date.
absl::Status CheckSqliteSchema(sqlite3* database);

}  // namespace epsledger::storage

#endif  // EPSLEDGER_SERVER_STORAGE_SQLITE_SCHEMA_H_
