#include "client/alerts/state_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

#include "absl/strings/str_cat.h"

namespace epsledger::alerts {
namespace {

absl::Status Failed(const std::string& path, const char* what) {
  return absl::FailedPreconditionError(
      absl::StrCat("state_file: ", path, " ", what, ": ", std::strerror(errno)));
}

bool WriteAll(int file, const std::string& text) {
  for (size_t written = 0; written < text.size();) {
    const ssize_t count = write(file, text.data() + written, text.size() - written);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return false;
    written += static_cast<size_t>(count);
  }
  return true;
}

}  // namespace

absl::StatusOr<StateFile> StateFile::Open(const std::string& path) {
  const std::string lock_path = absl::StrCat(path, ".lock");
  const int lock = open(lock_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (lock < 0) return Failed(lock_path, "cannot be created");
  if (flock(lock, LOCK_EX | LOCK_NB) != 0) {
    const absl::Status status = Failed(path, "is used by another process");
    close(lock);
    return status;
  }
  return StateFile(path, lock);
}

StateFile::StateFile(StateFile&& other) noexcept
    : path_(other.path_), lock_(std::exchange(other.lock_, -1)) {}

StateFile::~StateFile() {
  if (lock_ >= 0) close(lock_);
}

absl::StatusOr<std::optional<nlohmann::ordered_json>> StateFile::Read() const {
  std::ifstream file(path_, std::ios::binary);
  if (!file) {
    std::error_code error;
    if (!std::filesystem::exists(path_, error) && !error) return std::nullopt;
    return Failed(path_, "cannot be read");
  }
  std::ostringstream text;
  text << file.rdbuf();
  auto state = nlohmann::ordered_json::parse(text.str(), nullptr, /*allow_exceptions=*/false);
  if (state.is_discarded()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "state_file: ", path_,
        " is not what this program wrote. Move it away to begin anew: alerts that were not "
        "delivered are lost"));
  }
  return std::optional(std::move(state));
}

absl::Status StateFile::Write(const nlohmann::ordered_json& state) const {
  const std::string unfinished = absl::StrCat(path_, ".new");
  const int file = open(unfinished.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (file < 0) return Failed(unfinished, "cannot be created");
  const std::string text = absl::StrCat(
      state.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace), "\n");
  const bool written = WriteAll(file, text) && fsync(file) == 0;
  if (close(file) != 0 || !written) return Failed(unfinished, "cannot be written");
  if (rename(unfinished.c_str(), path_.c_str()) != 0) return Failed(path_, "cannot be replaced");
  // The rename is durable once the folder is.
  const std::filesystem::path parent = std::filesystem::path(path_).parent_path();
  const std::string folder = parent.empty() ? "." : parent.string();
  const int opened = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (opened < 0) return Failed(folder, "cannot be opened");
  const bool synced = fsync(opened) == 0;
  close(opened);
  return synced ? absl::OkStatus() : Failed(folder, "cannot be synced");
}

}  // namespace epsledger::alerts
