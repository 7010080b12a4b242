#ifndef EPSLEDGER_SERVER_STORAGE_SQLITE_ANCHOR_H_
#define EPSLEDGER_SERVER_STORAGE_SQLITE_ANCHOR_H_

#include <sqlite3.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/core/entry.h"
#include "server/core/incarnation.h"
#include "server/storage/sqlite/vfs_file.h"

namespace epsledger::storage {

// Identifies the file of a database on its file system. A copy or a restored file has another
// identity; a snapshot of a whole disk has the same. Zeros: not known.
struct FileIdentity {
  int64_t number = 0;             // of its inode
  int64_t birth_nanoseconds = 0;  // since 1970; 0 if the file system has none

  bool operator==(const FileIdentity&) const = default;
};

// The contents of a database after an acknowledged commit.
struct Anchor {
  core::IncarnationId incarnation{};
  int64_t commit = 0;       // counts the commits of this incarnation
  int64_t entry_count = 0;  // of all ledgers
  int64_t entry_id = 0;     // of the entry that was stored last (schema.cc); 0: no entry
  core::Hash hash{};        // of that entry
  FileIdentity database;    // the file that was served

  bool operator==(const Anchor&) const = default;
};

// The file beside a database that stores its last anchor. It reveals what the database and its log
// cannot show: that a log was cut off or removed, that its last commit was damaged, or that an
// older database has taken the place of the present one.
//
// It is written after a commit is durable and before the commit is acknowledged, so it is never
// ahead of the database. A killed process leaves it as written. After a power loss it may lack the
// commits since the last Sync.
//
// The file has two groups of three records. The records of a group are written in turn, so that one
// of them is good after a write that failed halfway and a power cut in the middle of another write.
// Each process writes to the group that the previous process did not use: the writes of that
// process may be in the cache of the operating system only, and nobody knows what an unsynced write
// left on the medium.
//
// Not thread-safe.
class AnchorFile {
 public:
  // Opens `path` in the file system `vfs`, and creates it if `create`. NOT_FOUND if it is missing,
  // UNAVAILABLE if it cannot be opened.
  static absl::StatusOr<std::unique_ptr<AnchorFile>> Open(sqlite3_vfs* vfs, const std::string& path,
                                                          bool create);

  // Returns the newest good record; nothing if the file is empty. DATA_LOSS if no record is good.
  // Later writes go to the other group.
  absl::StatusOr<std::optional<Anchor>> Read();
  // Overwrites the oldest record. REQUIRES: Read was called; each of the first three writes is
  // synced before the next one. Cost: a write of 144 bytes, no sync.
  absl::Status Write(const Anchor& anchor);
  absl::Status Sync() { return file_->Sync(); }
  bool sync_failed() const { return file_->sync_failed(); }

  static constexpr int64_t kRecords = 3;  // per group

 private:
  explicit AnchorFile(std::unique_ptr<VfsFile> file) : file_(std::move(file)) {}

  const std::unique_ptr<VfsFile> file_;
  int64_t group_ = 0;  // the group that is written
};

// Returns the path of the anchor of the database at `path`.
std::string AnchorOf(const std::string& path);

}  // namespace epsledger::storage

#endif  // EPSLEDGER_SERVER_STORAGE_SQLITE_ANCHOR_H_
