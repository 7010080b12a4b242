#ifndef EPSLEDGER_SERVER_STORAGE_SQLITE_SERVED_FILES_H_
#define EPSLEDGER_SERVER_STORAGE_SQLITE_SERVED_FILES_H_

#include <sqlite3.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/core/entry.h"
#include "server/storage/sqlite/anchor.h"

namespace epsledger::storage {

// Kept by a server for the database that it serves: an anchor of the database's contents, and a
// check that the names of its files still lead to the open files.
//
// Not thread-safe.
class ServedFiles {
 public:
  // Returns the reason why a new incarnation must begin before anybody serves from the database at
  // `path`: it has no incarnation, or is another file than the one that was served. Empty if none
  // must begin. `with_names`: the files are the operating system's own.
  static absl::StatusOr<std::string> WhyToBegin(sqlite3* database, const std::string& path,
                                                bool with_names);

  // Begins to keep an anchor of the present contents of the database at `path`. If `begun_because`,
  // a text for the auditor, is not empty, another incarnation begins. REQUIRES: the database and
  // its log are open and hold everything that was acknowledged (CheckForLostCommits), or
  // `begun_because` says what is missing; WhyToBegin is empty, or `begun_because` is not. Sets
  // `*sync_failed` if a sync of the anchor failed.
  static absl::StatusOr<std::unique_ptr<ServedFiles>> Keep(sqlite3* database,
                                                           const std::string& path,
                                                           const std::string& begun_because,
                                                           bool with_names, bool* sync_failed);
  // Syncs the anchor: after an orderly shutdown, a power loss does not leave it behind.
  ~ServedFiles();
  ServedFiles(const ServedFiles&) = delete;
  ServedFiles& operator=(const ServedFiles&) = delete;

  // Records an entry that was stored in the open transaction.
  void Appended(int64_t entry_id, const core::Hash& hash);

  // Called after a durable commit and before its acknowledgment: checks the names, and writes the
  // commit to the anchor. UNAVAILABLE if a file was moved, replaced or removed, or the anchor
  // cannot be written: the commit may be lost, and nothing may be acknowledged any more. The kernel
  // reports a changed name in the folder before the change returns; folders above are checked every
  // 250 ms. A file that is overwritten in place, or a file system that is mounted over one, is not
  // detected. Cost: one query for changes and a small write; a sync and four checks every 250 ms.
  absl::Status Committed();

  // Called after a failed transaction: sets the anchor to the present contents of the database.
  absl::Status TakeBack(sqlite3* database);
  // Checks the names, rewrites the anchor and syncs it.
  absl::Status Renew();
  // True if a sync of the anchor has failed: the anchor cannot be trusted any more.
  bool sync_failed() const { return file_->sync_failed(); }

 private:
  struct NamedFile {
    std::string path;
    uint64_t device = 0;
    uint64_t number = 0;
  };

  ServedFiles() = default;
  absl::Status WriteAnchor();
  // True if a name in the folder may have changed since the last call.
  bool NamesMayHaveChanged();
  // Checks the names if one may have changed, or if `is_due`.
  absl::Status CheckNames(bool is_due);
  absl::Status NoteNames(const std::string& path);

  std::unique_ptr<AnchorFile> file_;
  Anchor anchor_;
  std::chrono::steady_clock::time_point synced_;
  std::vector<NamedFile> names_;  // of the files, then of the folder
  bool names_are_good_ = true;
  int changes_ = -1;  // inotify descriptor of the folder; -1: it cannot be watched
};

}  // namespace epsledger::storage

#endif  // EPSLEDGER_SERVER_STORAGE_SQLITE_SERVED_FILES_H_
