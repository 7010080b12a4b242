#include "server/transport/http/change_window.h"

#include <algorithm>
#include <utility>

namespace epsledger::transport {

void ChangeWindow::Add(ChangeEvent event) {
  bytes_ += event.text->size();
  high_ = event.sequence;
  events_.push_back(std::move(event));
  while (events_.size() > kMaxEvents || (bytes_ > kMaxBytes && events_.size() > 1)) {
    low_ = events_.front().sequence;
    bytes_ -= events_.front().text->size();
    events_.pop_front();
  }
}

ChangeWindow::Iterator ChangeWindow::After(int64_t position) const {
  return std::upper_bound(
      events_.begin(), events_.end(), position,
      [](int64_t sequence, const ChangeEvent& event) { return sequence < event.sequence; });
}

}  // namespace epsledger::transport
