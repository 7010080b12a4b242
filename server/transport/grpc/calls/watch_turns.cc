#include "server/transport/grpc/calls/watch_turns.h"

#include <utility>

namespace epsledger::transport {

void WatchTurns::Take(Task task) {
  {
    absl::MutexLock lock(&mutex_);
    if (free_ == 0) {
      waiting_.push_back(std::move(task));
      return;
    }
    --free_;
  }
  std::move(task)();
}

void WatchTurns::GiveBack() {
  Task next;
  {
    absl::MutexLock lock(&mutex_);
    if (waiting_.empty()) {
      ++free_;
      return;
    }
    next = std::move(waiting_.front());
    waiting_.pop_front();
  }
  std::move(next)();
}

}  // namespace epsledger::transport
