#ifndef EPSLEDGER_SERVER_TRANSPORT_GRPC_CALLS_WATCH_TURNS_H_
#define EPSLEDGER_SERVER_TRANSPORT_GRPC_CALLS_WATCH_TURNS_H_

#include <deque>

#include "absl/base/thread_annotations.h"
#include "absl/functional/any_invocable.h"
#include "absl/synchronization/mutex.h"

namespace epsledger::transport {

// A few turns for reading, given in the order of requests. Thread-safe.
class WatchTurns {
 public:
  using Task = absl::AnyInvocable<void() &&>;

  // REQUIRES: count >= 1.
  explicit WatchTurns(int count) : free_(count) {}
  WatchTurns(const WatchTurns&) = delete;
  WatchTurns& operator=(const WatchTurns&) = delete;

  // Calls `task` at its turn, immediately or on the thread that gives a turn back.
  void Take(Task task) ABSL_LOCKS_EXCLUDED(mutex_);
  // REQUIRES: once for every task that was called.
  void GiveBack() ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  absl::Mutex mutex_;
  int free_ ABSL_GUARDED_BY(mutex_);
  std::deque<Task> waiting_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace epsledger::transport

#endif  // EPSLEDGER_SERVER_TRANSPORT_GRPC_CALLS_WATCH_TURNS_H_
