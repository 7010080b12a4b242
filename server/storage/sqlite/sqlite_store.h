#ifndef EPSLEDGER_SERVER_STORAGE_SQLITE_SQLITE_STORE_H_
#define EPSLEDGER_SERVER_STORAGE_SQLITE_SQLITE_STORE_H_

#include <sqlite3.h>

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "server/storage/data_directory.h"
#include "server/storage/key_table.h"
#include "server/storage/ledger_store.h"
#include "server/storage/sqlite/checkpoint_gate.h"
#include "server/storage/sqlite/handles.h"
#include "server/storage/sqlite/served_files.h"

namespace epsledger::storage {

// The embedded store: one SQLite file in write-ahead mode, every commit fsynced, held exclusively
// by this process.
class SqliteStore : public LedgerStore {
 public:
  struct Options {
    // The name of a registered sqlite3_vfs; nullptr: the default of the operating system.
    const char* vfs = nullptr;
    // Pages in the log after which a commit moves them to the database.
    int checkpoint_pages = 1000;
    // Creates the database if it is missing. If false, a missing database is an error.
    bool create = true;
    // Holds the folder and keeps an anchor beside the database (served_files.h). For servers.
    bool anchored = false;
    // If not empty: opens a database that has lost commits, as a new incarnation that records this
    // reason.
    std::string accept_loss;
    // If not empty: begins a new incarnation, for this reason.
    std::string begin_because;
  };

  // Opens or creates `path`, whose folder exists. FAILED_PRECONDITION if another process holds it,
  // it belongs to another program, it does not exist or was renamed in the meantime, or the file
  // system cannot keep the required promises. DATA_LOSS if acknowledged commits are gone
  // (CheckForLostCommits); the files are then unchanged.
  static absl::StatusOr<std::unique_ptr<SqliteStore>> Open(const std::string& path,
                                                           const Options& options);
  static absl::StatusOr<std::unique_ptr<SqliteStore>> Open(const std::string& path) {
    return Open(path, Options());
  }

  // Moves the log to the database, unless something failed or somebody copies the database.
  ~SqliteStore() override;

  absl::Status ReadAll(
      absl::FunctionRef<absl::Status(const std::string& root_id, core::Entry entry)> visit)
      override;
  // The loss that was found when the database was opened with accept_loss.
  const std::string& accepted_loss() const { return accepted_loss_; }

  std::vector<core::Incarnation> Incarnations() const override { return incarnations_; }
  std::vector<std::string> LedgersWithDamagedKeys() const override { return damaged_keys_; }
  absl::Status Damage() const override { return damage_; }
  // A database is read only if it could not be written when it was opened, or after a failed
  // transaction.
  absl::Status Writable() const override;
  // FAILED_PRECONDITION after a failed sync: a later sync may succeed although writes were lost.
  absl::Status Resume() override;
  absl::Status Begin() override;
  absl::Status Append(const std::string& root_id, const core::Entry& entry) override;
  absl::Status Commit() override;
  absl::StatusOr<std::vector<std::string>> Rollback() override;
  absl::StatusOr<std::vector<core::Entry>> ReadEntries(const std::string& root_id,
                                                       int64_t after_sequence, int64_t limit,
                                                       int64_t max_bytes) override;
  absl::StatusOr<std::optional<core::Entry>> FindCharge(const std::string& root_id,
                                                        const core::ChargeKey& key) override;
  absl::StatusOr<std::vector<core::Entry>> ListCharges(const std::string& root_id,
                                                       int64_t session_number,
                                                       int64_t after_sequence, int64_t limit,
                                                       int64_t max_bytes) override;

 private:
  SqliteStore() = default;
  // SQLite calls this after a commit that left `pages` pages in the log.
  static int CheckpointIfDue(void* self, sqlite3* database, const char* schema, int pages);
  // Opens everything, by the steps below it.
  absl::Status Configure(const std::string& path, const Options& options);
  // Opens the file alone, with settings that have an effect.
  absl::Status OpenDatabase(const std::string& path, const Options& options);
  // Makes what the log shows durable, and moves it to the database if there is room.
  absl::Status MakeLogDurable(const std::string& path, const Options& options);
  // Brings the schema up to date, or only checks it if the database cannot be written.
  absl::Status CheckSchema();
  absl::Status PrepareStatements();
  // Begins a new incarnation if there is a reason, and serves the files from now on.
  absl::Status BeginIncarnation(const Options& options);
  struct Setting {
    const char* pragma;
    const char* want;
  };
  absl::Status Set(const std::string& path, const Setting& setting);
  // Opens the log under the exclusive lock, and checks that the log and the database hold
  // everything that was acknowledged.
  absl::Status OpenLog(const std::string& path, const Options& options);
  // Makes the contents of the log durable: they may be in the cache of the operating system only.
  absl::Status RewriteLog();
  // Moves the whole log to the database. Returns false if somebody copies the database; the log
  // then stays.
  absl::StatusOr<bool> TruncateLog();
  absl::Status ReadIncarnations();
  // Begins to keep the anchor and to check the names of a served database.
  absl::Status KeepFiles();
  // Writes a megabyte beside the database, syncs it and removes it.
  absl::Status TrialWrite();
  void NoteSync(int code);
  // OK unless a sync failed.
  absl::Status Trusted() const;
  // Sets whether closing may move the log into the database. It must not after an error: a failed
  // sync may have lost writes while the next sync succeeds, and a power loss during the move would
  // leave pages of transactions that the durable log does not have.
  void CheckpointOnClose(bool trusted) const;
  absl::StatusOr<Statement> Prepare(const char* sql);
  // Steps a statement that returns no rows, and resets it.
  absl::Status Run(sqlite3_stmt* statement);
  absl::Status Error(const char* doing);
  absl::Status ReadLedgers();
  // Returns the number of the ledger, or 0 if it is not stored yet.
  int64_t LedgerId(const std::string& root_id) const;
  struct StoredLedger {
    int64_t id = 0;
    int64_t sequence = 0;  // of the last entry
  };
  // Returns the ledger; stores it if it is new.
  absl::StatusOr<StoredLedger*> LedgerOf(const std::string& root_id);
  // Called at the end of ReadAll: checks that the tables of charge keys and blocks agree with the
  // entries.
  absl::Status CheckTables(const std::map<int64_t, const std::string*>& root_ids, KeyTable keys,
                           BlockTable blocks);
  absl::Status ReadRows(const char* sql, absl::FunctionRef<void(sqlite3_stmt*)> visit);
  // Records that the block of `sequence` has a charge of the session.
  absl::Status MarkBlock(int64_t ledger_id, int64_t session_number, int64_t sequence);

  FolderLock folder_;
  std::unique_ptr<CheckpointGate> gate_;  // nullptr without an anchor
  // Declared before the statements, so that it is destroyed after them.
  Database database_;
  Statement begin_;
  Statement commit_;
  Statement rollback_;
  Statement insert_ledger_;
  Statement insert_budget_;
  Statement insert_entry_;
  Statement insert_charge_;
  Statement insert_block_;
  Statement read_entries_;
  Statement find_charge_;
  Statement list_charges_;
  std::map<std::string, StoredLedger> ledgers_;
  // The last marked block: ledger, session, block.
  std::array<int64_t, 3> marked_{};
  std::vector<std::string> appended_;  // ledgers of the open transaction's entries
  int checkpoint_pages_ = 0;
  std::string path_;
  bool with_names_ = false;  // the files are the operating system's own
  bool anchored_ = false;
  bool sync_failed_ = false;
  absl::Status unwritable_;
  std::string begun_because_;  // the reason for a new incarnation; empty: none begins
  std::vector<core::Incarnation> incarnations_;
  std::vector<std::string> damaged_keys_;
  absl::Status damage_;
  std::string accepted_loss_;
  std::unique_ptr<ServedFiles> served_;  // nullptr: not served
};

// DATA_LOSS for a database that may still be read.
absl::Status DamagedDatabase(const std::string& what);

}  // namespace epsledger::storage

#endif  // EPSLEDGER_SERVER_STORAGE_SQLITE_SQLITE_STORE_H_
