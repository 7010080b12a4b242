#ifndef EPSLEDGER_SERVER_STORAGE_DATA_DIRECTORY_H_
#define EPSLEDGER_SERVER_STORAGE_DATA_DIRECTORY_H_

#include <string>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace epsledger::storage {

// The file of the ledgers; of ledgers that were moved to another store; of ledgers that are being
// moved here.
std::string DatabaseIn(const std::string& data_dir);
std::string MovedDatabaseIn(const std::string& data_dir);
std::string UnfinishedDatabaseIn(const std::string& data_dir);
std::string TakenBackDatabaseIn(const std::string& data_dir);

// Makes the names in a directory durable. UNAVAILABLE if it cannot.
absl::Status SyncDirectory(const std::string& path);

// Holds a directory for one process, as long as the object lives.
class FolderLock {
 public:
  FolderLock() = default;
  ~FolderLock();
  FolderLock(FolderLock&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  FolderLock& operator=(FolderLock&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }

  // FAILED_PRECONDITION if another process holds it, UNAVAILABLE if it cannot be opened. Where the
  // file system has no locks of folders it is not held, and OK.
  static absl::StatusOr<FolderLock> Hold(const std::string& path);

 private:
  int fd_ = -1;
};

// Makes the directory, for its owner alone, and those above it that are missing. Every new name is
// durable when it returns: a ledger must not be gone with its directory after a power cut. Does
// nothing if it is there. UNAVAILABLE if it cannot. `sync`: for tests.
absl::Status MakeDataDirectory(
    const std::string& path,
    absl::FunctionRef<absl::Status(const std::string& path)> sync = SyncDirectory);

}  // namespace epsledger::storage

#endif  // EPSLEDGER_SERVER_STORAGE_DATA_DIRECTORY_H_
