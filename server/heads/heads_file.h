#ifndef EPSLEDGER_SERVER_HEADS_HEADS_FILE_H_
#define EPSLEDGER_SERVER_HEADS_HEADS_FILE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/core/access_command.h"

namespace epsledger::heads {

// A file of published heads, one line of Sign after the other. At kMaxBytes it is renamed to
// `path`.1, replacing the previous one, and a new file begins.
class HeadsFile {
 public:
  static constexpr int64_t kMaxBytes = 8 << 20;

  explicit HeadsFile(std::string path) : path_(std::move(path)) {}

  // The line is durable when this returns OK. UNAVAILABLE if it cannot be written.
  absl::Status Append(const std::string& line) const;

  struct Content {
    // The newest entry of each ledger in each incarnation, from the file and the previous one: a
    // store must contain these.
    std::vector<core::NamedEntry> entries;
    // The file ends in the middle of a line: the write was interrupted, and the line is ignored.
    bool is_cut_off = false;
  };
  // Returns an empty content if no file exists. DATA_LOSS, with the line number, if a complete line
  // was not signed by a key with one of these public keys.
  absl::StatusOr<Content> Read(const std::vector<std::string>& public_keys) const;

 private:
  const std::string path_;
};

}  // namespace epsledger::heads

#endif  // EPSLEDGER_SERVER_HEADS_HEADS_FILE_H_
