#include "server/storage/commit_listeners.h"

#include <iterator>
#include <utility>

namespace epsledger::storage {
namespace {

// Moves what waits for a number that has changed from `waiting` to `called`.
template <class Waiting, class NumberNow, class Listeners>
void TakeChanged(Waiting* waiting, NumberNow number_now, Listeners* called) {
  for (auto it = waiting->begin(); it != waiting->end();) {
    if (number_now(it->first) == it->second.seen) {
      ++it;
      continue;
    }
    called->insert(called->end(), it->second.listeners.begin(), it->second.listeners.end());
    it = waiting->erase(it);
  }
}

}  // namespace

void CommitListeners::AddTo(Waiting* waiting, int64_t seen,
                            std::weak_ptr<core::CommitListener> listener) {
  Listeners& listeners = waiting->listeners;
  if (listeners.empty()) waiting->seen = seen;
  // Expired listeners are removed before the vector grows. So listeners that come and go at an idle
  // ledger use at most twice the memory of those that stay.
  if (listeners.size() == listeners.capacity()) {
    std::erase_if(listeners, [](const auto& other) { return other.expired(); });
    listeners.reserve(2 * listeners.size() + 1);
  }
  listeners.push_back(std::move(listener));
}

void CommitListeners::Add(const core::Ledger& ledger,
                          std::weak_ptr<core::CommitListener> listener) {
  AddTo(&for_commit_[&ledger], ledger.head().sequence, std::move(listener));
}

void CommitListeners::AddForBudget(const core::Tenant& tenant,
                                   std::weak_ptr<core::CommitListener> listener) {
  AddTo(&for_budget_[tenant.name], std::ssize(replica_.BudgetsOf(tenant)), std::move(listener));
}

void CommitListeners::Notify() {
  if (for_commit_.empty() && for_budget_.empty()) return;
  Listeners called;
  TakeChanged(
      &for_commit_, [](const core::Ledger* ledger) { return ledger->head().sequence; }, &called);
  TakeChanged(
      &for_budget_,
      [this](const std::string& tenant) -> int64_t {
        return std::ssize(replica_.BudgetsOf({tenant}));
      },
      &called);
  for (const auto& weak : called) {
    if (const auto listener = weak.lock()) listener->OnCommit();
  }
}

}  // namespace epsledger::storage
