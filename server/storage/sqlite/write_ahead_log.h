#ifndef EPSLEDGER_SERVER_STORAGE_SQLITE_WRITE_AHEAD_LOG_H_
#define EPSLEDGER_SERVER_STORAGE_SQLITE_WRITE_AHEAD_LOG_H_

#include <sqlite3.h>

#include "absl/status/status.h"

namespace epsledger::storage {

// Checks whether the write-ahead log of a database proves that a durable commit is gone. SQLite
// reads a log up to the first frame with a wrong checksum and treats the rest as an unfinished
// commit. Two findings cannot come from an interrupted commit:
//
//  * Two commits of the same log follow that frame. The second began when the first was durable.
//  * The log's header is damaged, and its frames hold something that the database does not hold. A
//    header is durable before its frames are written, and is replaced only when all of them are in
//    the database.
//
// DATA_LOSS, naming the frame and the byte, if a loss is proved; UNAVAILABLE if a file cannot be
// read. OK proves nothing: damage to the last commit, and a log that was cut off at a frame or
// removed, look like a power cut. `Anchor` detects those.
//
// Changes nothing. REQUIRES: nobody writes to either file. Cost: reads the log once.
absl::Status CheckWriteAheadLog(sqlite3_file* log, sqlite3_file* database);

}  // namespace epsledger::storage

#endif  // EPSLEDGER_SERVER_STORAGE_SQLITE_WRITE_AHEAD_LOG_H_
