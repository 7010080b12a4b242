#include "server/storage/reply_thread.h"

#include <utility>

#include "server/storage/failpoint.h"

namespace epsledger::storage {

ReplyThread::ReplyThread(size_t max_waiting)
    : max_waiting_(max_waiting), thread_([this] { Loop(); }) {}

ReplyThread::~ReplyThread() {
  {
    absl::MutexLock lock(&mutex_);
    stopping_ = true;
  }
  thread_.join();
}

void ReplyThread::Tell(Batch batch) {
  for (Answer& answer : batch) {
    Failpoint("reply.before");
    std::move(answer.reply)(std::move(answer.outcome));
    Failpoint("reply.after");
  }
}

void ReplyThread::Give(Batch answers) {
  if (answers.empty()) return;
  const auto has_room = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return waiting_.size() < max_waiting_;
  };
  {
    absl::MutexLock lock(&mutex_);
    if (answers.size() > 1 || telling_ || !waiting_.empty()) {
      mutex_.Await(absl::Condition(&has_room));
      waiting_.push_back(std::move(answers));
      return;
    }
  }
  Tell(std::move(answers));
}

void ReplyThread::Loop() {
  const auto ready = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return stopping_ || !waiting_.empty();
  };
  absl::MutexLock lock(&mutex_);
  while (true) {
    telling_ = false;
    mutex_.Await(absl::Condition(&ready));
    if (waiting_.empty()) return;  // stopping, and every reply was called
    Batch batch = std::move(waiting_.front());
    waiting_.pop_front();
    telling_ = true;
    mutex_.Unlock();
    Tell(std::move(batch));
    mutex_.Lock();
  }
}

}  // namespace epsledger::storage
