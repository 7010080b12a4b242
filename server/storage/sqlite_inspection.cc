#include "server/storage/sqlite_inspection.h"

#include <sqlite3.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "server/core/codec.h"
#include "server/storage/sqlite_schema.h"

namespace epsledger::storage {
namespace {

struct CloseDatabase {
  void operator()(sqlite3* database) const { sqlite3_close_v2(database); }
};
struct FinalizeStatement {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using Database = std::unique_ptr<sqlite3, CloseDatabase>;

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
class Rows {
 public:
  Rows(sqlite3* database, const std::string& path, const char* sql, int64_t ledger_id = 0)
      : database_(database), path_(path) {
    sqlite3_stmt* statement = nullptr;
    if (sqlite3_prepare_v2(database, sql, -1, &statement, nullptr) != SQLITE_OK) {
      status_ = Error(database, path);
    }
    statement_.reset(statement);
    if (status_.ok()) sqlite3_bind_int64(statement, 1, ledger_id);
  }

  // False after the last row, and after an error.
  bool Next() {
    if (!status_.ok()) return false;
    const int step = sqlite3_step(statement_.get());
    if (step != SQLITE_ROW && step != SQLITE_DONE) status_ = Error(database_, path_);
    return step == SQLITE_ROW;
  }
  const absl::Status& status() const { return status_; }

  int64_t Integer(int column) const { return sqlite3_column_int64(statement_.get(), column); }
  std::string Bytes(int column) const {
    const void* data = sqlite3_column_blob(statement_.get(), column);
    const auto size = static_cast<size_t>(sqlite3_column_bytes(statement_.get(), column));
    return data == nullptr ? "" : std::string(static_cast<const char*>(data), size);
  }

 private:
  sqlite3* database_;
  const std::string path_;
  std::unique_ptr<sqlite3_stmt, FinalizeStatement> statement_;
  absl::Status status_;
};

absl::StatusOr<Database> OpenReadOnly(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) {
    return absl::NotFoundError(path + ": there is no such file");
  }
  sqlite3* raw = nullptr;
  const int opened =
      sqlite3_open_v2(path.c_str(), &raw, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, nullptr);
  Database database(raw);
  if (opened != SQLITE_OK) return Error(raw, path);
  absl::Status status = CheckSqliteSchema(raw);
  if (!status.ok()) return status;
  return database;
}

// A row of `charges`, and the next ones, against the entries that come by.
class KeyIndex {
 public:
  KeyIndex(sqlite3* database, const std::string& path, int64_t ledger_id)
      : rows_(database, path,
              "SELECT sequence, session_number, attempt, charge_id FROM charges"
              " WHERE ledger_id = ?1 ORDER BY sequence",
              ledger_id) {
    has_row_ = rows_.Next();
  }

  // Whether the table says of `entry` what the entry says. REQUIRES: entries come in order.
  std::optional<core::LedgerFault> Check(const core::Entry& entry) {
    const std::optional<core::ChargeKey> key = core::KeyOf(entry.body);
    const bool listed = has_row_ && rows_.Integer(0) <= entry.sequence;
    if (!listed && !key.has_value()) return std::nullopt;
    const bool same = listed && key.has_value() && rows_.Integer(0) == entry.sequence &&
                      rows_.Integer(1) == key->session_number && rows_.Integer(2) == key->attempt &&
                      rows_.Bytes(3) == key->charge_id;
    if (same) {
      has_row_ = rows_.Next();
      return std::nullopt;
    }
    return core::LedgerFault{
        entry.sequence,
        absl::StrCat("the table of charge keys says something else than entry ", entry.sequence)};
  }
  // After the last entry: nothing may be left.
  std::optional<core::LedgerFault> CheckEnd(int64_t next_sequence) {
    if (!has_row_) return std::nullopt;
    return core::LedgerFault{next_sequence, absl::StrCat("the table of charge keys names entry ",
                                                         rows_.Integer(0), ", which is missing")};
  }
  const absl::Status& status() const { return rows_.status(); }

 private:
  Rows rows_;
  bool has_row_ = false;
};

std::optional<core::Hash> ReadHash(const std::string& bytes) {
  core::Hash hash;
  if (bytes.size() != hash.size()) return std::nullopt;
  std::copy(bytes.begin(), bytes.end(), hash.begin());
  return hash;
}

// Replays the ledger; `visit` gets every entry that is right.
absl::StatusOr<LedgerReport> Replay(sqlite3* database, const std::string& path, int64_t ledger_id,
                                    const std::string& root_id,
                                    absl::FunctionRef<void(const core::Entry&)> visit) {
  LedgerReport report{.root_id = root_id};
  core::LedgerVerifier verifier(root_id);
  KeyIndex keys(database, path, ledger_id);
  Rows entries(database, path,
               "SELECT content, hash, sequence FROM entries"
               " WHERE entry_id BETWEEN ?1 << 40 AND (?1 << 40) + 1099511627775 ORDER BY entry_id",
               ledger_id);
  while (!report.fault.has_value() && entries.Next()) {
    const int64_t want = verifier.next_sequence();
    const std::string content = entries.Bytes(0);
    const std::optional<core::Hash> hash = ReadHash(entries.Bytes(1));
    if (!hash.has_value()) {
      report.fault = {want, absl::StrCat("the hash of entry ", want, " has not 32 bytes")};
      break;
    }
    report.fault = verifier.Check(content, *hash);
    if (report.fault.has_value()) break;
    const core::Entry entry = *core::DecodeEntry(content, *hash);
    if (entries.Integer(2) != want || !verifier.NameFits()) {
      report.fault = {want,
                      absl::StrCat("entry ", want, " is stored under another number or root")};
    } else {
      report.fault = keys.Check(entry);
    }
    if (!report.fault.has_value()) visit(entry);
  }
  if (!entries.status().ok()) return entries.status();
  if (!keys.status().ok()) return keys.status();
  if (!report.fault.has_value()) report.fault = keys.CheckEnd(verifier.next_sequence());
  if (!report.fault.has_value() && verifier.head().sequence == 0) {
    report.fault = {1, "entry 1 is missing"};
  }
  report.head = verifier.head();
  report.merkle_root = verifier.merkle_root();
  if (report.fault.has_value()) return report;

  Rows budgets(database, path,
               "SELECT budget_id FROM budgets WHERE ledger_id = ?1 ORDER BY budget_id", ledger_id);
  auto expected = verifier.ledger().budgets().begin();
  const auto end = verifier.ledger().budgets().end();
  bool same = true;
  while (budgets.Next()) {
    same = same && expected != end &&
           budgets.Bytes(0) == core::StoredId(core::TenantNameOf(root_id), expected->first);
    if (expected != end) ++expected;
  }
  if (!budgets.status().ok()) return budgets.status();
  if (!same || expected != end) {
    report.fault = {0, "the table of budgets says something else than the entries"};
  }
  return report;
}

// What SQLite itself finds: pages and indexes, and rows that belong to nothing.
absl::StatusOr<std::optional<core::LedgerFault>> CheckDatabase(sqlite3* database,
                                                               const std::string& path) {
  Rows integrity(database, path, "PRAGMA integrity_check(1)");
  if (integrity.Next() && integrity.Bytes(0) != "ok") {
    return core::LedgerFault{0, absl::StrCat("the database file: ", integrity.Bytes(0))};
  }
  if (!integrity.status().ok()) return integrity.status();
  Rows orphans(database, path, "PRAGMA foreign_key_check");
  if (orphans.Next()) {
    return core::LedgerFault{0, absl::StrCat("the table ", orphans.Bytes(0),
                                             " has a row that belongs to no ", orphans.Bytes(2))};
  }
  if (!orphans.status().ok()) return orphans.status();
  Rows strays(
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
    Rows differences(database, path, absl::StrCat(some, " EXCEPT ", others, " LIMIT 1").c_str());
    if (differences.Next()) {
      return core::LedgerFault{0, "the table of blocks says something else than that of keys"};
    }
    if (!differences.status().ok()) return differences.status();
  }
  return std::nullopt;
}

}  // namespace

absl::StatusOr<std::vector<LedgerReport>> VerifySqlite(const std::string& path) {
  const absl::StatusOr<Database> database = OpenReadOnly(path);
  if (!database.ok()) return database.status();
  std::vector<LedgerReport> reports;
  Rows ledgers(database->get(), path,
               "SELECT ledger_id, root_budget FROM ledgers ORDER BY ledger_id");
  while (ledgers.Next()) {
    absl::StatusOr<LedgerReport> report = Replay(database->get(), path, ledgers.Integer(0),
                                                 ledgers.Bytes(1), [](const core::Entry&) {});
    if (!report.ok()) return report.status();
    reports.push_back(*std::move(report));
  }
  if (!ledgers.status().ok()) return ledgers.status();
  absl::StatusOr<std::optional<core::LedgerFault>> fault = CheckDatabase(database->get(), path);
  if (!fault.ok()) return fault.status();
  if (fault->has_value()) reports.push_back({.fault = *std::move(fault)});
  return reports;
}

absl::StatusOr<LedgerReport> ExportSqlite(const std::string& path, const std::string& root_id,
                                          std::ostream& out) {
  const absl::StatusOr<Database> database = OpenReadOnly(path);
  if (!database.ok()) return database.status();
  Rows ledgers(database->get(), path,
               "SELECT ledger_id, root_budget FROM ledgers ORDER BY ledger_id");
  while (ledgers.Next()) {
    if (ledgers.Bytes(1) != root_id) continue;
    ExportWriter writer(out, root_id);
    absl::StatusOr<LedgerReport> report =
        Replay(database->get(), path, ledgers.Integer(0), root_id,
               [&](const core::Entry& entry) { writer.Add(entry); });
    if (!report.ok() || report->fault.has_value()) return report;
    if (absl::Status status = writer.Finish(report->head, report->merkle_root); !status.ok()) {
      return status;
    }
    return report;
  }
  if (!ledgers.status().ok()) return ledgers.status();
  return absl::NotFoundError(
      absl::StrCat(path, ": holds no ledger of the root budget budgets/", root_id));
}

}  // namespace epsledger::storage
