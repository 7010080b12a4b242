#include "server/storage/sqlite/schema.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <string>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "server/storage/failpoint.h"
#include "server/storage/sqlite/handles.h"

namespace epsledger::storage {
namespace {

// "epsl": distinguishes epsledger files from databases of other programs.
constexpr int kApplicationId = 0x6570736c;

struct Step {
  int from;  // 0: a new file
  int to;
  const char* sql;
};

// Released steps never change. Version 1 was never released.
constexpr Step kSteps[] = {
    {0, 2, R"sql(
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
-- hash = SHA-256(hash of the entry before || content). entry_id = ledger_id * 2^40 + sequence, so
-- that a row is one insertion at the end of one tree.
CREATE TABLE entries (
  entry_id  INTEGER PRIMARY KEY,
  hash      BLOB NOT NULL CHECK (length(hash) = 32),
  content   BLOB NOT NULL CHECK (length(content) > 0),
  ledger_id INTEGER GENERATED ALWAYS AS (entry_id >> 40) VIRTUAL,
  sequence  INTEGER GENERATED ALWAYS AS (entry_id & 1099511627775) VIRTUAL
) STRICT;

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
  PRIMARY KEY (ledger_id, session_number, attempt, charge_id)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER charges_never_change BEFORE UPDATE ON charges
BEGIN SELECT RAISE(ABORT, 'charges are immutable'); END;
CREATE TRIGGER charges_never_vanish BEFORE DELETE ON charges
BEGIN SELECT RAISE(ABORT, 'charges are immutable'); END;

-- Where the charges of a session are in order: some of the entries 64 block to 64 block + 63 are
-- its. A session that charges alone has one row for 64 charges.
CREATE TABLE charge_blocks (
  ledger_id      INTEGER NOT NULL,
  session_number INTEGER NOT NULL,
  block          INTEGER NOT NULL,
  PRIMARY KEY (ledger_id, session_number, block)
) STRICT, WITHOUT ROWID;
)sql"},
};
constexpr int kNewestVersion = kSteps[std::size(kSteps) - 1].to;

// Not part of a schema version, because older servers need not know this table.
constexpr char kIncarnations[] = R"sql(
-- The lives of this database, the present one last: a new one begins where history may have been
-- left behind. The anchor beside the file names the one that it belongs to (anchor.h).
CREATE TABLE IF NOT EXISTS incarnations (
  number      INTEGER PRIMARY KEY,
  incarnation BLOB NOT NULL UNIQUE CHECK (length(incarnation) = 16),
  begin_time  INTEGER NOT NULL,  -- seconds since 1970
  reason      TEXT NOT NULL
) STRICT;
CREATE TRIGGER IF NOT EXISTS incarnations_never_change BEFORE UPDATE ON incarnations
BEGIN SELECT RAISE(ABORT, 'incarnations are immutable'); END;
CREATE TRIGGER IF NOT EXISTS incarnations_never_vanish BEFORE DELETE ON incarnations
BEGIN SELECT RAISE(ABORT, 'incarnations are immutable'); END;
)sql";

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

// Returns the SQL text of every table and trigger, by name.
std::map<std::string, std::string> ObjectsOf(sqlite3* database) {
  std::map<std::string, std::string> objects;
  sqlite3_exec(
      database, "SELECT type || ' ' || name, coalesce(sql, '') FROM sqlite_schema",
      [](void* out, int, char** columns, char**) {
        (*static_cast<std::map<std::string, std::string>*>(out))[columns[0]] = columns[1];
        return 0;
      },
      &objects, nullptr);
  return objects;
}

// Returns the objects of the newest version. Empty if SQLite has no memory for it.
std::map<std::string, std::string> WantedObjects() {
  sqlite3* raw = nullptr;
  const bool opened = sqlite3_open(":memory:", &raw) == SQLITE_OK;
  const Database database(raw);
  absl::Status made = opened ? absl::OkStatus() : absl::ResourceExhaustedError("out of memory");
  for (const Step& step : kSteps) {
    if (made.ok()) made = Execute(raw, step.sql);
  }
  if (made.ok()) made = Execute(raw, kIncarnations);
  return made.ok() ? ObjectsOf(raw) : std::map<std::string, std::string>();
}

// Checks the objects: another trigger or another order of keys would change the meaning of rows.
absl::Status CheckObjects(sqlite3* database) {
  const std::map<std::string, std::string> objects = ObjectsOf(database);
  const std::map<std::string, std::string> wanted = WantedObjects();
  const auto changed = [](const std::string& object, const char* how) {
    return absl::FailedPreconditionError(absl::StrCat("ledger database: its ",
                                                      absl::CHexEscape(object), how,
                                                      ": it was changed by somebody or damaged"));
  };
  for (const auto& [object, sql] : wanted) {
    const auto it = objects.find(object);
    const bool may_be_missing = object.find("incarnations") != std::string::npos;
    if (it == objects.end() && !may_be_missing) return changed(object, " is missing");
    if (it != objects.end() && it->second != sql) return changed(object, " is another");
  }
  for (const auto& [object, sql] : objects) {
    const bool is_statistics = object.find(" sqlite_stat") != std::string::npos;
    if (wanted.count(object) == 0 && !is_statistics)
      return changed(object, " is not of this program");
  }
  return absl::OkStatus();
}

absl::Status OfAnotherProgram() {
  return absl::FailedPreconditionError("ledger database: the file belongs to another program");
}

// Returns nullptr if there is none.
const Step* StepFrom(int version) {
  const auto* step = std::find_if(std::begin(kSteps), std::end(kSteps),
                                  [version](const Step& s) { return s.from == version; });
  return step == std::end(kSteps) ? nullptr : step;
}

absl::Status NeverReleased(int version) {
  return absl::FailedPreconditionError(absl::StrFormat(
      "ledger database: has schema version %d, which was never released: export its ledgers with "
      "the program that made it, and import them into a new folder",
      version));
}

absl::Status TooNew(int version) {
  return absl::FailedPreconditionError(absl::StrFormat(
      "ledger database: has schema version %d, this server knows %d; run a newer server", version,
      kNewestVersion));
}

}  // namespace

absl::Status CheckSqliteSchema(sqlite3* database) {
  // Also distinguishes a locked file, or one that is no database, from a database of another
  // program.
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
    if (StepFrom(version) == nullptr) return NeverReleased(version);
    return absl::FailedPreconditionError(absl::StrFormat(
        "ledger database: has schema version %d, want %d: start a server on it once", version,
        kNewestVersion));
  }
  return CheckObjects(database);
}

absl::Status MigrateSqliteSchema(sqlite3* database) {
  const int application_id = ReadPragma(database, "PRAGMA application_id");
  const int version = ReadPragma(database, "PRAGMA user_version");
  const int table_count = ReadPragma(database, "SELECT count(*) FROM sqlite_schema");
  if (application_id != kApplicationId && (application_id != 0 || table_count != 0)) {
    return OfAnotherProgram();
  }
  if (version > kNewestVersion) return TooNew(version);
  for (int v = version; v < kNewestVersion;) {
    const Step* step = StepFrom(v);
    if (step == nullptr) return NeverReleased(v);
    Failpoint("schema.before_step");
    absl::Status status = Execute(
        database, absl::StrCat("BEGIN IMMEDIATE;", step->sql, "PRAGMA user_version = ", step->to,
                               "; PRAGMA application_id = ", kApplicationId));
    Failpoint("schema.before_commit");
    if (status.ok()) status = Execute(database, "COMMIT");
    if (!status.ok()) {
      sqlite3_exec(database, "ROLLBACK", nullptr, nullptr, nullptr);
      return status;
    }
    Failpoint("schema.after_step");
    v = step->to;
  }
  absl::Status status = Execute(database, kIncarnations);
  return status.ok() ? CheckObjects(database) : status;
}

}  // namespace epsledger::storage
