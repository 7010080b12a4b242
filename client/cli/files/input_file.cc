#include "client/cli/files/input_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <istream>

#include "absl/strings/str_cat.h"

namespace epsledger::cli {
namespace {

constexpr size_t kPartBytes = 1 << 16;
constexpr size_t kMostBytes = size_t{1} << 28;

absl::Status CannotRead(const std::string& what, const std::string& path,
                        const std::string& reason) {
  return absl::InvalidArgumentError(
      absl::StrCat(what, ": got ", path, ", want a file that can be read: ", reason));
}

absl::Status TooLong(const std::string& what, const std::string& path) {
  return absl::InvalidArgumentError(
      absl::StrCat(what, ": got more than 256 MiB from ", path, ", want less"));
}

}  // namespace

// Not a std::ifstream: an iterator over one of a directory throws, and its other ways to read do
// not tell a failure from the end.
absl::StatusOr<std::string> ReadInputFile(const std::string& what, const std::string& path) {
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return CannotRead(what, path, std::strerror(errno));
  std::string text;
  size_t size = 0;
  int error = 0;
  while (true) {
    text.resize(size + kPartBytes);
    const ssize_t more = read(descriptor, text.data() + size, kPartBytes);
    if (more < 0 && errno == EINTR) continue;
    if (more < 0) error = errno;
    if (more <= 0) break;
    size += static_cast<size_t>(more);
    if (size > kMostBytes) break;
  }
  close(descriptor);
  if (size > kMostBytes) return TooLong(what, path);
  if (error != 0) return CannotRead(what, path, std::strerror(error));
  text.resize(size);
  return text;
}

absl::StatusOr<std::string> ReadInput(const std::string& what, const std::string& path,
                                      std::istream& in) {
  if (path != "-") return ReadInputFile(what, path);
  std::string text;
  std::string part(kPartBytes, '\0');
  // istream::read keeps what the stream's buffer throws to itself.
  do {
    in.read(part.data(), static_cast<std::streamsize>(part.size()));
    text.append(part, 0, static_cast<size_t>(in.gcount()));
  } while (in.good() && text.size() <= kMostBytes);
  if (text.size() > kMostBytes) return TooLong(what, path);
  if (in.bad()) return CannotRead(what, path, "standard input failed");
  return text;
}

}  // namespace epsledger::cli
