#ifndef EPSLEDGER_SERVER_STORAGE_SQLITE_VFS_FILE_H_
#define EPSLEDGER_SERVER_STORAGE_SQLITE_VFS_FILE_H_

#include <sqlite3.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace epsledger::storage {

// A file beside a database, in the same SQLite file system (VFS), so that both see the same faults,
// in tests too. Errors are UNAVAILABLE and name the file. Not thread-safe.
class VfsFile {
 public:
  // Opens `path`, and creates it if `create`. NOT_FOUND if it is missing.
  static absl::StatusOr<std::unique_ptr<VfsFile>> Open(sqlite3_vfs* vfs, const std::string& path,
                                                       bool create);
  ~VfsFile();
  VfsFile(const VfsFile&) = delete;
  VfsFile& operator=(const VfsFile&) = delete;

  absl::StatusOr<int64_t> Size();
  // Returns `size` bytes from `offset`; zeros after the end of the file.
  absl::StatusOr<std::string> Read(size_t size, int64_t offset);
  absl::Status Write(const std::string& bytes, int64_t offset);
  // After a failed Sync nobody knows what was written, and every later Sync fails.
  absl::Status Sync();
  bool sync_failed() const { return sync_failed_; }

  std::string path() const { return path_.c_str(); }

 private:
  VfsFile() = default;
  absl::Status Error(const char* doing, int code) const;

  std::string path_;                        // SQLite keeps a pointer to it
  std::unique_ptr<std::byte[]> allocated_;  // the memory of file_
  sqlite3_file* file_ = nullptr;
  bool sync_failed_ = false;
};

}  // namespace epsledger::storage

#endif  // EPSLEDGER_SERVER_STORAGE_SQLITE_VFS_FILE_H_
