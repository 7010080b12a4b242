#ifndef EPSLEDGER_CLIENT_ALERTS_STATE_FILE_H_
#define EPSLEDGER_CLIENT_ALERTS_STATE_FILE_H_

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "nlohmann/json.hpp"

namespace epsledger::alerts {

// The one file that a restart continues from. It is replaced as a whole by a rename, so it is never
// half written. While this lives, no other process can open the same file.
class StateFile {
 public:
  // FAILED_PRECONDITION if another process has it, or its folder cannot be written to.
  static absl::StatusOr<StateFile> Open(const std::string& path);
  StateFile(StateFile&& other) noexcept;
  StateFile& operator=(StateFile&&) = delete;
  ~StateFile();

  // nullopt: there is no file yet. INVALID_ARGUMENT if it is not JSON.
  absl::StatusOr<std::optional<nlohmann::ordered_json>> Read() const;
  // What is written is durable when this returns OK.
  absl::Status Write(const nlohmann::ordered_json& state) const;

 private:
  StateFile(std::string path, int lock) : path_(std::move(path)), lock_(lock) {}

  const std::string path_;
  int lock_;  // a descriptor of `path`.lock
};

}  // namespace epsledger::alerts

#endif  // EPSLEDGER_CLIENT_ALERTS_STATE_FILE_H_
