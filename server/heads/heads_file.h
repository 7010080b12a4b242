#ifndef EPSLEDGER_SERVER_HEADS_HEADS_FILE_H_
#define EPSLEDGER_SERVER_HEADS_HEADS_FILE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/core/access_command.h"

namespace epsledger::heads {

// A file of published heads: a line of Sign after the other. When it is kMaxBytes long it becomes
// `path`.1, in the place of the one before, and a new one begins.
class HeadsFile {
 public:
  static constexpr int64_t kMaxBytes = 8 << 20;

  explicit HeadsFile(std::string path) : path_(std::move(path)) {}

  // Durable when it returns OK. UNAVAILABLE if it cannot.
  absl::Status Append(const std::string& line) const;

  struct Content {
    // The newest that the file and the one before it name, of each ledger in each incarnation: what
    // a store must hold.
    std::vector<core::NamedEntry> entries;
    // The file ends in the middle of a line: that one was interrupted, and counts for nothing.
    bool is_cut_off = false;
  };
  // Nothing if there is no file. DATA_LOSS, with the number of the line, if any whole line was not
  // signed by one of the keys with these public keys.
  absl::StatusOr<Content> Read(const std::vector<std::string>& public_keys) const;

 private:
  const std::string path_;
};

}  // namespace epsledger::heads

#endif  // EPSLEDGER_SERVER_HEADS_HEADS_FILE_H_
