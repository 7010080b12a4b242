#ifndef EPSLEDGER_CLIENT_ALERTS_LEDGER_LEDGER_FEED_H_
#define EPSLEDGER_CLIENT_ALERTS_LEDGER_LEDGER_FEED_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>

#include "absl/status/status.h"
#include "client/cpp/connection.h"
#include "client/cpp/watch_changes.h"
#include "epsledger/v1/change.pb.h"

namespace epsledger::alerts {

// Watches trees of budgets, each on a thread of its own, and goes on after broken connections.
// Used by one thread.
class LedgerFeed {
 public:
  // Called on the threads of the feed, for one tree in order. It may block: the server then waits
  // with the next change. Returns false to end the watch.
  using OnChange = std::function<bool(const std::string& tree, const v1::LedgerChange&)>;
  // Called once at the end of a watch that the server ended for good.
  using OnEnd = std::function<void(const std::string& tree, const absl::Status&)>;

  LedgerFeed(std::shared_ptr<Connection> connection, OnChange on_change, OnEnd on_end);
  // Ends all watches. No callback runs after this.
  ~LedgerFeed();
  LedgerFeed(const LedgerFeed&) = delete;
  LedgerFeed& operator=(const LedgerFeed&) = delete;

  // Watches the tree after this entry. REQUIRES: it is not watched, or its watch has ended.
  void Watch(const std::string& tree, int64_t after_sequence);

 private:
  struct Watched {
    Canceller canceller;
    std::thread thread;
  };
  void Loop(const std::string& tree, int64_t after_sequence, Canceller& canceller);

  const std::shared_ptr<Connection> connection_;
  const OnChange on_change_;
  const OnEnd on_end_;
  std::map<std::string, std::unique_ptr<Watched>> watched_;
};

}  // namespace epsledger::alerts

#endif  // EPSLEDGER_CLIENT_ALERTS_LEDGER_LEDGER_FEED_H_
