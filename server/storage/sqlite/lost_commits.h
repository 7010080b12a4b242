#ifndef EPSLEDGER_SERVER_STORAGE_SQLITE_LOST_COMMITS_H_
#define EPSLEDGER_SERVER_STORAGE_SQLITE_LOST_COMMITS_H_

#include <sqlite3.h>

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/storage/sqlite/anchor.h"

namespace epsledger::storage {

// The incarnations of the database, the present one last; none where no server has kept an anchor.
absl::StatusOr<std::vector<core::Incarnation>> IncarnationsOf(sqlite3* database);

// What an anchor of this moment would say, but for its incarnation and commit.
absl::StatusOr<Anchor> PresentState(sqlite3* database);

// DATA_LOSS if there is no database at `path`, or an empty file, beside a log or an anchor that are
// not empty. To be asked before SQLite opens it: it deletes the log of an empty database.
absl::Status CheckForLostDatabase(const std::string& path);

// DATA_LOSS, with what is missing, if the write-ahead log (write_ahead_log.h) or the anchor beside
// the database shows that commits which were acknowledged are gone: an anchor names an entry that
// the database does not hold, belongs to another database, is damaged, or is missing although there
// was one. UNAVAILABLE if something cannot be read. A database that never had an anchor is held to
// its log alone.
//
// Changes nothing, and is to be asked before anything is written or checkpointed. REQUIRES: the
// database at `path` is open, its log is too if it has one, and nobody writes.
absl::Status CheckForLostCommits(sqlite3* database, const std::string& path);

}  // namespace epsledger::storage

#endif  // EPSLEDGER_SERVER_STORAGE_SQLITE_LOST_COMMITS_H_
