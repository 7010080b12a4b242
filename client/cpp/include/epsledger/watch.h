#ifndef EPSLEDGER_WATCH_H_
#define EPSLEDGER_WATCH_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"

namespace epsledger {

// What a change is about; the words of epsledger.v1.LedgerChange.
enum class ChangeKind {
  kBookmark = 0,  // nothing: everything up to `sequence` was told. Also what is not known here
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
// a broken connection it goes on from the last one by itself. Destroying it ends it and waits for
// the callback that is running. Not thread-safe.
class [[nodiscard]] Watch {
 public:
  Watch(Watch&&) noexcept;
  Watch& operator=(Watch&&) noexcept;
  ~Watch();

  // Ends it: no callback runs after this returns. REQUIRES: not called by the callback.
  void Cancel();
  // Waits until it ends by itself, and says why: what the server said (NOT_FOUND, DATA_LOSS if the
  // ledger has lost what was seen), or the last error when nothing came for
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
