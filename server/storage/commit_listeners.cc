#include "server/storage/commit_listeners.h"

#include <utility>

namespace epsledger::storage {

void CommitListeners::Add(const core::Ledger& ledger,
                          std::weak_ptr<core::CommitListener> listener) {
  Waiting& waiting = waiting_[&ledger];
  auto& listeners = waiting.listeners;
  if (listeners.empty()) waiting.sequence = ledger.head().sequence;
  if (listeners.size() == listeners.capacity()) {
    std::erase_if(listeners, [](const auto& other) { return other.expired(); });
    listeners.reserve(2 * listeners.size() + 1);
  }
  listeners.push_back(std::move(listener));
}

void CommitListeners::Notify() {
  if (waiting_.empty()) return;
  std::vector<std::weak_ptr<core::CommitListener>> called;
  for (auto it = waiting_.begin(); it != waiting_.end();) {
    if (it->first->head().sequence == it->second.sequence) {
      ++it;
      continue;
    }
    called.insert(called.end(), it->second.listeners.begin(), it->second.listeners.end());
    it = waiting_.erase(it);
  }
  for (const auto& weak : called) {
    if (const auto listener = weak.lock()) listener->OnCommit();
  }
}

}  // namespace epsledger::storage
