#include "client/trainers/run/result_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "absl/strings/str_cat.h"
#include "accounting/event/status_macros.h"

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
  const bool synced = written == bytes.size() && (fsync(file) == 0 || errno == EINVAL);
  return close(file) == 0 && synced ? absl::OkStatus() : CannotWrite(path);
}

// Returns true for a pipe or a device, which has no content to keep or to replace.
bool IsStream(const std::string& path) {
  struct stat found {};
  return stat(path.c_str(), &found) == 0 && !S_ISREG(found.st_mode) && !S_ISDIR(found.st_mode);
}

// The temporary file, which then replaces `path`.
std::string Unfinished(const std::string& path) { return path + ".new"; }

}  // namespace

absl::Status CheckCanWrite(const std::string& path) {
  if (IsStream(path)) {
    return access(path.c_str(), W_OK) == 0 ? absl::OkStatus() : CannotWrite(path);
  }
  struct stat found {};
  if (stat(path.c_str(), &found) == 0 && S_ISDIR(found.st_mode)) return CannotWrite(path);
  const int file = open(Unfinished(path).c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
  if (file < 0) return CannotWrite(path);
  close(file);
  return unlink(Unfinished(path).c_str()) == 0 ? absl::OkStatus() : CannotWrite(path);
}

absl::Status KeepPrevious(const std::string& path) {
  struct stat found {};
  if (stat(path.c_str(), &found) != 0) {
    return errno == ENOENT ? absl::OkStatus() : CannotWrite(path);
  }
  if (found.st_size == 0 || IsStream(path)) return absl::OkStatus();
  const std::string previous = path + ".previous";
  // A second name for the file, by rename: PATH.previous always exists, as the old or the new one.
  const std::string unfinished = Unfinished(previous);
  if (unlink(unfinished.c_str()) != 0 && errno != ENOENT) return CannotWrite(previous);
  if (link(path.c_str(), unfinished.c_str()) != 0) return SetAside(path);
  return std::rename(unfinished.c_str(), previous.c_str()) == 0 ? absl::OkStatus()
                                                                : CannotWrite(previous);
}

absl::Status PreviousKeeper::Keep(const std::string& path) {
  if (done_) return absl::OkStatus();
  absl::Status kept = KeepPrevious(path);
  done_ = kept.ok();
  return kept;
}

absl::Status SetAside(const std::string& path) {
  struct stat found {};
  if (stat(path.c_str(), &found) != 0) {
    return errno == ENOENT ? absl::OkStatus() : CannotWrite(path);
  }
  if (found.st_size == 0 || IsStream(path)) return absl::OkStatus();
  const std::string previous = path + ".previous";
  return std::rename(path.c_str(), previous.c_str()) == 0 ? absl::OkStatus()
                                                          : CannotWrite(previous);
}

absl::Status WouldStartOver(const std::string& path, const std::string& session) {
  return absl::FailedPreconditionError(absl::StrCat(
      "--checkpoint: ", path, " holds steps of session ", session,
      ", which were charged. Add --resume to continue from there, or --new-attempt to start from "
      "zero and be charged for every step again"));
}

absl::Status WriteDurably(const std::string& path, absl::string_view bytes) {
  if (IsStream(path)) return WriteAndSync(path, bytes);
  const std::string temporary = Unfinished(path);
  RETURN_IF_ERROR(WriteAndSync(temporary, bytes));
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
