#include "server/storage/sqlite/checkpoint_gate.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/storage/sqlite/anchor.h"

namespace epsledger::storage {

absl::StatusOr<std::unique_ptr<CheckpointGate>> CheckpointGate::Open(const std::string& database) {
  const std::string path = AnchorOf(database);
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd >= 0) return std::unique_ptr<CheckpointGate>(new CheckpointGate(path, fd));
  const std::string message = absl::StrCat(path, ": cannot be opened: ", std::strerror(errno));
  if (errno == ENOENT) return absl::NotFoundError(message);
  return absl::UnavailableError(message);
}

CheckpointGate::~CheckpointGate() { close(fd_); }

bool CheckpointGate::HoldAlone() {
  return flock(fd_, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
}

absl::Status CheckpointGate::HoldToCopy() {
  int failed = 0;
  do {
    failed = flock(fd_, LOCK_SH);
  } while (failed != 0 && errno == EINTR);
  if (failed == 0) return absl::OkStatus();
  return absl::UnavailableError(absl::StrCat(path_, ": cannot be locked: ", std::strerror(errno)));
}

void CheckpointGate::Release() { flock(fd_, LOCK_UN); }

}  // namespace epsledger::storage
