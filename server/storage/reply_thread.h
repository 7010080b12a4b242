#ifndef EPSLEDGER_SERVER_STORAGE_REPLY_THREAD_H_
#define EPSLEDGER_SERVER_STORAGE_REPLY_THREAD_H_

#include <cstddef>
#include <deque>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "server/core/durable_ledger.h"

namespace epsledger::storage {

// Reports outcomes on a separate thread, so that the next commit does not wait until those of the
// last one are converted and sent.
//
// Invariants: every reply is called exactly once, in the order of Give, and never two at a time.
class ReplyThread {
 public:
  struct Answer {
    core::DurableLedger::Reply reply;
    absl::StatusOr<core::Outcome> outcome;
  };

  // At most `max_waiting` batches wait; then Give blocks.
  explicit ReplyThread(size_t max_waiting);
  // Calls the waiting replies, then ends.
  ~ReplyThread();
  ReplyThread(const ReplyThread&) = delete;
  ReplyThread& operator=(const ReplyThread&) = delete;

  // Calls a single answer directly if nothing waits before it: waking a thread would take longer.
  // REQUIRES: one caller at a time, and no reply calls it.
  void Give(std::vector<Answer> answers) ABSL_LOCKS_EXCLUDED(mutex_);

  // True within a reply that this thread calls, rather than the caller of Give.
  bool IsThisThread() const { return std::this_thread::get_id() == thread_.get_id(); }

 private:
  using Batch = std::vector<Answer>;

  static void Tell(Batch batch);
  void Loop() ABSL_LOCKS_EXCLUDED(mutex_);

  const size_t max_waiting_;
  absl::Mutex mutex_;
  std::deque<Batch> waiting_ ABSL_GUARDED_BY(mutex_);
  bool telling_ ABSL_GUARDED_BY(mutex_) = false;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace epsledger::storage

#endif  // EPSLEDGER_SERVER_STORAGE_REPLY_THREAD_H_
