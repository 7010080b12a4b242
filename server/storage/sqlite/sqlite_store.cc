#include "server/storage/sqlite/sqlite_store.h"

#include <algorithm>
#include <cstring>
#include <set>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "accounting/event/status_macros.h"
#include "server/core/codec.h"
#include "server/storage/charge_block.h"
#include "server/storage/failpoint.h"
#include "server/storage/sqlite/schema.h"

namespace epsledger::storage {
namespace {

// Resets a statement at the end of the scope, which ends its implicit read.
class Reset {
 public:
  explicit Reset(sqlite3_stmt* statement) : statement_(statement) {}
  ~Reset() { sqlite3_reset(statement_); }
  Reset(const Reset&) = delete;
  Reset& operator=(const Reset&) = delete;

 private:
  sqlite3_stmt* statement_;
};

// Text and blobs are bound without a copy: they outlive the step.
void BindText(sqlite3_stmt* statement, int index, const std::string& value) {
  sqlite3_bind_text(statement, index, value.data(), static_cast<int>(value.size()), SQLITE_STATIC);
}
void BindBlob(sqlite3_stmt* statement, int index, const void* data, size_t size) {
  sqlite3_bind_blob(statement, index, data, static_cast<int>(size), SQLITE_STATIC);
}

std::string ColumnBytes(sqlite3_stmt* statement, int column) {
  const void* data = sqlite3_column_blob(statement, column);
  const int size = sqlite3_column_bytes(statement, column);
  return data == nullptr ? std::string()
                         : std::string(static_cast<const char*>(data), static_cast<size_t>(size));
}

absl::StatusOr<core::Entry> ColumnEntry(sqlite3_stmt* statement, int content, int hash_column) {
  core::Hash hash;
  const void* bytes = sqlite3_column_blob(statement, hash_column);
  if (bytes == nullptr ||
      sqlite3_column_bytes(statement, hash_column) != static_cast<int>(hash.size())) {
    return absl::DataLossError("ledger entry: damaged hash");
  }
  std::memcpy(hash.data(), bytes, hash.size());
  return core::DecodeEntry(ColumnBytes(statement, content), hash);
}

absl::Status RolledBack() {
  return absl::UnavailableError(
      "ledger database: the transaction was rolled back, as on a disk that is full or fails");
}

}  // namespace

absl::Status DamagedDatabase(const std::string& what) {
  return absl::DataLossError(absl::StrCat(
      "ledger database: it is damaged: ", what,
      ". What it holds may be read; nothing is written to it, because that could destroy entries. "
      "`epsctl ledger export` each root budget from this server and `epsledgerd ledger import` it "
      "into a new folder, or restore a backup: the newer of the two"));
}

absl::Status SqliteStore::ReadLedgers() {
  ledgers_.clear();
  ASSIGN_OR_RETURN(
      Statement ledgers,
      Prepare("SELECT l.root_budget, l.ledger_id,"
              " (SELECT max(entry_id) & 1099511627775 FROM entries"
              "  WHERE entry_id BETWEEN l.ledger_id << 40 AND (l.ledger_id << 40) + 1099511627775)"
              " FROM ledgers l"));
  int step;
  while ((step = sqlite3_step(ledgers.get())) == SQLITE_ROW) {
    ledgers_[ColumnBytes(ledgers.get(), 0)] = {.id = sqlite3_column_int64(ledgers.get(), 1),
                                               .sequence = sqlite3_column_int64(ledgers.get(), 2)};
  }
  if (step != SQLITE_DONE) return Error("reading the list of ledgers");
  return absl::OkStatus();
}

// Replaces SQLite's own hook, which does not report a failed sync of a checkpoint.
int SqliteStore::CheckpointIfDue(void* self, sqlite3* database, const char* schema, int pages) {
  auto* const store = static_cast<SqliteStore*>(self);
  if (pages < store->checkpoint_pages_) return SQLITE_OK;
  if (store->gate_ != nullptr && !store->gate_->HoldAlone()) return SQLITE_OK;
  Failpoint("checkpoint.before");
  const int result =
      sqlite3_wal_checkpoint_v2(database, schema, SQLITE_CHECKPOINT_PASSIVE, nullptr, nullptr);
  Failpoint("checkpoint.after");
  if (store->gate_ != nullptr) store->gate_->Release();
  store->NoteSync(result);
  return result;
}

void SqliteStore::NoteSync(int code) {
  sync_failed_ |= code == SQLITE_IOERR_FSYNC || code == SQLITE_IOERR_DIR_FSYNC;
}

absl::Status SqliteStore::Trusted() const {
  if (!sync_failed_ && (served_ == nullptr || !served_->sync_failed())) return absl::OkStatus();
  return absl::FailedPreconditionError(
      "ledger database: a sync failed, and nobody knows what of the newest writes the medium has");
}

absl::Status SqliteStore::Writable() const { return unwritable_; }

void SqliteStore::CheckpointOnClose(bool trusted) const {
  sqlite3_db_config(database_.get(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, trusted ? 0 : 1, nullptr);
}

absl::Status SqliteStore::Error(const char* doing) {
  CheckpointOnClose(false);
  const int code = sqlite3_extended_errcode(database_.get());
  NoteSync(code);
  const std::string message =
      absl::StrFormat("ledger database: %s: %s (%d)", doing, sqlite3_errmsg(database_.get()), code);
  if ((code & 0xff) == SQLITE_CONSTRAINT) return absl::AbortedError(message);
  if ((code & 0xff) == SQLITE_CORRUPT) return absl::DataLossError(message);
  return absl::UnavailableError(message);
}

SqliteStore::~SqliteStore() {
  // The gate is released after the database is closed.
  if (gate_ != nullptr && !gate_->HoldAlone()) CheckpointOnClose(false);
}

absl::StatusOr<Statement> SqliteStore::Prepare(const char* sql) {
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v3(database_.get(), sql, -1, SQLITE_PREPARE_PERSISTENT, &statement,
                         nullptr) != SQLITE_OK) {
    return Error(sql);
  }
  return Statement(statement);
}

absl::Status SqliteStore::Run(sqlite3_stmt* statement) {
  const int step = sqlite3_step(statement);
  absl::Status status = step == SQLITE_DONE ? absl::OkStatus() : Error(sqlite3_sql(statement));
  sqlite3_reset(statement);
  return status;
}

absl::Status SqliteStore::ReadAll(
    absl::FunctionRef<absl::Status(const std::string& root_id, core::Entry entry)> visit) {
  std::map<int64_t, const std::string*> root_ids;
  for (const auto& [root_id, ledger] : ledgers_) root_ids[ledger.id] = &root_id;
  ASSIGN_OR_RETURN(Statement select,
                   Prepare("SELECT entry_id, content, hash FROM entries ORDER BY entry_id"));
  auto root = root_ids.end();
  KeyTable keys;
  BlockTable blocks;
  int step;
  while ((step = sqlite3_step(select.get())) == SQLITE_ROW) {
    const int64_t entry_id = sqlite3_column_int64(select.get(), 0);
    const int64_t ledger_id = entry_id >> kSequenceBits;
    if (root == root_ids.end() || root->first != ledger_id) root = root_ids.find(ledger_id);
    if (root == root_ids.end()) return absl::DataLossError("an entry belongs to no ledger");
    ASSIGN_OR_RETURN(core::Entry entry, ColumnEntry(select.get(), 1, 2));
    if (entry_id != EntryId(ledger_id, entry.sequence)) {
      return absl::DataLossError(absl::StrFormat(
          "ledger of budgets/%s: entry %d is stored as another", *root->second, entry.sequence));
    }
    keys.AddEntry(ledger_id, entry);
    blocks.AddEntry(ledger_id, entry);
    RETURN_IF_ERROR(visit(*root->second, std::move(entry)));
  }
  if (step != SQLITE_DONE) return Error("reading the entries");
  return CheckTables(root_ids, std::move(keys), std::move(blocks));
}

absl::Status SqliteStore::CheckTables(const std::map<int64_t, const std::string*>& root_ids,
                                      KeyTable keys, BlockTable blocks) {
  std::set<int64_t> damaged;
  const absl::Status keys_read = ReadRows(
      "SELECT ledger_id, session_number, attempt, charge_id, sequence FROM charges"
      " ORDER BY ledger_id, session_number, attempt, charge_id",
      [&](sqlite3_stmt* row) {
        // To a lookup by text, a blob with the same bytes is another key.
        bool whole = sqlite3_column_type(row, 3) == SQLITE_TEXT;
        for (const int column : {0, 1, 2, 4}) {
          whole = whole && sqlite3_column_type(row, column) == SQLITE_INTEGER;
        }
        const int64_t ledger_id = sqlite3_column_int64(row, 0);
        if (!whole) damaged.insert(ledger_id);
        keys.AddRow(
            ledger_id,
            {sqlite3_column_int64(row, 1), sqlite3_column_int64(row, 2), ColumnBytes(row, 3)},
            sqlite3_column_int64(row, 4));
      });
  const absl::Status blocks_read = ReadRows(
      "SELECT ledger_id, session_number, block FROM charge_blocks", [&](sqlite3_stmt* row) {
        blocks.AddRow(sqlite3_column_int64(row, 0), sqlite3_column_int64(row, 1),
                      sqlite3_column_int64(row, 2));
      });
  for (const absl::Status& status : {keys_read, blocks_read}) {
    if (!status.ok() && !absl::IsDataLoss(status)) return status;
    if (damage_.ok()) damage_ = status;
  }
  for (const auto& ids : {keys.DamagedLedgers(), blocks.DamagedLedgers()}) {
    damaged.insert(ids.begin(), ids.end());
  }
  damaged_keys_.clear();
  bool strays = keys.IsInDisorder();
  for (const int64_t ledger_id : damaged) {
    const auto root = root_ids.find(ledger_id);
    if (root != root_ids.end()) {
      damaged_keys_.push_back(*root->second);
    } else {
      strays = true;  // would conflict with the ledger that gets this number
    }
  }
  if (strays && damage_.ok()) {
    damage_ = DamagedDatabase(
        "the table of charge keys has rows that belong to no ledger or are not in order");
  }
  return absl::OkStatus();
}

absl::Status SqliteStore::ReadRows(const char* sql, absl::FunctionRef<void(sqlite3_stmt*)> visit) {
  ASSIGN_OR_RETURN(Statement select, Prepare(sql));
  int step;
  while ((step = sqlite3_step(select.get())) == SQLITE_ROW) visit(select.get());
  return step == SQLITE_DONE ? absl::OkStatus() : Error(sql);
}

absl::Status SqliteStore::Begin() {
  Failpoint("begin.before");
  absl::Status status = damage_.ok() ? unwritable_ : damage_;
  if (status.ok()) status = Run(begin_.get());
  Failpoint("begin.after");
  return status;
}

absl::StatusOr<std::vector<std::string>> SqliteStore::Rollback() {
  CheckpointOnClose(false);
  unwritable_ = absl::UnavailableError("ledger database: a transaction failed");
  if (sqlite3_get_autocommit(database_.get()) == 0) {
    RETURN_IF_ERROR(Run(rollback_.get()));
  }
  marked_ = {};
  RETURN_IF_ERROR(ReadLedgers());
  if (served_ != nullptr) {
    RETURN_IF_ERROR(served_->TakeBack(database_.get()));
  }
  return std::exchange(appended_, {});
}

absl::Status SqliteStore::Commit() {
  Failpoint("commit.before");
  absl::Status status =
      sqlite3_get_autocommit(database_.get()) == 0 ? Run(commit_.get()) : RolledBack();
  if (status.ok() && served_ != nullptr) {
    Failpoint("anchor.before_write");
    status = served_->Committed();
  }
  if (status.ok()) {
    appended_.clear();
  } else {
    CheckpointOnClose(false);
  }
  Failpoint("commit.after");
  return status;
}

int64_t SqliteStore::LedgerId(const std::string& root_id) const {
  const auto it = ledgers_.find(root_id);
  return it == ledgers_.end() ? 0 : it->second.id;
}

absl::StatusOr<SqliteStore::StoredLedger*> SqliteStore::LedgerOf(const std::string& root_id) {
  if (const auto it = ledgers_.find(root_id); it != ledgers_.end()) return &it->second;
  BindText(insert_ledger_.get(), 1, root_id);
  RETURN_IF_ERROR(Run(insert_ledger_.get()));
  Failpoint("append.after_ledger");
  const int64_t id = sqlite3_last_insert_rowid(database_.get());
  if (id > kMaxLedgerId) return absl::ResourceExhaustedError("the database holds no more ledgers");
  return &ledgers_.emplace(root_id, StoredLedger{.id = id}).first->second;
}

absl::Status SqliteStore::Append(const std::string& root_id, const core::Entry& entry) {
  // Some errors, also of reads, make SQLite roll back by itself. From then on every statement would
  // be a separate transaction, and an entry could be stored without its key.
  if (sqlite3_get_autocommit(database_.get()) != 0) {
    return RolledBack();
  }
  Failpoint("append.before");
  if (appended_.empty() || appended_.back() != root_id) appended_.push_back(root_id);
  ASSIGN_OR_RETURN(StoredLedger * ledger, LedgerOf(root_id));
  const int64_t ledger_id = ledger->id;
  if (entry.sequence != ledger->sequence + 1 || entry.sequence > kMaxSequence) {
    return absl::AbortedError(absl::StrFormat("ledger database: entry %d of %s follows entry %d",
                                              entry.sequence, root_id, ledger->sequence));
  }
  sqlite3_bind_int64(insert_entry_.get(), 1, EntryId(ledger_id, entry.sequence));
  BindBlob(insert_entry_.get(), 2, entry.hash.data(), entry.hash.size());
  BindBlob(insert_entry_.get(), 3, entry.content.data(), entry.content.size());
  RETURN_IF_ERROR(Run(insert_entry_.get()));
  ledger->sequence = entry.sequence;
  if (served_ != nullptr) served_->Appended(EntryId(ledger_id, entry.sequence), entry.hash);
  Failpoint("append.after_entry");
  if (const std::optional<core::ChargeKey> key = core::KeyOf(entry.body)) {
    sqlite3_bind_int64(insert_charge_.get(), 1, ledger_id);
    sqlite3_bind_int64(insert_charge_.get(), 2, key->session_number);
    sqlite3_bind_int64(insert_charge_.get(), 3, key->attempt);
    BindText(insert_charge_.get(), 4, key->charge_id);
    sqlite3_bind_int64(insert_charge_.get(), 5, entry.sequence);
    absl::Status status = Run(insert_charge_.get());
    if (status.ok()) status = MarkBlock(ledger_id, key->session_number, entry.sequence);
    Failpoint("append.after_charge");
    return status;
  }
  if (const core::BudgetSpec* budget = core::NewBudgetOf(entry.body)) {
    const std::string stored_id = core::StoredId(core::TenantNameOf(root_id), budget->id);
    BindText(insert_budget_.get(), 1, stored_id);
    sqlite3_bind_int64(insert_budget_.get(), 2, ledger_id);
    absl::Status status = Run(insert_budget_.get());
    Failpoint("append.after_budget");
    return status;
  }
  return absl::OkStatus();
}

absl::Status SqliteStore::MarkBlock(int64_t ledger_id, int64_t session_number, int64_t sequence) {
  const std::array<int64_t, 3> block = {ledger_id, session_number, BlockOf(sequence)};
  if (block == marked_) return absl::OkStatus();
  for (int i = 0; i < 3; ++i) sqlite3_bind_int64(insert_block_.get(), i + 1, block[i]);
  absl::Status status = Run(insert_block_.get());
  if (status.ok()) marked_ = block;
  return status;
}

absl::StatusOr<std::vector<core::Entry>> SqliteStore::ReadEntries(const std::string& root_id,
                                                                  int64_t after_sequence,
                                                                  int64_t limit,
                                                                  int64_t max_bytes) {
  sqlite3_stmt* read = read_entries_.get();
  const Reset reset(read);
  const int64_t ledger_id = LedgerId(root_id);
  sqlite3_bind_int64(read, 1,
                     EntryId(ledger_id, std::clamp<int64_t>(after_sequence, 0, kMaxSequence)));
  sqlite3_bind_int64(read, 2, EntryId(ledger_id, kMaxSequence));
  sqlite3_bind_int64(read, 3, limit);
  std::vector<core::Entry> result;
  int step = SQLITE_DONE;
  for (int64_t bytes = 0; bytes < max_bytes && (step = sqlite3_step(read)) == SQLITE_ROW;) {
    ASSIGN_OR_RETURN(core::Entry entry, ColumnEntry(read, 0, 1));
    bytes += static_cast<int64_t>(entry.content.size());
    result.push_back(std::move(entry));
  }
  if (step != SQLITE_ROW && step != SQLITE_DONE) return Error("reading entries");
  return result;
}

absl::StatusOr<std::optional<core::Entry>> SqliteStore::FindCharge(const std::string& root_id,
                                                                   const core::ChargeKey& key) {
  sqlite3_stmt* find = find_charge_.get();
  const Reset reset(find);
  sqlite3_bind_int64(find, 1, LedgerId(root_id));
  sqlite3_bind_int64(find, 2, key.session_number);
  sqlite3_bind_int64(find, 3, key.attempt);
  BindText(find, 4, key.charge_id);
  const int step = sqlite3_step(find);
  if (step == SQLITE_DONE) return std::nullopt;
  if (step != SQLITE_ROW) return Error("looking up a charge");
  ASSIGN_OR_RETURN(core::Entry entry, ColumnEntry(find, 0, 1));
  return entry;
}

absl::StatusOr<std::vector<core::Entry>> SqliteStore::ListCharges(const std::string& root_id,
                                                                  int64_t session_number,
                                                                  int64_t after_sequence,
                                                                  int64_t limit,
                                                                  int64_t max_bytes) {
  sqlite3_stmt* list = list_charges_.get();
  const Reset reset(list);
  sqlite3_bind_int64(list, 1, LedgerId(root_id));
  sqlite3_bind_int64(list, 2, session_number);
  sqlite3_bind_int64(list, 3, BlockOf(after_sequence));
  std::vector<core::Entry> result;
  int step = SQLITE_DONE;
  int64_t bytes = 0;
  while (static_cast<int64_t>(result.size()) < limit && bytes < max_bytes &&
         (step = sqlite3_step(list)) == SQLITE_ROW) {
    ASSIGN_OR_RETURN(core::Entry entry, ColumnEntry(list, 0, 1));
    const std::optional<core::ChargeKey> charge = core::ChargeKeyOf(entry.body);
    if (!charge.has_value() || charge->session_number != session_number ||
        entry.sequence <= after_sequence) {
      continue;
    }
    bytes += static_cast<int64_t>(entry.content.size());
    result.push_back(std::move(entry));
  }
  if (step != SQLITE_ROW && step != SQLITE_DONE) return Error("listing charges");
  return result;
}

}  // namespace epsledger::storage
