#ifndef EPSLEDGER_CLIENT_CLI_REACH_RETRY_NOTICE_H_
#define EPSLEDGER_CLIENT_CLI_REACH_RETRY_NOTICE_H_

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "client/cli/print/terminal.h"
#include "epsledger/client.h"

namespace epsledger::cli {

// Tells people that a call is tried again, and why, on standard error: at once, and then every five
// seconds at most. Ends the tries of a failure that no repetition can mend. Thread-safe.
class RetryNotice {
 public:
  // `server` is the address for people. The terminal outlives this object.
  RetryNotice(Terminal& terminal, std::string server)
      : terminal_(terminal), server_(std::move(server)) {}

  // For a wait before the next try.
  void Tell(const absl::Status& last, std::chrono::nanoseconds left) ABSL_LOCKS_EXCLUDED(mutex_);

  // Makes the tries with these options tell.
  static void Attach(const std::shared_ptr<RetryNotice>& notice, RetryOptions* options);

 private:
  std::chrono::steady_clock::time_point Now() const ABSL_LOCKS_EXCLUDED(mutex_);

  Terminal& terminal_;
  const std::string server_;
  mutable absl::Mutex mutex_;
  std::string told_ ABSL_GUARDED_BY(mutex_);
  std::optional<std::chrono::steady_clock::time_point> told_time_ ABSL_GUARDED_BY(mutex_);
  int hopeless_count_ ABSL_GUARDED_BY(mutex_) = 0;
};

// Returns true if the status says that TLS was refused: by an unknown certificate, a wrong name in
// it, or a protocol that is not gRPC's. Another try gets the same answer.
bool IsTlsRefusal(const absl::Status& status);

// Returns what a person wants to know of the message: "Connection refused" for gRPC's "failed to
// connect to all addresses; last error: UNKNOWN: ipv4:...: Failed to connect to remote host:
// Connection refused", and "certificate verify failed" for what OpenSSL adds before it.
std::string PlainReason(const absl::Status& status);

}  // namespace epsledger::cli

#endif  // EPSLEDGER_CLIENT_CLI_REACH_RETRY_NOTICE_H_
