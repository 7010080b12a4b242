#include "server/storage/sqlite/inspection.h"

#include <sqlite3.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "accounting/event/status_macros.h"
#include "server/storage/ledger_inspection.h"
#include "server/storage/sqlite/handles.h"
#include "server/storage/sqlite/lost_commits.h"
#include "server/storage/sqlite/schema.h"

namespace epsledger::storage {
namespace {

absl::Status Error(sqlite3* database, const std::string& path) {
  const int code = sqlite3_errcode(database) & 0xff;
  if (code == SQLITE_BUSY || code == SQLITE_LOCKED) {
    return absl::FailedPreconditionError(
        absl::StrCat(path, ": a server holds this ledger; ask the server, or stop it first"));
  }
  const std::string message = absl::StrCat(path, ": ", sqlite3_errmsg(database));
  if (code == SQLITE_NOTADB) return absl::FailedPreconditionError(message);
  return absl::DataLossError(message);
}

// The rows of one query.
class SqliteCursor : public RowCursor {
 public:
  SqliteCursor(sqlite3* database, const std::string& path, const char* sql, int64_t ledger_id = 0)
      : database_(database), path_(path) {
    sqlite3_stmt* statement = nullptr;
    if (sqlite3_prepare_v2(database, sql, -1, &statement, nullptr) != SQLITE_OK) {
      status_ = Error(database, path);
    }
    statement_.reset(statement);
    if (status_.ok()) sqlite3_bind_int64(statement, 1, ledger_id);
  }

  bool Next() override {
    if (!status_.ok()) return false;
    const int step = sqlite3_step(statement_.get());
    if (step != SQLITE_ROW && step != SQLITE_DONE) status_ = Error(database_, path_);
    return step == SQLITE_ROW;
  }
  const absl::Status& status() const override { return status_; }

  int64_t Int(int column) const override { return sqlite3_column_int64(statement_.get(), column); }
  std::string Bytes(int column) const override {
    const void* data = sqlite3_column_blob(statement_.get(), column);
    const auto size = static_cast<size_t>(sqlite3_column_bytes(statement_.get(), column));
    return data == nullptr ? "" : std::string(static_cast<const char*>(data), size);
  }

 private:
  sqlite3* database_;
  const std::string path_;
  Statement statement_;
  absl::Status status_;
};

absl::StatusOr<Database> OpenReadOnly(const std::string& path) {
  RETURN_IF_ERROR(CheckForLostDatabase(path));
  std::error_code error;
  if (!std::filesystem::exists(path, error)) {
    return absl::NotFoundError(path + ": there is no such file");
  }
  sqlite3* raw = nullptr;
  const int opened =
      sqlite3_open_v2(path.c_str(), &raw, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, nullptr);
  Database database(raw);
  if (opened != SQLITE_OK) return Error(raw, path);
  RETURN_IF_ERROR(CheckSqliteSchema(raw));
  return database;
}

class SqliteRows {
 public:
  SqliteRows(sqlite3* database, const std::string& path, int64_t ledger_id)
      : entries_(database, path,
                 "SELECT sequence, hash, content FROM entries"
                 " WHERE entry_id BETWEEN ?1 << 40 AND (?1 << 40) + 1099511627775"
                 " ORDER BY entry_id",
                 ledger_id),
        charges_(database, path,
                 "SELECT sequence, session_number, attempt, charge_id FROM charges"
                 " WHERE ledger_id = ?1 ORDER BY sequence",
                 ledger_id),
        budgets_(database, path,
                 "SELECT budget_id FROM budgets WHERE ledger_id = ?1 ORDER BY budget_id",
                 ledger_id) {}

  StoredRows stored() { return {entries_, charges_, budgets_}; }

 private:
  SqliteCursor entries_;
  SqliteCursor charges_;
  SqliteCursor budgets_;
};

// The faults that SQLite itself finds: in pages and indexes, and rows that belong to nothing.
absl::StatusOr<std::optional<core::LedgerFault>> CheckDatabase(sqlite3* database,
                                                               const std::string& path) {
  SqliteCursor integrity(database, path, "PRAGMA integrity_check(1)");
  if (integrity.Next() && integrity.Bytes(0) != "ok") {
    return core::LedgerFault{0, absl::StrCat("the database file: ", integrity.Bytes(0))};
  }
  if (!integrity.status().ok()) return integrity.status();
  SqliteCursor orphans(database, path, "PRAGMA foreign_key_check");
  if (orphans.Next()) {
    return core::LedgerFault{0, absl::StrCat("the table ", orphans.Bytes(0),
                                             " has a row that belongs to no ", orphans.Bytes(2))};
  }
  if (!orphans.status().ok()) return orphans.status();
  SqliteCursor strays(
      database, path,
      "SELECT 'entries' FROM entries WHERE ledger_id NOT IN (SELECT ledger_id FROM ledgers)"
      " UNION ALL"
      " SELECT 'charges' FROM charges WHERE ledger_id NOT IN (SELECT ledger_id FROM ledgers)"
      " LIMIT 1");
  if (strays.Next()) {
    return core::LedgerFault{
        0, absl::StrCat("the table ", strays.Bytes(0), " has a row that belongs to no ledger")};
  }
  if (!strays.status().ok()) return strays.status();
  constexpr const char* kBlocks = "SELECT ledger_id, session_number, block FROM charge_blocks";
  constexpr const char* kBlocksOfKeys =
      "SELECT ledger_id, session_number, sequence >> 6 FROM charges";
  for (const auto& [some, others] :
       {std::pair(kBlocks, kBlocksOfKeys), std::pair(kBlocksOfKeys, kBlocks)}) {
    SqliteCursor differences(database, path,
                             absl::StrCat(some, " EXCEPT ", others, " LIMIT 1").c_str());
    if (differences.Next()) {
      return core::LedgerFault{0, "the table of blocks says something else than that of keys"};
    }
    if (!differences.status().ok()) return differences.status();
  }
  return std::nullopt;
}

}  // namespace

absl::StatusOr<std::vector<LedgerReport>> VerifySqlite(const std::string& path,
                                                       core::PriceCheck prices, VisitEntry visit) {
  ASSIGN_OR_RETURN(const Database database, OpenReadOnly(path));
  std::vector<LedgerReport> reports;
  const absl::Status lost = CheckForLostCommits(database.get(), path);
  if (absl::IsDataLoss(lost)) {
    reports.push_back({.fault = core::LedgerFault{0, std::string(lost.message())}});
  } else if (!lost.ok()) {
    return lost;
  }
  SqliteCursor ledgers(database.get(), path,
                       "SELECT ledger_id, root_budget FROM ledgers ORDER BY ledger_id");
  while (ledgers.Next()) {
    SqliteRows rows(database.get(), path, ledgers.Int(0));
    const std::string root_id = ledgers.Bytes(1);
    ASSIGN_OR_RETURN(LedgerReport report,
                     InspectLedger(
                         root_id, rows.stored(),
                         [&](const core::Entry& entry) { visit(root_id, entry); }, prices));
    reports.push_back(std::move(report));
  }
  if (!ledgers.status().ok()) return ledgers.status();
  ASSIGN_OR_RETURN(std::optional<core::LedgerFault> fault, CheckDatabase(database.get(), path));
  if (fault.has_value()) reports.push_back({.fault = std::move(fault)});
  return reports;
}

absl::StatusOr<std::vector<core::Incarnation>> SqliteIncarnations(const std::string& path) {
  const absl::StatusOr<Database> database = OpenReadOnly(path);
  return database.ok() ? IncarnationsOf(database->get()) : database.status();
}

absl::StatusOr<LedgerReport> ExportSqlite(const std::string& path, const std::string& root_id,
                                          std::ostream& out) {
  ASSIGN_OR_RETURN(const Database database, OpenReadOnly(path));
  RETURN_IF_ERROR(CheckForLostCommits(database.get(), path));
  SqliteCursor ledgers(database.get(), path,
                       "SELECT ledger_id, root_budget FROM ledgers ORDER BY ledger_id");
  while (ledgers.Next()) {
    if (ledgers.Bytes(1) != root_id) continue;
    ExportWriter writer(out, root_id);
    SqliteRows rows(database.get(), path, ledgers.Int(0));
    absl::StatusOr<LedgerReport> report =
        InspectLedger(root_id, rows.stored(), [&](const core::Entry& entry) { writer.Add(entry); });
    if (!report.ok() || report->fault.has_value()) return report;
    RETURN_IF_ERROR(writer.Finish(report->head, report->merkle_root));
    return report;
  }
  if (!ledgers.status().ok()) return ledgers.status();
  return absl::NotFoundError(
      absl::StrCat(path, ": holds no ledger of the root budget budgets/", root_id));
}

}  // namespace epsledger::storage
