#ifndef EPSLEDGER_SERVER_TRANSPORT_GRPC_CALLS_COMPUTATION_POOL_H_
#define EPSLEDGER_SERVER_TRANSPORT_GRPC_CALLS_COMPUTATION_POOL_H_

#include <cstddef>
#include <deque>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"

namespace epsledger::transport {

// A few threads for mathematics that takes longer than a charge may wait: accountants over a
// history. Apart from gRPC's threads and the ledger's, so that a slow computation delays no charge.
// Thread-safe.
class ComputationPool {
 public:
  using Task = absl::AnyInvocable<void() &&>;

  // REQUIRES: thread_count >= 1.
  ComputationPool(size_t thread_count, size_t max_queued);
  // Finishes what is running and drops what is queued.
  ~ComputationPool();

  // OK if `task` will be run; UNAVAILABLE if too many wait already.
  absl::Status Submit(Task task) ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  void Loop() ABSL_LOCKS_EXCLUDED(mutex_);

  const size_t max_queued_;
  absl::Mutex mutex_;
  std::deque<Task> tasks_ ABSL_GUARDED_BY(mutex_);
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;
};

}  // namespace epsledger::transport

#endif  // EPSLEDGER_SERVER_TRANSPORT_GRPC_CALLS_COMPUTATION_POOL_H_
