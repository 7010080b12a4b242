#include "client/trainers/run/durable_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>

#include "absl/strings/str_cat.h"

namespace epsledger::trainers {
namespace {

absl::Status CannotWrite(const std::string& path) {
  return absl::FailedPreconditionError(absl::StrCat(path, ": cannot be written"));
}

absl::Status WriteAndSync(const std::string& path, absl::string_view bytes) {
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (file < 0) return CannotWrite(path);
  size_t written = 0;
  while (written < bytes.size()) {
    const ssize_t count = write(file, bytes.data() + written, bytes.size() - written);
    if (count < 0) break;
    written += static_cast<size_t>(count);
  }
  const bool synced = written == bytes.size() && fsync(file) == 0;
  return close(file) == 0 && synced ? absl::OkStatus() : CannotWrite(path);
}

}  // namespace

absl::Status WriteDurably(const std::string& path, absl::string_view bytes) {
  const std::string temporary = path + ".new";
  if (absl::Status written = WriteAndSync(temporary, bytes); !written.ok()) return written;
  if (std::rename(temporary.c_str(), path.c_str()) != 0) return CannotWrite(path);
  // The rename is durable with the directory.
  const size_t slash = path.rfind('/');
  const std::string directory = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  const int folder = open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return CannotWrite(directory);
  const bool synced = fsync(folder) == 0;
  return close(folder) == 0 && synced ? absl::OkStatus() : CannotWrite(directory);
}

}  // namespace epsledger::trainers
