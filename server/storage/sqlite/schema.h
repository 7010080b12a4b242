#ifndef EPSLEDGER_SERVER_STORAGE_SQLITE_SCHEMA_H_
#define EPSLEDGER_SERVER_STORAGE_SQLITE_SCHEMA_H_

#include <sqlite3.h>

#include <cstdint>

#include "absl/status/status.h"

namespace epsledger::storage {

// The parts of entries.entry_id, the position of an entry.
inline constexpr int kSequenceBits = 40;
inline constexpr int64_t kMaxSequence = (int64_t{1} << kSequenceBits) - 1;
inline constexpr int64_t kMaxLedgerId = (int64_t{1} << (63 - kSequenceBits)) - 1;
// REQUIRES: 0 <= sequence <= kMaxSequence, 0 <= ledger_id <= kMaxLedgerId.
constexpr int64_t EntryId(int64_t ledger_id, int64_t sequence) {
  return (ledger_id << kSequenceBits) + sequence;
}

// Brings the database to the newest schema, with one transaction per step. The version is SQLite's
// user_version. FAILED_PRECONDITION for a database of a newer version or of another program, and
// for a database whose tables and triggers differ from those that this program creates.
absl::Status MigrateSqliteSchema(sqlite3* database);

// OK if the database belongs to epsledger and has the newest schema. Changes nothing.
// FAILED_PRECONDITION as above, and for an older version, which a server updates when it starts.
absl::Status CheckSqliteSchema(sqlite3* database);

}  // namespace epsledger::storage

#endif  // EPSLEDGER_SERVER_STORAGE_SQLITE_SCHEMA_H_
