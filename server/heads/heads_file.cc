#include "server/heads/heads_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <map>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "accounting/event/status_macros.h"
#include "server/heads/signed_heads.h"
#include "server/storage/regular_file.h"

namespace epsledger::heads {
namespace {

// The newest entries by incarnation and ledger.
using Newest = std::map<std::pair<std::string, std::string>, core::NamedEntry>;

absl::Status Failed(const std::string& path, const char* doing) {
  return absl::UnavailableError(
      absl::StrCat(path, ": cannot be ", doing, ": ", std::strerror(errno)));
}

absl::Status ReadInto(const std::string& path, const std::vector<std::string>& public_keys,
                      Newest* newest, bool* is_cut_off) {
  const absl::StatusOr<std::string> content = storage::ReadRegularFile(path);
  if (absl::IsNotFound(content.status())) return absl::OkStatus();
  if (!content.ok()) return content.status();
  const std::string& text = *content;
  *is_cut_off |= !text.empty() && text.back() != '\n';
  int64_t number = 0;
  for (size_t begin = 0, end; (end = text.find('\n', begin)) != text.npos; begin = end + 1) {
    ++number;
    const std::string_view line = std::string_view(text).substr(begin, end - begin);
    absl::StatusOr<Heads> heads = absl::DataLossError("no key is known");
    for (const std::string& public_key : public_keys) {
      heads = Verify(line, public_key);
      if (heads.ok()) break;
    }
    if (!heads.ok()) {
      return absl::DataLossError(
          absl::StrCat(path, ": line ", number, ": ", heads.status().message(),
                       ". Keep the file, move it away, and look into it: nothing is compared with "
                       "it, and a new one begins"));
    }
    for (core::NamedEntry& entry : heads->entries) {
      core::NamedEntry& known = (*newest)[{entry.incarnation, entry.root_id}];
      if (entry.sequence >= known.sequence) known = std::move(entry);
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status HeadsFile::Append(const std::string& line) const {
  struct stat status {};
  if (stat(path_.c_str(), &status) == 0 &&
      status.st_size + static_cast<int64_t>(line.size()) >= kMaxBytes &&
      rename(path_.c_str(), (path_ + ".1").c_str()) != 0) {
    return Failed(path_, "renamed");
  }
  ASSIGN_OR_RETURN(const int opened, storage::OpenRegularFile(path_, O_RDWR | O_APPEND | O_CREAT));
  const int fd = opened;
  // Removes an interrupted last line before the new one is appended.
  char last = '\n';
  bool done = fstat(fd, &status) == 0 &&
              (status.st_size == 0 || pread(fd, &last, 1, status.st_size - 1) == 1);
  if (done && last != '\n') {
    std::string text(static_cast<size_t>(status.st_size), '\0');
    done = pread(fd, text.data(), text.size(), 0) == static_cast<ssize_t>(text.size());
    const size_t end = text.rfind('\n');
    done = done && ftruncate(fd, end == text.npos ? 0 : static_cast<off_t>(end) + 1) == 0;
  }
  const std::string ended = line + "\n";
  if (done) {
    errno = ENOSPC;  // a short write does not set it
    done = write(fd, ended.data(), ended.size()) == static_cast<ssize_t>(ended.size()) &&
           fsync(fd) == 0;
  }
  const absl::Status written = done ? absl::OkStatus() : Failed(path_, "written");
  close(fd);
  return written;
}

absl::StatusOr<HeadsFile::Content> HeadsFile::Read(
    const std::vector<std::string>& public_keys) const {
  Newest newest;
  Content content;
  absl::Status status = ReadInto(path_ + ".1", public_keys, &newest, &content.is_cut_off);
  if (status.ok()) status = ReadInto(path_, public_keys, &newest, &content.is_cut_off);
  if (!status.ok()) return status;
  for (auto& [where, entry] : newest) content.entries.push_back(std::move(entry));
  return content;
}

}  // namespace epsledger::heads
