#ifndef EPSLEDGER_SERVER_STORAGE_SQLITE_LOST_COMMITS_H_
#define EPSLEDGER_SERVER_STORAGE_SQLITE_LOST_COMMITS_H_

#include <sqlite3.h>

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/storage/sqlite/anchor.h"

namespace epsledger::storage {

// Returns the incarnations of the database, the present one last; none if no server has kept an
// anchor.
absl::StatusOr<std::vector<core::Incarnation>> IncarnationsOf(sqlite3* database);

// Returns the anchor for the present state, without its incarnation and commit.
absl::StatusOr<Anchor> PresentState(sqlite3* database);

// DATA_LOSS if the database at `path` is missing or empty, but its log or anchor is not empty.
// REQUIRES: SQLite has not opened the database yet, because it deletes the log of an empty
// database.
absl::Status CheckForLostDatabase(const std::string& path);

// DATA_LOSS, naming what is missing, if the write-ahead log (write_ahead_log.h) or the anchor
// beside the database shows that acknowledged commits are gone: an anchor names an entry that the
// database does not hold, belongs to another database, is damaged, or is missing although there was
// one. UNAVAILABLE if something cannot be read. For a database that never had an anchor, only the
// log is checked.
//
// Changes nothing. REQUIRES: nothing was written or checkpointed yet; the database at `path` is
// open, and so is its log if it has one; nobody writes.
absl::Status CheckForLostCommits(sqlite3* database, const std::string& path);

}  // namespace epsledger::storage

#endif  // EPSLEDGER_SERVER_STORAGE_SQLITE_LOST_COMMITS_H_
