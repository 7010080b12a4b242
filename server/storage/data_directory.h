#ifndef EPSLEDGER_SERVER_STORAGE_DATA_DIRECTORY_H_
#define EPSLEDGER_SERVER_STORAGE_DATA_DIRECTORY_H_

#include <string>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace epsledger::storage {

// The file of the ledgers; of ledgers that were moved to another store; of ledgers that are being
// moved here; of a migration that was taken back.
std::string DatabaseIn(const std::string& data_dir);
std::string MovedDatabaseIn(const std::string& data_dir);
std::string UnfinishedDatabaseIn(const std::string& data_dir);
std::string TakenBackDatabaseIn(const std::string& data_dir);

// Makes the names in a directory durable. UNAVAILABLE if that fails.
absl::Status SyncDirectory(const std::string& path);

// Holds a directory for one process during the life of the object.
class FolderLock {
 public:
  FolderLock() = default;
  ~FolderLock();
  FolderLock(FolderLock&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  FolderLock& operator=(FolderLock&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }

  // Waits up to 3 s for another process, which may be one that was killed and is not gone yet.
  // FAILED_PRECONDITION if it still holds the directory, UNAVAILABLE if it cannot be opened. If the
  // file system does not support locks on folders, returns OK without holding it.
  static absl::StatusOr<FolderLock> Hold(const std::string& path);

 private:
  int fd_ = -1;
};

// Creates the directory, accessible to its owner only, and its missing parents. Every new name is
// durable when it returns: a power cut must not remove a ledger with its directory. Does nothing if
// the directory exists. UNAVAILABLE on failure. `sync`: for tests.
absl::Status MakeDataDirectory(
    const std::string& path,
    absl::FunctionRef<absl::Status(const std::string& path)> sync = SyncDirectory);

}  // namespace epsledger::storage

#endif  // EPSLEDGER_SERVER_STORAGE_DATA_DIRECTORY_H_
