#ifndef EPSLEDGER_WATCH_H_
#define EPSLEDGER_WATCH_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"

namespace epsledger {

// What a change is about, as in epsledger.v1.LedgerChange.
enum class ChangeKind {
  kBookmark = 0,  // no change: all up to `sequence` was reported. Also an unknown kind
  kBudget = 1,
  kSession = 2,
  kAttempt = 3,
  kCharge = 4,
  kLease = 5,
  kRefusedSession = 6,
};

// One entry of a ledger, as a watcher sees it.
struct LedgerChange {
  int64_t sequence = 0;  // rises from change to change
  ChangeKind kind = ChangeKind::kBookmark;
  std::string name;  // of the budget, session, ...
  std::string json;  // the proto3 JSON of epsledger.v1.LedgerChange, on one line
};

using ChangeCallback = std::function<void(const LedgerChange&)>;

// A running watch: a thread that calls a callback with every change, once each and in order. After
// a broken connection it continues by itself after the last change. The destructor ends the watch
// and waits for the callback that is running. Not thread-safe.
class [[nodiscard]] Watch {
 public:
  Watch(Watch&&) noexcept;
  Watch& operator=(Watch&&) noexcept;
  ~Watch();

  // Ends the watch: no callback runs after this returns. REQUIRES: not called by the callback.
  void Cancel();
  // Waits until the watch ends by itself, and returns why: the status of the server (NOT_FOUND, or
  // DATA_LOSS if the ledger has lost entries that were seen), or the last error if nothing came for
  // RetryOptions.overall_timeout. CANCELLED after Cancel.
  absl::Status Wait();

 private:
  friend class Client;
  struct Impl;
  explicit Watch(std::unique_ptr<Impl> impl);

  std::unique_ptr<Impl> impl_;
};

}  // namespace epsledger

#endif  // EPSLEDGER_WATCH_H_
