#include "server/storage/sqlite/vfs_file.h"

#include "absl/strings/str_format.h"

namespace epsledger::storage {

absl::StatusOr<std::unique_ptr<VfsFile>> VfsFile::Open(sqlite3_vfs* vfs, const std::string& path,
                                                       bool create) {
  std::unique_ptr<VfsFile> opened(new VfsFile());
  opened->path_ = path;
  opened->path_.append(2, '\0');  // SQLite's file systems require this
  int exists = 0;
  if (vfs->xAccess(vfs, opened->path_.c_str(), SQLITE_ACCESS_EXISTS, &exists) != SQLITE_OK) {
    return absl::UnavailableError(path + ": cannot be looked for");
  }
  if (exists == 0 && !create) return absl::NotFoundError(path + ": there is no such file");
  opened->allocated_ = std::make_unique<std::byte[]>(static_cast<size_t>(vfs->szOsFile));
  auto* file = reinterpret_cast<sqlite3_file*>(opened->allocated_.get());
  // SQLite treats the file as a write-ahead log, so its name is synced with it.
  const int flags = SQLITE_OPEN_WAL | SQLITE_OPEN_READWRITE | (create ? SQLITE_OPEN_CREATE : 0);
  if (const int code = vfs->xOpen(vfs, opened->path_.c_str(), file, flags, nullptr);
      code != SQLITE_OK) {
    return opened->Error("opened", code);
  }
  opened->file_ = file;
  return opened;
}

VfsFile::~VfsFile() {
  if (file_ != nullptr && file_->pMethods != nullptr) file_->pMethods->xClose(file_);
}

absl::Status VfsFile::Error(const char* doing, int code) const {
  return absl::UnavailableError(
      absl::StrFormat("%s: cannot be %s: %s (%d)", path(), doing, sqlite3_errstr(code), code));
}

absl::StatusOr<int64_t> VfsFile::Size() {
  sqlite3_int64 size = 0;
  const int code = file_->pMethods->xFileSize(file_, &size);
  if (code != SQLITE_OK) return Error("read", code);
  return size;
}

absl::StatusOr<std::string> VfsFile::Read(size_t size, int64_t offset) {
  std::string bytes(size, '\0');
  const int code = file_->pMethods->xRead(file_, bytes.data(), static_cast<int>(size), offset);
  if (code != SQLITE_OK && code != SQLITE_IOERR_SHORT_READ) return Error("read", code);
  return bytes;
}

absl::Status VfsFile::Write(const std::string& bytes, int64_t offset) {
  const int code =
      file_->pMethods->xWrite(file_, bytes.data(), static_cast<int>(bytes.size()), offset);
  return code == SQLITE_OK ? absl::OkStatus() : Error("written", code);
}

absl::Status VfsFile::Sync() {
  const int code =
      sync_failed_ ? SQLITE_IOERR_FSYNC : file_->pMethods->xSync(file_, SQLITE_SYNC_NORMAL);
  if (code == SQLITE_OK) return absl::OkStatus();
  sync_failed_ = true;
  return Error("synced", code);
}

}  // namespace epsledger::storage
