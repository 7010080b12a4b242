#ifndef EPSLEDGER_SERVER_STORAGE_FAIR_QUEUE_H_
#define EPSLEDGER_SERVER_STORAGE_FAIR_QUEUE_H_

#include <cstddef>
#include <deque>
#include <list>
#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace epsledger::storage {

// A queue for several tenants. The items of one tenant come out in the order of insertion. Tenants
// take turns, so a tenant with many items delays the next item of another tenant by one item only.
template <class Item>
class FairQueue {
 public:
  bool empty() const { return size_ == 0; }
  size_t size() const { return size_; }
  size_t SizeOf(std::string_view tenant) const {
    const auto queue = queues_.find(tenant);
    return queue == queues_.end() ? 0 : queue->second.size();
  }

  void PushBack(const std::string& tenant, Item item) {
    auto [queue, is_new] = queues_.try_emplace(tenant);
    if (is_new) turns_.push_back(queue);
    queue->second.push_back(std::move(item));
    ++size_;
  }
  // Inserts an item before the other items of the tenant, and before those of all tenants if the
  // tenant has none.
  void PushFront(const std::string& tenant, Item item) {
    auto [queue, is_new] = queues_.try_emplace(tenant);
    if (is_new) turns_.push_front(queue);
    queue->second.push_front(std::move(item));
    ++size_;
  }
  // REQUIRES: !empty().
  Item Pop() {
    const auto queue = turns_.front();
    Item item = std::move(queue->second.front());
    queue->second.pop_front();
    --size_;
    if (queue->second.empty()) {
      turns_.pop_front();
      queues_.erase(queue);
    } else {
      turns_.splice(turns_.end(), turns_, turns_.begin());
    }
    return item;
  }

 private:
  using Queues = std::map<std::string, std::deque<Item>, std::less<>>;  // none is empty

  Queues queues_;
  std::list<typename Queues::iterator> turns_;  // one per queue, the next first
  size_t size_ = 0;
};

}  // namespace epsledger::storage

#endif  // EPSLEDGER_SERVER_STORAGE_FAIR_QUEUE_H_
