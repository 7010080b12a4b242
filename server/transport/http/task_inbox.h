#ifndef EPSLEDGER_SERVER_TRANSPORT_HTTP_TASK_INBOX_H_
#define EPSLEDGER_SERVER_TRANSPORT_HTTP_TASK_INBOX_H_

#include <memory>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/functional/any_invocable.h"
#include "absl/synchronization/mutex.h"
#include "server/transport/grpc/calls/steady_time.h"

namespace epsledger::transport {

// What one thread shall do next. Thread-safe.
class TaskInbox {
 public:
  using Task = absl::AnyInvocable<void() &&>;

  // Drops the task if the inbox is closed.
  void Post(Task task) ABSL_LOCKS_EXCLUDED(mutex_);
  // Waits until there are tasks, or until `due`, and returns them in the order of Post.
  std::vector<Task> Take(SteadyTime due) ABSL_LOCKS_EXCLUDED(mutex_);
  // Drops what is in it and what comes.
  void Close() ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  absl::Mutex mutex_;
  std::vector<Task> tasks_ ABSL_GUARDED_BY(mutex_);
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
};

// Posts the tasks of one object. May be copied, used on any thread, and outlive the object.
class TaskPoster {
 public:
  // The task runs only if the object still exists then.
  void Post(TaskInbox::Task task) const {
    inbox_->Post([owner = owner_, run = std::move(task)]() mutable {
      if (!owner.expired()) std::move(run)();
    });
  }

 private:
  friend class TaskOwner;
  TaskPoster(std::shared_ptr<TaskInbox> inbox, std::weak_ptr<const bool> owner)
      : inbox_(std::move(inbox)), owner_(std::move(owner)) {}

  std::shared_ptr<TaskInbox> inbox_;
  std::weak_ptr<const bool> owner_;
};

// A member of an object that is used and destroyed only on the thread of an inbox.
class TaskOwner {
 public:
  explicit TaskOwner(std::shared_ptr<TaskInbox> inbox) : inbox_(std::move(inbox)) {}

  TaskPoster poster() const { return TaskPoster(inbox_, exists_); }

 private:
  const std::shared_ptr<TaskInbox> inbox_;
  const std::shared_ptr<const bool> exists_ = std::make_shared<const bool>(true);  // no other owner
};

}  // namespace epsledger::transport

#endif  // EPSLEDGER_SERVER_TRANSPORT_HTTP_TASK_INBOX_H_
