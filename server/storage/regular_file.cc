#include "server/storage/regular_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "accounting/event/status_macros.h"

namespace epsledger::storage {

absl::StatusOr<int> OpenRegularFile(const std::string& path, int flags) {
  const int fd = open(path.c_str(), flags | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, S_IRUSR | S_IWUSR);
  if (fd < 0) {
    const std::string message = absl::StrCat(path, ": cannot be opened: ", std::strerror(errno));
    if (errno == ENOENT) return absl::NotFoundError(message);
    if (errno == EISDIR || errno == ENXIO) return absl::InvalidArgumentError(message);
    return absl::UnavailableError(message);
  }
  struct stat status {};
  if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode)) return fd;
  close(fd);
  return absl::InvalidArgumentError(path + ": is a folder, a pipe or a device; want a file");
}

absl::StatusOr<std::string> ReadRegularFile(const std::string& path) {
  ASSIGN_OR_RETURN(const int fd, OpenRegularFile(path, O_RDONLY));
  std::string content;
  std::string chunk(1 << 16, '\0');
  ssize_t count = 0;
  while ((count = read(fd, chunk.data(), chunk.size())) > 0 || (count < 0 && errno == EINTR)) {
    if (count > 0) content.append(chunk, 0, static_cast<size_t>(count));
  }
  const int error = errno;
  close(fd);
  if (count == 0) return content;
  return absl::UnavailableError(absl::StrCat(path, ": cannot be read: ", std::strerror(error)));
}

}  // namespace epsledger::storage
