#include "tests/benchmark/raw_rows.h"

#include <array>
#include <cstdio>
#include <cstdlib>

#include "server/storage/charge_block.h"
#include "server/storage/sqlite/schema.h"

namespace epsledger {
namespace {

// The size of a charge of a Gaussian mechanism with a charge id of seven digits.
constexpr size_t kContentBytes = 62;

void Check(bool good, sqlite3* database) {
  if (good) return;
  std::fprintf(stderr, "raw SQLite: %s\n", sqlite3_errmsg(database));
  std::exit(1);
}

void Execute(sqlite3* database, const char* sql) {
  Check(sqlite3_exec(database, sql, nullptr, nullptr, nullptr) == SQLITE_OK, database);
}

void Run(sqlite3_stmt* statement) {
  Check(sqlite3_step(statement) == SQLITE_DONE, sqlite3_db_handle(statement));
  sqlite3_reset(statement);
}

sqlite3* OpenDatabase(const std::string& path) {
  sqlite3* database = nullptr;
  const int opened =
      sqlite3_open_v2(path.c_str(), &database,
                      SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, nullptr);
  Check(opened == SQLITE_OK, database);
  return database;
}

}  // namespace

RawRows::RawRows(const std::string& path) {
  std::remove(path.c_str());
  database_.reset(OpenDatabase(path));
  Execute(database_.get(),
          "PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
          " PRAGMA foreign_keys = ON");
  if (!storage::MigrateSqliteSchema(database_.get()).ok()) std::exit(1);
  Execute(database_.get(), "INSERT INTO ledgers (ledger_id, root_budget) VALUES (1, 'hot')");
  begin_ = Prepare("BEGIN IMMEDIATE");
  commit_ = Prepare("COMMIT");
  insert_entry_ = Prepare("INSERT INTO entries (entry_id, hash, content) VALUES (?1, ?2, ?3)");
  insert_charge_ = Prepare(
      "INSERT INTO charges (ledger_id, session_number, attempt, charge_id, sequence)"
      " VALUES (1, 1, 1, ?1, ?2)");
  insert_block_ = Prepare(
      "INSERT OR IGNORE INTO charge_blocks (ledger_id, session_number, block) VALUES (1, 1, ?1)");
}

RawRows::Statement RawRows::Prepare(const char* sql) {
  sqlite3_stmt* statement = nullptr;
  Check(sqlite3_prepare_v3(database_.get(), sql, -1, SQLITE_PREPARE_PERSISTENT, &statement,
                           nullptr) == SQLITE_OK,
        database_.get());
  return Statement(statement);
}

void RawRows::WriteTransaction(int64_t count) {
  std::array<char, 32> hash{};
  std::array<char, kContentBytes> content{};
  Run(begin_.get());
  for (int64_t i = 0; i < count; ++i) {
    ++written_;
    const std::string id = std::to_string(written_);
    sqlite3_bind_int64(insert_entry_.get(), 1, storage::EntryId(1, written_));
    sqlite3_bind_blob(insert_entry_.get(), 2, hash.data(), hash.size(), SQLITE_STATIC);
    sqlite3_bind_blob(insert_entry_.get(), 3, content.data(), content.size(), SQLITE_STATIC);
    Run(insert_entry_.get());
    sqlite3_bind_text(insert_charge_.get(), 1, id.data(), static_cast<int>(id.size()),
                      SQLITE_STATIC);
    sqlite3_bind_int64(insert_charge_.get(), 2, written_);
    Run(insert_charge_.get());
    if (storage::BlockOf(written_) != storage::BlockOf(written_ - 1) || written_ == 1) {
      sqlite3_bind_int64(insert_block_.get(), 1, storage::BlockOf(written_));
      Run(insert_block_.get());
    }
  }
  Run(commit_.get());
}

int64_t ScanEntries(const std::string& path) {
  sqlite3* database = OpenDatabase(path);
  sqlite3_stmt* select = nullptr;
  Check(sqlite3_prepare_v2(database, "SELECT content, hash FROM entries ORDER BY entry_id", -1,
                           &select, nullptr) == SQLITE_OK,
        database);
  int64_t count = 0;
  while (sqlite3_step(select) == SQLITE_ROW) {
    count += sqlite3_column_bytes(select, 0) > 0 && sqlite3_column_blob(select, 1) != nullptr;
  }
  sqlite3_finalize(select);
  sqlite3_close_v2(database);
  return count;
}

}  // namespace epsledger
