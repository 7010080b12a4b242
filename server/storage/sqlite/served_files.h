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

// What whoever serves from a database keeps beside it: an anchor of what it holds, and the
// knowledge that the names of its files still lead to the files that are open.
//
// Not thread-safe.
class ServedFiles {
 public:
  // Why a new incarnation must begin before anybody serves from the database at `path`: it has
  // none, or is another file than the one that was served. Empty: it need not. `with_names`: the
  // files are the operating system's own.
  static absl::StatusOr<std::string> WhyToBegin(sqlite3* database, const std::string& path,
                                                bool with_names);

  // Begins to keep an anchor of what the database at `path` holds now. With `begun_because`, a text
  // for the auditor, another incarnation begins. REQUIRES: the database and its log are open and
  // hold everything that was acknowledged (CheckForLostCommits), or `begun_because` says what is
  // missing; WhyToBegin is empty, or `begun_because` is not. Sets `*sync_failed` if a sync of the
  // anchor failed.
  static absl::StatusOr<std::unique_ptr<ServedFiles>> Keep(sqlite3* database,
                                                           const std::string& path,
                                                           const std::string& begun_because,
                                                           bool with_names, bool* sync_failed);
  // Syncs the anchor: a power loss after an orderly end takes nothing back.
  ~ServedFiles();
  ServedFiles(const ServedFiles&) = delete;
  ServedFiles& operator=(const ServedFiles&) = delete;

  // An entry was stored in the open transaction.
  void Appended(int64_t entry_id, const core::Hash& hash);

  // After a commit that is durable and before anybody is told: looks at the names, and keeps what
  // was committed in the anchor. UNAVAILABLE if a file was moved, replaced or removed, or the
  // anchor cannot be written: what was committed may be lost, and nothing must be acknowledged any
  // more. The kernel tells of a name that changes in the folder before the change returns; a folder
  // above it is looked at every 250 ms. A file that is overwritten in its place, and a file system
  // that is mounted over one, are not seen. Cost: a look for news and a small write; a sync and
  // four looks every 250 ms.
  absl::Status Committed();

  // After a transaction that failed: the anchor is to say what the database holds now.
  absl::Status TakeBack(sqlite3* database);
  // Looks at the names and writes the anchor anew, synced: what it says is durable.
  absl::Status Renew();
  // A sync of the anchor has failed: it cannot be trusted any more.
  bool sync_failed() const { return file_->sync_failed(); }

 private:
  struct NamedFile {
    std::string path;
    uint64_t device = 0;
    uint64_t number = 0;
  };

  ServedFiles() = default;
  absl::Status WriteAnchor();
  // Whether something happened to a name in the folder since the last call.
  bool NamesMayHaveChanged();
  // Looks at the names if one may have changed, or `is_due`.
  absl::Status CheckNames(bool is_due);
  absl::Status NoteNames(const std::string& path);

  std::unique_ptr<AnchorFile> file_;
  Anchor anchor_;
  std::chrono::steady_clock::time_point synced_;
  std::vector<NamedFile> names_;  // of the files, and last of the folder
  bool names_are_good_ = true;
  int changes_ = -1;  // inotify's, of the folder; -1: it cannot be watched
};

}  // namespace epsledger::storage

#endif  // EPSLEDGER_SERVER_STORAGE_SQLITE_SERVED_FILES_H_
