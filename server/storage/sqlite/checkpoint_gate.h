#ifndef EPSLEDGER_SERVER_STORAGE_SQLITE_CHECKPOINT_GATE_H_
#define EPSLEDGER_SERVER_STORAGE_SQLITE_CHECKPOINT_GATE_H_

#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace epsledger::storage {

// Keeps a database file unchanged while it is copied. Between checkpoints nobody writes to the
// file: commits go to the end of the log, or once to its beginning. Processes that copy share the
// gate. A process that moves the log to the database must hold the gate alone, and skips the move
// if the gate is taken. The gate is a lock (flock) of the anchor beside the database.
class CheckpointGate {
 public:
  // NOT_FOUND if no anchor exists.
  static absl::StatusOr<std::unique_ptr<CheckpointGate>> Open(const std::string& database);
  ~CheckpointGate();
  CheckpointGate(const CheckpointGate&) = delete;
  CheckpointGate& operator=(const CheckpointGate&) = delete;

  // Returns false if somebody copies. Returns true on a file system without locks, because nobody
  // can copy from it.
  bool HoldAlone();
  // Waits for the end of a checkpoint. UNAVAILABLE if the file system has no locks.
  absl::Status HoldToCopy();
  void Release();

 private:
  CheckpointGate(std::string path, int fd) : path_(std::move(path)), fd_(fd) {}

  const std::string path_;
  const int fd_;
};

}  // namespace epsledger::storage

#endif  // EPSLEDGER_SERVER_STORAGE_SQLITE_CHECKPOINT_GATE_H_
