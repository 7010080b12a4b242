#include "server/storage/data_directory.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "accounting/event/status_macros.h"

namespace epsledger::storage {
namespace {

using std::filesystem::path;

// A process that was killed holds its files until its last write is over.
constexpr int kTries = 150;
constexpr absl::Duration kInterval = absl::Milliseconds(20);

// Returns the parent directory of `name`.
path Above(const path& name) { return name.parent_path().empty() ? path(".") : name.parent_path(); }

absl::Status CannotBeMade(const path& name, const std::error_code& error) {
  return absl::UnavailableError(absl::StrCat(name.string(), ": cannot be made: ", error.message()));
}

// Creates the missing directories from the top down.
absl::Status MakeDirectories(const path& name,
                             absl::FunctionRef<absl::Status(const std::string&)> sync) {
  std::error_code error;
  if (std::filesystem::is_directory(name, error)) return absl::OkStatus();
  RETURN_IF_ERROR(MakeDirectories(Above(name), sync));
  std::filesystem::create_directory(name, error);
  if (error) return CannotBeMade(name, error);
  return sync(Above(name).string());
}

}  // namespace

std::string DatabaseIn(const std::string& data_dir) { return data_dir + "/ledger.sqlite"; }

std::string MovedDatabaseIn(const std::string& data_dir) { return DatabaseIn(data_dir) + ".moved"; }

std::string UnfinishedDatabaseIn(const std::string& data_dir) {
  return DatabaseIn(data_dir) + ".migrating";
}

std::string TakenBackDatabaseIn(const std::string& data_dir) {
  return DatabaseIn(data_dir) + ".taken-back";
}

absl::Status SyncDirectory(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const bool synced = fd >= 0 && fsync(fd) == 0;
  const int error = errno;
  if (fd >= 0) close(fd);
  if (synced) return absl::OkStatus();
  return absl::UnavailableError(
      absl::StrCat(path, ": cannot be made durable: ", std::strerror(error)));
}

FolderLock::~FolderLock() {
  if (fd_ >= 0) close(fd_);
}

absl::StatusOr<FolderLock> FolderLock::Hold(const std::string& path) {
  FolderLock lock;
  lock.fd_ = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (lock.fd_ < 0) {
    return absl::UnavailableError(absl::StrCat(path, ": cannot be opened: ", std::strerror(errno)));
  }
  int held = flock(lock.fd_, LOCK_EX | LOCK_NB);
  for (int tries = 1; held != 0 && errno == EWOULDBLOCK && tries < kTries; ++tries) {
    absl::SleepFor(kInterval);
    held = flock(lock.fd_, LOCK_EX | LOCK_NB);
  }
  if (held == 0) return lock;
  if (errno == EWOULDBLOCK) {
    return absl::FailedPreconditionError(
        path + ": another process holds this folder; one server at a time");
  }
  // Network file systems do not lock folders; the database has its own lock.
  if (errno == EBADF || errno == EINVAL || errno == EOPNOTSUPP || errno == ENOLCK) return lock;
  return absl::UnavailableError(absl::StrCat(path, ": cannot be held: ", std::strerror(errno)));
}

absl::Status MakeDataDirectory(const std::string& name,
                               absl::FunctionRef<absl::Status(const std::string&)> sync) {
  // Remove "." and a slash at the end, which are not names.
  path directory = path(name).lexically_normal();
  if (!directory.has_filename()) directory = directory.parent_path();
  std::error_code error;
  if (std::filesystem::is_directory(directory, error)) return absl::OkStatus();
  RETURN_IF_ERROR(MakeDirectories(directory, sync));
  // Only the owner may access a ledger.
  std::filesystem::permissions(directory, std::filesystem::perms::owner_all, error);
  return error ? CannotBeMade(directory, error) : absl::OkStatus();
}

}  // namespace epsledger::storage
