#ifndef EPSLEDGER_SERVER_STORAGE_POSTGRES_WRITER_RIGHTS_H_
#define EPSLEDGER_SERVER_STORAGE_POSTGRES_WRITER_RIGHTS_H_

// Tables that belong to another role than the servers'. The owner of a table can change every row,
// or grant itself the right to, so that only another role is bound to append.

#include <string>

#include "absl/status/status.h"
#include "server/storage/postgres/postgres_store.h"

namespace epsledger::storage {

// Makes the tables as the role of `owner.conninfo`, or updates them, and lets the role `writer` do
// what a server does: append everywhere, and move the heads of ledgers. May be called again, also
// while servers run. FAILED_PRECONDITION if the two are the same role.
absl::Status PreparePostgres(const PostgresStore::Options& owner, const std::string& writer);

// FAILED_PRECONDITION unless the tables are there in their newest version, and the role of this
// session can neither update nor delete what is written.
absl::Status CheckWriterRights(PostgresConnection& connection);

}  // namespace epsledger::storage

#endif  // EPSLEDGER_SERVER_STORAGE_POSTGRES_WRITER_RIGHTS_H_
