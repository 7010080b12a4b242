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

// Which file a database is, on its file system. A copy is another one, and so is a restored file; a
// snapshot of a whole disk is the same. Zeros: not known.
struct FileIdentity {
  int64_t number = 0;             // its inode's
  int64_t birth_nanoseconds = 0;  // since 1970; 0 where the file system does not know

  bool operator==(const FileIdentity&) const = default;
};

// What a database held after a commit that was acknowledged.
struct Anchor {
  core::IncarnationId incarnation{};
  int64_t commit = 0;       // counts the commits of this incarnation
  int64_t entry_count = 0;  // of all ledgers
  int64_t entry_id = 0;     // of the entry that was stored last (schema.cc); 0: there is none
  core::Hash hash{};        // of that entry
  FileIdentity database;    // that was served

  bool operator==(const Anchor&) const = default;
};

// The file beside a database that remembers its last anchor, for what the database and its log
// cannot tell: that a log was cut off or removed, that its last commit was damaged, or that an
// older database has taken its place.
//
// It is written after a commit is durable and before the commit is acknowledged, so it is never
// ahead of the database. A killed process leaves it as it was written; a power loss may leave it
// behind by what was committed since the last Sync.
//
// It has two groups of three records. The records of a group take turns, so that one of them is
// good after a write that failed in its middle and a power cut in the middle of another one. Each
// process writes to the group that the one before it did not: what that one wrote may stand in the
// cache of the operating system only, and of a write that never was synced nobody knows what the
// medium has.
//
// Not thread-safe.
class AnchorFile {
 public:
  // Opens `path` in the file system `vfs`, and makes it if `create`. NOT_FOUND if it is missing,
  // UNAVAILABLE if it cannot be opened.
  static absl::StatusOr<std::unique_ptr<AnchorFile>> Open(sqlite3_vfs* vfs, const std::string& path,
                                                          bool create);

  // The newest good record; nothing from a file that is empty. DATA_LOSS if there is none that is
  // good. The records of the other group are written from then on.
  absl::StatusOr<std::optional<Anchor>> Read();
  // In the place of the oldest record. REQUIRES: Read; each of the first three is synced before the
  // next one is written. Cost: a write of 144 bytes, no sync.
  absl::Status Write(const Anchor& anchor);
  absl::Status Sync() { return file_->Sync(); }
  bool sync_failed() const { return file_->sync_failed(); }

  static constexpr int64_t kRecords = 3;  // of a group

 private:
  explicit AnchorFile(std::unique_ptr<VfsFile> file) : file_(std::move(file)) {}

  const std::unique_ptr<VfsFile> file_;
  int64_t group_ = 0;  // that is written
};

// `path` of a database: where its anchor is.
std::string AnchorOf(const std::string& path);

}  // namespace epsledger::storage

#endif  // EPSLEDGER_SERVER_STORAGE_SQLITE_ANCHOR_H_
