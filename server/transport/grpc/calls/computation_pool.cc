#include "server/transport/grpc/calls/computation_pool.h"

#include <sys/resource.h>

#include <algorithm>
#include <utility>

#include "server/transport/grpc/status/status_mapping.h"

namespace epsledger::transport {
namespace {

// The niceness (nice(1)) of the threads: where the ledger or the wire want the processor, the
// threads get a ninth of what others get.
constexpr int kNiceness = 10;

}  // namespace

ComputationPool::ComputationPool(size_t threads_of_tenant, size_t max_queued)
    : threads_of_tenant_(threads_of_tenant), max_queued_(max_queued) {
  for (size_t i = 0; i < threads_of_tenant + 1; ++i) threads_.emplace_back([this] { Loop(); });
}

ComputationPool::~ComputationPool() {
  Queues dropped;
  {
    absl::MutexLock lock(&mutex_);
    stopping_ = true;
    dropped.swap(queues_);
    turns_.clear();
  }
  for (std::thread& thread : threads_) thread.join();
}

absl::Status ComputationPool::Submit(const core::Tenant& tenant, Task task) {
  absl::MutexLock lock(&mutex_);
  if (stopping_) return absl::UnavailableError("the server is stopping: nothing was done");
  const auto known = queues_.find(tenant.name);
  const size_t of_tenant = known == queues_.end() ? 0 : known->second.tasks.size();
  if (queued_ >= max_queued_ || of_tenant >= max_queued_ / 2) return TooBusy();
  if (of_tenant == 0) turns_.push_back(tenant.name);
  queues_[tenant.name].tasks.push_back(std::move(task));
  ++queued_;
  return absl::OkStatus();
}

std::list<std::string>::iterator ComputationPool::NextTurn() {
  return std::find_if(turns_.begin(), turns_.end(),
                      [this](const std::string& tenant) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
                        return queues_.find(tenant)->second.running < threads_of_tenant_;
                      });
}

void ComputationPool::Loop() {
  setpriority(PRIO_PROCESS, 0, kNiceness);  // this thread's alone
  const auto ready = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return stopping_ || NextTurn() != turns_.end();
  };
  while (true) {
    Task task;
    std::string tenant;
    {
      absl::MutexLock lock(&mutex_);
      mutex_.Await(absl::Condition(&ready));
      if (stopping_) return;
      const auto turn = NextTurn();
      tenant = *turn;
      turns_.erase(turn);
      Queue& queue = queues_.find(tenant)->second;
      task = std::move(queue.tasks.front());
      queue.tasks.pop_front();
      --queued_;
      ++queue.running;
      if (!queue.tasks.empty()) turns_.push_back(tenant);
    }
    std::move(task)();
    task = nullptr;  // free the task and everything in it before the turn is given back
    absl::MutexLock lock(&mutex_);
    if (stopping_) return;
    const auto queue = queues_.find(tenant);
    if (--queue->second.running == 0 && queue->second.tasks.empty()) queues_.erase(queue);
  }
}

}  // namespace epsledger::transport
