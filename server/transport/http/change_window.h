#ifndef EPSLEDGER_SERVER_TRANSPORT_HTTP_CHANGE_WINDOW_H_
#define EPSLEDGER_SERVER_TRANSPORT_HTTP_CHANGE_WINDOW_H_

#include <cstddef>
#include <cstdint>
#include <deque>

#include "server/transport/http/change_event.h"

namespace epsledger::transport {

// The newest changes of one resource, in order of sequence: at most kMaxEvents, and at most
// kMaxBytes unless a single one is larger. It is enough for a client that takes a second to
// reconnect.
//
// Invariant: it has every change after low() and up to high().
class ChangeWindow {
 public:
  static constexpr size_t kMaxEvents = 4096;
  static constexpr size_t kMaxBytes = size_t{4} << 20;

  explicit ChangeWindow(int64_t begin) : low_(begin), high_(begin) {}

  // REQUIRES: `event` is the next change after high().
  void Add(ChangeEvent event);

  int64_t low() const { return low_; }
  int64_t high() const { return high_; }

  using Iterator = std::deque<ChangeEvent>::const_iterator;
  // Returns the first change after `position`, or end(). REQUIRES: position >= low().
  Iterator After(int64_t position) const;
  Iterator end() const { return events_.end(); }

 private:
  int64_t low_;
  int64_t high_;
  std::deque<ChangeEvent> events_;
  size_t bytes_ = 0;
};

}  // namespace epsledger::transport

#endif  // EPSLEDGER_SERVER_TRANSPORT_HTTP_CHANGE_WINDOW_H_
