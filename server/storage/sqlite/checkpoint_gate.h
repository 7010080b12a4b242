#ifndef EPSLEDGER_SERVER_STORAGE_SQLITE_CHECKPOINT_GATE_H_
#define EPSLEDGER_SERVER_STORAGE_SQLITE_CHECKPOINT_GATE_H_

#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace epsledger::storage {

// Keeps a database file as it is while it is copied. Between checkpoints nobody writes to it: what
// is committed goes to the end of the log, or once to its beginning. Who copies holds the gate
// together with others; who moves the log to the database holds it alone, and does without where
// it is taken. It is a lock (flock) of the anchor beside the database.
class CheckpointGate {
 public:
  // NOT_FOUND if there is no anchor.
  static absl::StatusOr<std::unique_ptr<CheckpointGate>> Open(const std::string& database);
  ~CheckpointGate();
  CheckpointGate(const CheckpointGate&) = delete;
  CheckpointGate& operator=(const CheckpointGate&) = delete;

  // False: somebody copies. A file system without locks says true: nobody can copy from it.
  bool HoldAlone();
  // Waits for the end of a checkpoint. UNAVAILABLE where there are no locks.
  absl::Status HoldToCopy();
  void Release();

 private:
  CheckpointGate(std::string path, int fd) : path_(std::move(path)), fd_(fd) {}

  const std::string path_;
  const int fd_;
};

}  // namespace epsledger::storage

#endif  // EPSLEDGER_SERVER_STORAGE_SQLITE_CHECKPOINT_GATE_H_
