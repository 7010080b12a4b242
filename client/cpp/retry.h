#ifndef EPSLEDGER_CLIENT_CPP_RETRY_H_
#define EPSLEDGER_CLIENT_CPP_RETRY_H_

#include <chrono>
#include <functional>
#include <string>

#include "absl/status/status.h"
#include "epsledger/client.h"

namespace epsledger {

// Returns OK, or INVALID_ARGUMENT that names the option, what it got and what it wants.
absl::Status ValidateRetryOptions(const RetryOptions& options);

// The outcome of all tries of one call.
struct Tries {
  absl::Status last;
  // A try before the last one may have committed.
  bool may_have_committed_before = false;
  int count = 0;
  std::chrono::nanoseconds elapsed{0};

  // "3 tries in 1.2 s".
  std::string Describe() const;
};

// Calls `try_once(timeout)` until it succeeds, fails with a code for which IsWorthRetrying is
// false, or the options' tries or time are used up, and at least once. `timeout` is the smaller of
// the call timeout and the time that is left. REQUIRES: valid options.
Tries RetryUntilDefinite(const RetryOptions& options,
                         const std::function<absl::Status(std::chrono::nanoseconds)>& try_once);

}  // namespace epsledger

#endif  // EPSLEDGER_CLIENT_CPP_RETRY_H_
