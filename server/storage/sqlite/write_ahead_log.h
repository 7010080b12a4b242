#ifndef EPSLEDGER_SERVER_STORAGE_SQLITE_WRITE_AHEAD_LOG_H_
#define EPSLEDGER_SERVER_STORAGE_SQLITE_WRITE_AHEAD_LOG_H_

#include <sqlite3.h>

#include "absl/status/status.h"

namespace epsledger::storage {

// Whether the write-ahead log of a database proves that a durable commit is gone. SQLite reads a
// log up to the first frame whose checksum is wrong and takes the rest for a commit that never
// ended. Two things cannot come from a commit that was cut off:
//
//  * Behind that frame there are two commits of the same log. The second was begun when the first
//    was durable.
//  * The log's header is damaged, and its frames say something that the database does not say. A
//    header is durable before the frames behind it, and is replaced only when all of them are in
//    the database.
//
// DATA_LOSS, naming the frame and the byte, if it is proved; UNAVAILABLE if a file cannot be read.
// OK proves nothing: damage to the last commit, and a log that was cut off at a frame or removed,
// look like a power cut. `Anchor` is for those.
//
// Changes nothing. REQUIRES: nobody writes to either file. Cost: reads the log once.
absl::Status CheckWriteAheadLog(sqlite3_file* log, sqlite3_file* database);

}  // namespace epsledger::storage

#endif  // EPSLEDGER_SERVER_STORAGE_SQLITE_WRITE_AHEAD_LOG_H_
