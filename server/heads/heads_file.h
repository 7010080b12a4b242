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

  // The newest entries that the file and the one before it name, of each ledger in each
  // incarnation: what a store must hold. Nothing if there is no file. A last line without its end
  // was interrupted and counts for nothing. DATA_LOSS, with the number of the line, if any other
  // line was not signed by the key with this public key.
  absl::StatusOr<std::vector<core::NamedEntry>> Read(const std::string& public_key) const;

 private:
  const std::string path_;
};

}  // namespace epsledger::heads

#endif  // EPSLEDGER_SERVER_HEADS_HEADS_FILE_H_
