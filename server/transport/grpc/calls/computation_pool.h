#ifndef EPSLEDGER_SERVER_TRANSPORT_GRPC_CALLS_COMPUTATION_POOL_H_
#define EPSLEDGER_SERVER_TRANSPORT_GRPC_CALLS_COMPUTATION_POOL_H_

#include <cstddef>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "server/core/tenant.h"

namespace epsledger::transport {

// A few threads for mathematics that takes longer than a charge may wait: accountants over a
// history. They are separate from the threads of the wire and the ledger, so that a slow
// computation delays no charge.
//
// Tenants take turns: each has a queue, and the next task is that of the tenant who has waited
// longest for a turn. One tenant runs at most threads_of_tenant tasks at a time, and the pool has
// one thread more. One tenant has at most half of the waiting tasks. So a tenant's first task never
// waits for the tasks of one other tenant alone. Thread-safe.
class ComputationPool {
 public:
  using Task = absl::AnyInvocable<void() &&>;

  // REQUIRES: threads_of_tenant >= 1, max_queued >= 2.
  ComputationPool(size_t threads_of_tenant, size_t max_queued);
  // Finishes running tasks and drops queued ones.
  ~ComputationPool();

  // Returns OK if `task` will run; UNAVAILABLE if too many tasks wait already, of the tenant or in
  // all.
  absl::Status Submit(const core::Tenant& tenant, Task task) ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  struct Queue {
    std::deque<Task> tasks;
    size_t running = 0;
  };
  using Queues = std::map<std::string, Queue, std::less<>>;  // by tenant; none is idle

  void Loop() ABSL_LOCKS_EXCLUDED(mutex_);
  // Returns the tenant whose turn it is; the end if nobody has a turn.
  std::list<std::string>::iterator NextTurn() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const size_t threads_of_tenant_;
  const size_t max_queued_;
  absl::Mutex mutex_;
  Queues queues_ ABSL_GUARDED_BY(mutex_);
  std::list<std::string> turns_ ABSL_GUARDED_BY(mutex_);  // tenants with tasks, next first
  size_t queued_ ABSL_GUARDED_BY(mutex_) = 0;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;
};

}  // namespace epsledger::transport

#endif  // EPSLEDGER_SERVER_TRANSPORT_GRPC_CALLS_COMPUTATION_POOL_H_
