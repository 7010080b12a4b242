#ifndef EPSLEDGER_CLIENT_ALERTS_INBOX_H_
#define EPSLEDGER_CLIENT_ALERTS_INBOX_H_

#include <cstddef>
#include <deque>
#include <string>
#include <variant>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "epsledger/v1/change.pb.h"

namespace epsledger::alerts {

// One change of a watched tree.
struct Change {
  std::string tree;
  v1::LedgerChange change;
};
// The server ended the watch of a tree.
struct WatchEnded {
  std::string tree;
  absl::Status status;
};
// What became of a try to deliver (Courier::Report).
struct Tried {
  std::string destination;
  std::string id;
  std::string title;
  absl::Status status;
  int tries = 0;
  absl::Duration wait;
};
using Message = std::variant<Change, WatchEnded, Tried>;

// What the service's one thread has to look at. Thread-safe.
class Inbox {
 public:
  // Waits while too much is there. Returns false once the inbox is closed.
  bool PutChange(Change change) ABSL_LOCKS_EXCLUDED(mutex_);
  // Never waits. There are at most as many of these as alerts and watches.
  void Put(Message message) ABSL_LOCKS_EXCLUDED(mutex_);
  // Waits until something is there, the deadline has passed, or the inbox is closed. Returns all.
  std::deque<Message> TakeAll(absl::Time deadline) ABSL_LOCKS_EXCLUDED(mutex_);
  // Ends every wait, now and later.
  void Close() ABSL_LOCKS_EXCLUDED(mutex_);
  bool IsClosed() const ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  static constexpr size_t kMostChanges = 1000;
  bool HasRoom() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return closed_ || messages_.size() < kMostChanges;
  }
  bool HasMessage() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return closed_ || !messages_.empty();
  }

  mutable absl::Mutex mutex_;
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
  std::deque<Message> messages_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace epsledger::alerts

#endif  // EPSLEDGER_CLIENT_ALERTS_INBOX_H_
