#include "server/storage/sqlite_schema.h"

#include <iterator>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "server/storage/failpoint.h"

namespace epsledger::storage {
namespace {

// "epsl": tells our files from other programs' databases.
constexpr int kApplicationId = 0x6570736c;

// Step i brings version i to i + 1. Released steps never change.
constexpr const char* kMigrations[] = {
    R"sql(
-- A ledger a root budget. Every entry of it and of its descendants is in one hash chain.
CREATE TABLE ledgers (
  ledger_id   INTEGER PRIMARY KEY,
  root_budget TEXT NOT NULL UNIQUE
) STRICT;

-- Budget ids are unique in a tenant, not only in their tree: ids are "id" or "tenant/id".
CREATE TABLE budgets (
  budget_id TEXT PRIMARY KEY,
  ledger_id INTEGER NOT NULL REFERENCES ledgers
) STRICT, WITHOUT ROWID;

-- The truth: what happened, in order. content is the canonical encoding (server/core/codec.h),
-- hash = SHA-256(hash of the entry before || content).
CREATE TABLE entries (
  ledger_id INTEGER NOT NULL REFERENCES ledgers,
  sequence  INTEGER NOT NULL CHECK (sequence >= 1),
  hash      BLOB NOT NULL CHECK (length(hash) = 32),
  content   BLOB NOT NULL CHECK (length(content) > 0),
  PRIMARY KEY (ledger_id, sequence)
) STRICT, WITHOUT ROWID;

-- Dense: an entry follows the one before it.
CREATE TRIGGER entries_are_dense BEFORE INSERT ON entries
WHEN NEW.sequence > 1 AND NOT EXISTS (
  SELECT 1 FROM entries WHERE ledger_id = NEW.ledger_id AND sequence = NEW.sequence - 1)
BEGIN SELECT RAISE(ABORT, 'entries.sequence has a gap'); END;

-- Append-only.
CREATE TRIGGER entries_never_change BEFORE UPDATE ON entries
BEGIN SELECT RAISE(ABORT, 'entries are immutable'); END;
CREATE TRIGGER entries_never_vanish BEFORE DELETE ON entries
BEGIN SELECT RAISE(ABORT, 'entries are immutable'); END;

-- The idempotency key of every decided charge, accepted or refused, and where its row is; and of
-- every settled lease, as its charge id and "/settled".
CREATE TABLE charges (
  ledger_id      INTEGER NOT NULL,
  session_number INTEGER NOT NULL CHECK (session_number >= 1),
  attempt        INTEGER NOT NULL CHECK (attempt >= 1),
  charge_id      TEXT NOT NULL CHECK (length(charge_id) BETWEEN 1 AND 72),
  sequence       INTEGER NOT NULL,
  PRIMARY KEY (ledger_id, session_number, attempt, charge_id),
  FOREIGN KEY (ledger_id, sequence) REFERENCES entries
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX charges_in_order ON charges (ledger_id, session_number, sequence);
CREATE TRIGGER charges_never_change BEFORE UPDATE ON charges
BEGIN SELECT RAISE(ABORT, 'charges are immutable'); END;
CREATE TRIGGER charges_never_vanish BEFORE DELETE ON charges
BEGIN SELECT RAISE(ABORT, 'charges are immutable'); END;
)sql",
};
constexpr int kNewestVersion = static_cast<int>(std::size(kMigrations));

absl::Status Execute(sqlite3* database, const std::string& sql) {
  char* message = nullptr;
  if (sqlite3_exec(database, sql.c_str(), nullptr, nullptr, &message) == SQLITE_OK) {
    return absl::OkStatus();
  }
  absl::Status status = absl::InternalError(
      absl::StrCat("ledger database: ", message == nullptr ? "out of memory" : message));
  sqlite3_free(message);
  return status;
}

int ReadPragma(sqlite3* database, const char* sql) {
  int value = 0;
  sqlite3_exec(
      database, sql,
      [](void* out, int, char** columns, char**) {
        *static_cast<int*>(out) = columns[0] == nullptr ? 0 : std::atoi(columns[0]);
        return 0;
      },
      &value, nullptr);
  return value;
}

absl::Status OfAnotherProgram() {
  return absl::FailedPreconditionError("ledger database: the file belongs to another program");
}

absl::Status TooNew(int version) {
  return absl::FailedPreconditionError(absl::StrFormat(
      "ledger database: has schema version %d, this server knows %d; run a newer server", version,
      kNewestVersion));
}

}  // namespace

absl::Status CheckSqliteSchema(sqlite3* database) {
  // Also tells a file that is locked, or no database, from one of another program.
  if (sqlite3_exec(database, "PRAGMA schema_version", nullptr, nullptr, nullptr) != SQLITE_OK) {
    const int code = sqlite3_errcode(database) & 0xff;
    return absl::FailedPreconditionError(
        code == SQLITE_BUSY || code == SQLITE_LOCKED
            ? "ledger database: a server holds it; ask the server, or stop it first"
            : absl::StrCat("ledger database: ", sqlite3_errmsg(database)));
  }
  if (ReadPragma(database, "PRAGMA application_id") != kApplicationId) return OfAnotherProgram();
  const int version = ReadPragma(database, "PRAGMA user_version");
  if (version > kNewestVersion) return TooNew(version);
  if (version < kNewestVersion) {
    return absl::FailedPreconditionError(absl::StrFormat(
        "ledger database: has schema version %d, want %d: start a server on it once", version,
        kNewestVersion));
  }
  return absl::OkStatus();
}

absl::Status MigrateSqliteSchema(sqlite3* database) {
  const int application_id = ReadPragma(database, "PRAGMA application_id");
  const int version = ReadPragma(database, "PRAGMA user_version");
  const int table_count = ReadPragma(database, "SELECT count(*) FROM sqlite_schema");
  if (application_id != kApplicationId && (application_id != 0 || table_count != 0)) {
    return OfAnotherProgram();
  }
  if (version > kNewestVersion) return TooNew(version);
  for (int v = version; v < kNewestVersion; ++v) {
    Failpoint("schema.before_step");
    absl::Status status = Execute(
        database, absl::StrCat("BEGIN IMMEDIATE;", kMigrations[v], "PRAGMA user_version = ", v + 1,
                               "; PRAGMA application_id = ", kApplicationId));
    Failpoint("schema.before_commit");
    if (status.ok()) status = Execute(database, "COMMIT");
    if (!status.ok()) {
      sqlite3_exec(database, "ROLLBACK", nullptr, nullptr, nullptr);
      return status;
    }
    Failpoint("schema.after_step");
  }
  return absl::OkStatus();
}

}  // namespace epsledger::storage
