#include "server/transport/http/task_inbox.h"

namespace epsledger::transport {

void TaskInbox::Post(Task task) {
  absl::MutexLock lock(&mutex_);
  if (!closed_) tasks_.push_back(std::move(task));
}

std::vector<TaskInbox::Task> TaskInbox::Take(SteadyTime due) {
  std::vector<Task> taken;
  const absl::Duration patience = due - SteadyNow();
  absl::MutexLock lock(&mutex_);
  if (tasks_.empty() && patience > absl::ZeroDuration()) {
    mutex_.AwaitWithTimeout(absl::Condition(
                                +[](std::vector<Task>* tasks) { return !tasks->empty(); }, &tasks_),
                            patience);
  }
  taken.swap(tasks_);
  return taken;
}

void TaskInbox::Close() {
  std::vector<Task> dropped;  // destroyed without the lock: tasks may own what posts
  absl::MutexLock lock(&mutex_);
  closed_ = true;
  dropped.swap(tasks_);
}

}  // namespace epsledger::transport
