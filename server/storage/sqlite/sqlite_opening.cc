// How a SqliteStore opens its files, and how it recovers after an error.

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "accounting/event/status_macros.h"
#include "server/storage/failpoint.h"
#include "server/storage/sqlite/lost_commits.h"
#include "server/storage/sqlite/schema.h"
#include "server/storage/sqlite/sqlite_store.h"
#include "server/storage/sqlite/vfs_file.h"

namespace epsledger::storage {
namespace {

constexpr int kBusyMillis = 1000;

// Enough for the log of a thousand charges, with a few charges per transaction.
constexpr int kTrialWrites = 16;  // of 64 KiB each

// Only its owner may read a ledger. SQLite gives its other files the mode of the database.
void KeepPrivate(const std::string& path, bool create) {
  if (create) {
    const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR);
    if (fd >= 0) close(fd);  // a new file, on which nobody has a lock
  }
  for (const char* ending : {"", "-wal", "-anchor"}) {
    chmod((path + ending).c_str(), S_IRUSR | S_IWUSR);  // fails for files of another owner
  }
}

}  // namespace

absl::StatusOr<std::unique_ptr<SqliteStore>> SqliteStore::Open(const std::string& given_path,
                                                               const Options& options) {
  // If the folder is moved away, its name leads elsewhere.
  const std::string path =
      options.vfs == nullptr ? std::filesystem::absolute(given_path).string() : given_path;
  std::unique_ptr<SqliteStore> store(new SqliteStore());
  const bool held = options.anchored && options.vfs == nullptr;
  if (held) {
    const std::string folder = std::filesystem::path(path).parent_path().string();
    ASSIGN_OR_RETURN(FolderLock lock, FolderLock::Hold(folder.empty() ? "." : folder));
    store->folder_ = std::move(lock);
  }
  if (options.vfs == nullptr) {
    RETURN_IF_ERROR(CheckForLostDatabase(path));
    KeepPrivate(path, options.create);
  }
  RETURN_IF_ERROR(store->Configure(path, options));
  return store;
}

absl::Status SqliteStore::Configure(const std::string& path, const Options& options) {
  RETURN_IF_ERROR(OpenDatabase(path, options));
  RETURN_IF_ERROR(MakeLogDurable(path, options));
  checkpoint_pages_ = options.checkpoint_pages;
  sqlite3_wal_hook(database_.get(), CheckpointIfDue, this);
  PassFailpointsInFiles(database_.get());
  RETURN_IF_ERROR(CheckSchema());
  RETURN_IF_ERROR(PrepareStatements());
  RETURN_IF_ERROR(ReadLedgers());
  return BeginIncarnation(options);
}

absl::Status SqliteStore::OpenDatabase(const std::string& path, const Options& options) {
  sqlite3* database = nullptr;
  const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE |
                    (options.create ? SQLITE_OPEN_CREATE : 0);
  const int opened = sqlite3_open_v2(path.c_str(), &database, flags, options.vfs);
  database_.reset(database);
  if (opened != SQLITE_OK) {
    return absl::FailedPreconditionError(
        absl::StrFormat("%s: cannot be opened: %s", path,
                        database == nullptr ? "out of memory" : sqlite3_errmsg(database)));
  }
  CheckpointOnClose(false);  // before RewriteLog
  // A process that was killed lets go of the folder shortly before it lets go of this file.
  sqlite3_busy_timeout(database, kBusyMillis);
  // Exclusive: a second server on the same data would decide on a stale state.
  const Setting settings[] = {
      {"PRAGMA locking_mode = EXCLUSIVE", "exclusive"},
      {"PRAGMA journal_mode = WAL", "wal"},
      {"PRAGMA synchronous = FULL; PRAGMA synchronous", "2"},
      {"PRAGMA foreign_keys = ON; PRAGMA foreign_keys", "1"},
      {"PRAGMA trusted_schema = OFF; PRAGMA trusted_schema", "0"},
      // At most 32 MiB, which holds most pages that keys in random order need.
      {"PRAGMA cache_size = -32768; PRAGMA cache_size", "-32768"},
  };
  for (const Setting& setting : settings) {
    RETURN_IF_ERROR(Set(path, setting));
  }
  sqlite3_busy_timeout(database, 0);
  if (sqlite3_db_readonly(database, "main") != 0) {
    return absl::FailedPreconditionError(
        path +
        ": can only be read: its mode, its file system or its first bytes say so. Nothing can be "
        "charged from it");
  }
  return absl::OkStatus();
}

absl::Status SqliteStore::MakeLogDurable(const std::string& path, const Options& options) {
  // The log may show transactions of an earlier process that are in the cache of the operating
  // system only: the process was killed before its sync, or its sync failed, and then a later sync
  // of the same file succeeds without writing them. Replays of their keys are answered without a
  // commit, and a checkpoint moves their pages to the database, so they must be durable first (I7).
  RETURN_IF_ERROR(OpenLog(path, options));
  RETURN_IF_ERROR(RewriteLog());
  // We hold the lock, but the file may have been renamed before. The result is also 0 if the system
  // does not know.
  int moved = 0;
  sqlite3_file_control(database_.get(), "main", SQLITE_FCNTL_HAS_MOVED, &moved);
  if (moved != 0) {
    return absl::FailedPreconditionError(path + ": was renamed while it was opened");
  }
  path_ = path;
  with_names_ = options.vfs == nullptr;
  if (absl::Status status = TruncateLog().status(); !status.ok()) {
    // The disk may be full. Everything that the log shows is durable and can be read.
    if (absl::Status trusted = Trusted(); !trusted.ok() || !absl::IsUnavailable(status)) {
      return status;
    }
    unwritable_ = status;
  }
  return absl::OkStatus();
}

absl::Status SqliteStore::CheckSchema() {
  const bool may_write = damage_.ok() && unwritable_.ok();
  const absl::Status schema =
      may_write ? MigrateSqliteSchema(database_.get()) : CheckSqliteSchema(database_.get());
  if (schema.ok() || may_write) return schema;
  return damage_.ok() ? unwritable_ : damage_;
}

absl::Status SqliteStore::PrepareStatements() {
  const std::pair<Statement*, const char*> statements[] = {
      {&begin_, "BEGIN IMMEDIATE"},
      {&commit_, "COMMIT"},
      {&rollback_, "ROLLBACK"},
      {&insert_ledger_, "INSERT INTO ledgers (root_budget) VALUES (?1)"},
      {&insert_budget_, "INSERT INTO budgets (budget_id, ledger_id) VALUES (?1, ?2)"},
      {&insert_entry_, "INSERT INTO entries (entry_id, hash, content) VALUES (?1, ?2, ?3)"},
      {&insert_charge_,
       "INSERT INTO charges (ledger_id, session_number, attempt, charge_id, sequence)"
       " VALUES (?1, ?2, ?3, ?4, ?5)"},
      {&insert_block_,
       "INSERT OR IGNORE INTO charge_blocks (ledger_id, session_number, block)"
       " VALUES (?1, ?2, ?3)"},
      {&read_entries_,
       "SELECT content, hash FROM entries WHERE entry_id > ?1 AND entry_id <= ?2"
       " ORDER BY entry_id LIMIT ?3"},
      {&find_charge_,
       // A key whose entry is not found is damaged, not free.
       "SELECT e.content, e.hash FROM charges c"
       " LEFT JOIN entries e ON e.entry_id = (c.ledger_id << 40) + c.sequence"
       " WHERE c.ledger_id = ?1 AND c.session_number = ?2 AND c.attempt = ?3 AND c.charge_id = ?4"},
      {&list_charges_,
       "SELECT e.content, e.hash FROM charge_blocks b CROSS JOIN entries e"
       " ON e.entry_id BETWEEN (b.ledger_id << 40) + (b.block << 6)"
       " AND (b.ledger_id << 40) + (b.block << 6) + 63"
       " WHERE b.ledger_id = ?1 AND b.session_number = ?2 AND b.block >= ?3"
       " ORDER BY b.block, e.entry_id"},
  };
  for (const auto& [statement, sql] : statements) {
    ASSIGN_OR_RETURN(Statement prepared, Prepare(sql));
    *statement = std::move(prepared);
  }
  return absl::OkStatus();
}

absl::Status SqliteStore::BeginIncarnation(const Options& options) {
  if (!damage_.ok() && !accepted_loss_.empty()) {
    return absl::DataLossError(absl::StrCat(
        path_,
        ": the loss was not accepted, and nothing was changed, because it is damaged besides: ",
        damage_.message()));
  }
  anchored_ = options.anchored || !accepted_loss_.empty();
  if (!accepted_loss_.empty()) {
    begun_because_ =
        absl::StrCat("a loss was accepted: ", options.accept_loss, "; ", accepted_loss_);
  }
  if (!options.begin_because.empty()) begun_because_ = options.begin_because;
  if (!damage_.ok()) return ReadIncarnations();
  if (anchored_ && begun_because_.empty()) {
    ASSIGN_OR_RETURN(std::string why, ServedFiles::WhyToBegin(database_.get(), path_, with_names_));
    begun_because_ = std::move(why);
  }
  // Without room to record an incarnation, none can begin.
  if (!unwritable_.ok()) return begun_because_.empty() ? ReadIncarnations() : unwritable_;
  absl::Status status = KeepFiles();
  if (status.ok()) return ReadIncarnations();
  const bool may_pass = absl::IsUnavailable(status) && Trusted().ok();
  if (!may_pass || !begun_because_.empty()) return status;
  unwritable_ = status;
  return ReadIncarnations();
}

absl::Status SqliteStore::ReadIncarnations() {
  absl::StatusOr<std::vector<core::Incarnation>> incarnations = IncarnationsOf(database_.get());
  // A damaged database takes no charges.
  if (!incarnations.ok()) return damage_.ok() ? incarnations.status() : absl::OkStatus();
  incarnations_ = *std::move(incarnations);
  return absl::OkStatus();
}

absl::Status SqliteStore::KeepFiles() {
  if (!anchored_ || served_ != nullptr) return absl::OkStatus();
  ASSIGN_OR_RETURN(
      std::unique_ptr<ServedFiles> served,
      ServedFiles::Keep(database_.get(), path_, begun_because_, with_names_, &sync_failed_));
  served_ = std::move(served);
  begun_because_.clear();
  if (gate_ != nullptr || !with_names_) return absl::OkStatus();
  absl::StatusOr<std::unique_ptr<CheckpointGate>> gate = CheckpointGate::Open(path_);
  if (gate.ok()) gate_ = *std::move(gate);
  return gate.status();
}

absl::Status SqliteStore::Set(const std::string& path, const Setting& setting) {
  std::string got;
  const int result = sqlite3_exec(
      database_.get(), setting.pragma,
      [](void* out, int, char** columns, char**) {
        *static_cast<std::string*>(out) = columns[0] == nullptr ? "" : columns[0];
        return 0;
      },
      &got, nullptr);
  if (result == SQLITE_OK && got == setting.want) return absl::OkStatus();
  CheckpointOnClose(false);
  if ((result & 0xff) == SQLITE_BUSY) {
    return absl::FailedPreconditionError(
        absl::StrFormat("%s: another process holds this ledger; one server at a time", path));
  }
  return absl::FailedPreconditionError(
      absl::StrFormat("%s: \"%s\" gave \"%s\" (%s), want \"%s\"", path, setting.pragma, got,
                      sqlite3_errmsg(database_.get()), setting.want));
}

absl::Status SqliteStore::OpenLog(const std::string& path, const Options& options) {
  if (sqlite3_exec(database_.get(), "PRAGMA schema_version", nullptr, nullptr, nullptr) !=
      SQLITE_OK) {
    return Error("opening the write-ahead log");
  }
  const absl::Status lost = CheckForLostCommits(database_.get(), path);
  if (absl::IsDataLoss(lost) && !options.accept_loss.empty()) {
    accepted_loss_ = std::string(lost.message());
  } else if (!lost.ok()) {
    return lost;
  }
  // Readable rows may be in a page whose record of its free space is wrong: the next write there
  // would destroy them.
  std::string found;
  const absl::Status checked = ReadRows("PRAGMA integrity_check(1)", [&](sqlite3_stmt* row) {
    const unsigned char* text = sqlite3_column_text(row, 0);
    if (text != nullptr) found = reinterpret_cast<const char*>(text);
  });
  if (!checked.ok() && !absl::IsDataLoss(checked)) return checked;
  if (!checked.ok()) {
    damage_ = DamagedDatabase(std::string(checked.message()));
  } else if (found != "ok") {
    // The finding has several lines, and may contain bytes of the file.
    damage_ = DamagedDatabase(absl::CHexEscape(
        absl::StrReplaceAll(found, {{"*** in database main ***\n", ""}, {"\n", "; "}})));
  }
  return absl::OkStatus();
}

absl::Status SqliteStore::RewriteLog() {
  const auto failed = [this](int code) {
    NoteSync(code);
    return absl::UnavailableError(absl::StrFormat(
        "ledger database: rewriting the write-ahead log: %s (%d)", sqlite3_errstr(code), code));
  };
  sqlite3_file* log = nullptr;
  const int found =
      sqlite3_file_control(database_.get(), "main", SQLITE_FCNTL_JOURNAL_POINTER, &log);
  if (found != SQLITE_OK) return failed(found);
  if (log == nullptr || log->pMethods == nullptr) return failed(SQLITE_CANTOPEN);
  sqlite3_int64 size = 0;
  if (const int code = log->pMethods->xFileSize(log, &size); code != SQLITE_OK) return failed(code);
  std::vector<char> chunk(1 << 16);
  for (sqlite3_int64 offset = 0; offset < size;) {
    const int length = static_cast<int>(std::min<sqlite3_int64>(size - offset, chunk.size()));
    int code = log->pMethods->xRead(log, chunk.data(), length, offset);
    if (code == SQLITE_OK) code = log->pMethods->xWrite(log, chunk.data(), length, offset);
    if (code != SQLITE_OK) return failed(code);
    offset += length;
  }
  const int synced = size == 0 ? SQLITE_OK : log->pMethods->xSync(log, SQLITE_SYNC_NORMAL);
  if (synced != SQLITE_OK) return failed(synced);
  CheckpointOnClose(true);
  return absl::OkStatus();
}

absl::StatusOr<bool> SqliteStore::TruncateLog() {
  if (gate_ == nullptr && with_names_) {
    absl::StatusOr<std::unique_ptr<CheckpointGate>> gate = CheckpointGate::Open(path_);
    if (!gate.ok() && !absl::IsNotFound(gate.status())) return gate.status();
    if (gate.ok()) gate_ = *std::move(gate);
  }
  if (gate_ != nullptr && !gate_->HoldAlone()) return false;
  const int code = sqlite3_wal_checkpoint_v2(database_.get(), "main", SQLITE_CHECKPOINT_TRUNCATE,
                                             nullptr, nullptr);
  if (gate_ != nullptr) gate_->Release();
  if (code != SQLITE_OK) return Error("moving the log to the database");
  return true;
}

absl::Status SqliteStore::TrialWrite() {
  sqlite3_vfs* vfs = nullptr;
  sqlite3_file_control(database_.get(), "main", SQLITE_FCNTL_VFS_POINTER, &vfs);
  const std::string path = path_ + "-trial";
  const absl::StatusOr<std::unique_ptr<VfsFile>> file = VfsFile::Open(vfs, path, /*create=*/true);
  absl::Status status = file.status();
  const std::string bytes(1 << 16, '\0');
  for (int64_t i = 0; status.ok() && i < kTrialWrites; ++i) {
    status = (*file)->Write(bytes, i * static_cast<int64_t>(bytes.size()));
  }
  if (status.ok()) status = (*file)->Sync();
  if (file.ok()) sync_failed_ |= (*file)->sync_failed();
  if (file.ok()) vfs->xDelete(vfs, path.c_str(), 0);
  return status;
}

absl::Status SqliteStore::Resume() {
  RETURN_IF_ERROR(Trusted());
  if (!damage_.ok()) return absl::FailedPreconditionError(std::string(damage_.message()));
  if (unwritable_.ok()) return absl::OkStatus();
  absl::Status status = TrialWrite();
  // As when opening: nothing of a failed transaction stays in the log.
  if (status.ok()) status = RewriteLog();
  if (status.ok()) {
    const absl::StatusOr<bool> truncated = TruncateLog();
    status = truncated.status();
    if (status.ok() && !*truncated) status = absl::UnavailableError("the database is being copied");
  }
  if (status.ok()) status = served_ == nullptr ? KeepFiles() : served_->Renew();
  if (!status.ok()) {
    CheckpointOnClose(false);
    const absl::Status trusted = Trusted();
    return trusted.ok() ? status : trusted;
  }
  unwritable_ = absl::OkStatus();
  return absl::OkStatus();
}

}  // namespace epsledger::storage
