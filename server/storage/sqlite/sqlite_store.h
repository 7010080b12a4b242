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
#include "server/storage/key_table.h"
#include "server/storage/ledger_store.h"

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
  };

  // Opens or creates `path`, whose folder exists. FAILED_PRECONDITION if another process holds it,
  // it is not ours, it is not there or was renamed meanwhile, or the file system cannot keep the
  // promises asked of it.
  static absl::StatusOr<std::unique_ptr<SqliteStore>> Open(const std::string& path,
                                                           const Options& options);
  static absl::StatusOr<std::unique_ptr<SqliteStore>> Open(const std::string& path) {
    return Open(path, Options());
  }

  absl::Status ReadAll(
      absl::FunctionRef<absl::Status(const std::string& root_id, core::Entry entry)> visit)
      override;
  std::vector<std::string> LedgersWithDamagedKeys() const override { return damaged_keys_; }
  absl::Status Begin() override;
  absl::Status Append(const std::string& root_id, const core::Entry& entry) override;
  absl::Status Commit() override;
  absl::StatusOr<std::vector<core::Entry>> ReadEntries(const std::string& root_id,
                                                       int64_t after_sequence,
                                                       int64_t limit) override;
  absl::StatusOr<std::optional<core::Entry>> FindCharge(const std::string& root_id,
                                                        const core::ChargeKey& key) override;
  absl::StatusOr<std::vector<core::Entry>> ListCharges(const std::string& root_id,
                                                       int64_t session_number,
                                                       int64_t after_sequence,
                                                       int64_t limit) override;

 private:
  struct CloseDatabase {
    void operator()(sqlite3* database) const { sqlite3_close_v2(database); }
  };
  struct FinalizeStatement {
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
  };
  using Statement = std::unique_ptr<sqlite3_stmt, FinalizeStatement>;

  SqliteStore() = default;
  // SQLite calls it after a commit that left `pages` in the log.
  static int CheckpointIfDue(void* self, sqlite3* database, const char* schema, int pages);
  absl::Status Configure(const std::string& path, const Options& options);
  struct Setting {
    const char* pragma;
    const char* want;
  };
  absl::Status Set(const std::string& path, const Setting& setting);
  // Makes durable what the log shows: it may stand in the cache of the operating system only.
  absl::Status RewriteLog();
  // Whether closing may move the log into the database. Not after an error: a sync that failed has
  // forgotten writes, the next one says that all is well, and a power loss amid the move would
  // leave pages of transactions that the durable log does not have.
  void CheckpointOnClose(bool trusted) const;
  absl::StatusOr<Statement> Prepare(const char* sql);
  // Steps a statement that returns no rows, and resets it.
  absl::Status Run(sqlite3_stmt* statement);
  absl::Status Error(const char* doing) const;
  // The number of the ledger, or 0 if it is not stored yet.
  int64_t LedgerId(const std::string& root_id) const;
  struct StoredLedger {
    int64_t id = 0;
    int64_t sequence = 0;  // of the last entry
  };
  // The ledger; a new one is stored.
  absl::StatusOr<StoredLedger*> LedgerOf(const std::string& root_id);
  // Ends ReadAll: whether the table of charge keys says what the entries say.
  absl::Status CheckKeys(const std::map<int64_t, const std::string*>& root_ids, KeyTable keys);
  // Notes that a charge of the session is among the entries around `sequence`.
  absl::Status MarkBlock(int64_t ledger_id, int64_t session_number, int64_t sequence);

  // Destroyed last, after the statements.
  std::unique_ptr<sqlite3, CloseDatabase> database_;
  Statement begin_;
  Statement commit_;
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
  int checkpoint_pages_ = 0;
  std::vector<std::string> damaged_keys_;
};

}  // namespace epsledger::storage

#endif  // EPSLEDGER_SERVER_STORAGE_SQLITE_SQLITE_STORE_H_
