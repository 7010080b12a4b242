#include "server/transport/grpc/calls/computation_pool.h"

#include <utility>

#include "server/transport/grpc/status/status_mapping.h"

namespace epsledger::transport {

ComputationPool::ComputationPool(size_t thread_count, size_t max_queued) : max_queued_(max_queued) {
  for (size_t i = 0; i < thread_count; ++i) threads_.emplace_back([this] { Loop(); });
}

ComputationPool::~ComputationPool() {
  std::deque<Task> dropped;
  {
    absl::MutexLock lock(&mutex_);
    stopping_ = true;
    dropped.swap(tasks_);
  }
  for (std::thread& thread : threads_) thread.join();
}

absl::Status ComputationPool::Submit(Task task) {
  absl::MutexLock lock(&mutex_);
  if (tasks_.size() >= max_queued_) return TooBusy();
  tasks_.push_back(std::move(task));
  return absl::OkStatus();
}

void ComputationPool::Loop() {
  const auto ready = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return stopping_ || !tasks_.empty();
  };
  while (true) {
    Task task;
    {
      absl::MutexLock lock(&mutex_);
      mutex_.Await(absl::Condition(&ready));
      if (stopping_) return;
      task = std::move(tasks_.front());
      tasks_.pop_front();
    }
    std::move(task)();
  }
}

}  // namespace epsledger::transport
