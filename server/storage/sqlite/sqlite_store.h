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
    // The name of a registered sqlite3_vfs; nullptr is the operating system's own.
    const char* vfs = nullptr;
    // Pages in the log after which a commit moves them to the database.
    int checkpoint_pages = 1000;
    // Makes the database if it is missing, which otherwise is an error.
    bool create = true;
    // Holds the folder and keeps an anchor beside the database (served_files.h): for who serves
    // from it.
    bool anchored = false;
    // Opens what has lost commits all the same, as a new incarnation that notes this reason.
    std::string accept_loss;
    // Begins a new incarnation, for this reason.
    std::string begin_because;
  };

  // Opens or creates `path`, whose folder exists. FAILED_PRECONDITION if another process holds it,
  // it is not ours, it is not there or was renamed meanwhile, or the file system cannot keep the
  // promises asked of it. DATA_LOSS if commits that were acknowledged are gone
  // (CheckForLostCommits); the files are then as they were.
  static absl::StatusOr<std::unique_ptr<SqliteStore>> Open(const std::string& path,
                                                           const Options& options);
  static absl::StatusOr<std::unique_ptr<SqliteStore>> Open(const std::string& path) {
    return Open(path, Options());
  }

  // Moves the log to the database, unless something failed or somebody copies it.
  ~SqliteStore() override;

  absl::Status ReadAll(
      absl::FunctionRef<absl::Status(const std::string& root_id, core::Entry entry)> visit)
      override;
  // What was missing when it was opened with accept_loss.
  const std::string& accepted_loss() const { return accepted_loss_; }

  std::vector<core::Incarnation> Incarnations() const override { return incarnations_; }
  std::vector<std::string> LedgersWithDamagedKeys() const override { return damaged_keys_; }
  absl::Status Damage() const override { return damage_; }
  // A database that could not be written when it was opened is read only, and so is one of which a
  // transaction failed.
  absl::Status Writable() const override;
  // FAILED_PRECONDITION after a sync that failed: a later one says that all is well, whatever was
  // forgotten.
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
  // SQLite calls it after a commit that left `pages` in the log.
  static int CheckpointIfDue(void* self, sqlite3* database, const char* schema, int pages);
  absl::Status Configure(const std::string& path, const Options& options);
  struct Setting {
    const char* pragma;
    const char* want;
  };
  absl::Status Set(const std::string& path, const Setting& setting);
  // Opens the log, under the exclusive lock, and holds it and the database to what was
  // acknowledged.
  absl::Status OpenLog(const std::string& path, const Options& options);
  // Makes durable what the log shows: it may stand in the cache of the operating system only.
  absl::Status RewriteLog();
  // Moves all of the log to the database. False: somebody copies it, and it stays.
  absl::StatusOr<bool> TruncateLog();
  absl::Status ReadIncarnations();
  // Begins to keep the anchor and the names of a database that is served.
  absl::Status KeepFiles();
  // Writes a megabyte beside the database, syncs it and removes it.
  absl::Status TrialWrite();
  void NoteSync(int code);
  // OK unless a sync failed.
  absl::Status Trusted() const;
  // Whether closing may move the log into the database. Not after an error: a sync that failed has
  // forgotten writes, the next one says that all is well, and a power loss amid the move would
  // leave pages of transactions that the durable log does not have.
  void CheckpointOnClose(bool trusted) const;
  absl::StatusOr<Statement> Prepare(const char* sql);
  // Steps a statement that returns no rows, and resets it.
  absl::Status Run(sqlite3_stmt* statement);
  absl::Status Error(const char* doing);
  absl::Status ReadLedgers();
  // The number of the ledger, or 0 if it is not stored yet.
  int64_t LedgerId(const std::string& root_id) const;
  struct StoredLedger {
    int64_t id = 0;
    int64_t sequence = 0;  // of the last entry
  };
  // The ledger; a new one is stored.
  absl::StatusOr<StoredLedger*> LedgerOf(const std::string& root_id);
  // Ends ReadAll: whether the tables of charge keys and blocks say what the entries say.
  absl::Status CheckTables(const std::map<int64_t, const std::string*>& root_ids, KeyTable keys,
                           BlockTable blocks);
  absl::Status ReadRows(const char* sql, absl::FunctionRef<void(sqlite3_stmt*)> visit);
  // Notes that a charge of the session is among the entries around `sequence`.
  absl::Status MarkBlock(int64_t ledger_id, int64_t session_number, int64_t sequence);

  FolderLock folder_;
  std::unique_ptr<CheckpointGate> gate_;  // nullptr: there is no anchor
  // Destroyed last of the database's, after the statements.
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
  // The last block that was marked: ledger, session, block.
  std::array<int64_t, 3> marked_{};
  std::vector<std::string> appended_;  // in the open transaction, to these ledgers
  int checkpoint_pages_ = 0;
  std::string path_;
  bool with_names_ = false;  // the files are the operating system's own
  bool anchored_ = false;
  bool sync_failed_ = false;
  absl::Status unwritable_;
  std::string begun_because_;  // why an incarnation is begun; empty: none is
  std::vector<core::Incarnation> incarnations_;
  std::vector<std::string> damaged_keys_;
  absl::Status damage_;
  std::string accepted_loss_;
  std::unique_ptr<ServedFiles> served_;  // nullptr: nobody serves from it
};

// DATA_LOSS: what it holds may be read.
absl::Status DamagedDatabase(const std::string& what);

}  // namespace epsledger::storage

#endif  // EPSLEDGER_SERVER_STORAGE_SQLITE_SQLITE_STORE_H_
