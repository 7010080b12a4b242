#include "client/alerts/inbox.h"

#include <utility>

namespace epsledger::alerts {

bool Inbox::PutChange(Change change) {
  absl::MutexLock lock(&mutex_);
  mutex_.Await(absl::Condition(this, &Inbox::HasRoom));
  if (closed_) return false;
  messages_.push_back(std::move(change));
  return true;
}

void Inbox::Put(Message message) {
  absl::MutexLock lock(&mutex_);
  messages_.push_back(std::move(message));
}

std::deque<Message> Inbox::TakeAll(absl::Time deadline) {
  absl::MutexLock lock(&mutex_);
  mutex_.AwaitWithDeadline(absl::Condition(this, &Inbox::HasMessage), deadline);
  return std::exchange(messages_, {});
}

void Inbox::Close() {
  absl::MutexLock lock(&mutex_);
  closed_ = true;
}

bool Inbox::IsClosed() const {
  absl::MutexLock lock(&mutex_);
  return closed_;
}

}  // namespace epsledger::alerts
