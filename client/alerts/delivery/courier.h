#ifndef EPSLEDGER_CLIENT_ALERTS_DELIVERY_COURIER_H_
#define EPSLEDGER_CLIENT_ALERTS_DELIVERY_COURIER_H_

#include <deque>
#include <functional>
#include <string>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "client/alerts/delivery/backoff.h"
#include "client/alerts/delivery/sender.h"
#include "client/alerts/rules/alert.h"

namespace epsledger::alerts {

// Brings alerts to one destination, one after the other in the order in which they were given, on
// a thread of its own. Nobody waits for it.
class Courier {
 public:
  // One try; `is_stopping` as in Send.
  using TryOnce = std::function<SendOutcome(const Alert&, const std::function<bool()>&)>;
  // Called on the courier's thread. OK: taken. FAILED_PRECONDITION: refused, or given up: it is
  // not tried again. UNAVAILABLE: it will be tried again after `wait`.
  using Report =
      std::function<void(const Alert&, const absl::Status& status, int tries, absl::Duration wait)>;

  // REQUIRES: `report` may be called until the destructor returns.
  Courier(TryOnce try_once, RetryPolicy policy, Report report);
  // Ends the try that is under way.
  ~Courier();
  Courier(const Courier&) = delete;
  Courier& operator=(const Courier&) = delete;

  void Give(const Alert& alert) ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  void Loop();
  // Tries until the alert is taken or given up. Returns early if the courier stops.
  void Bring(const Alert& alert);
  bool IsStopping() const ABSL_LOCKS_EXCLUDED(mutex_);
  bool HasWork() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return stopping_ || !given_.empty();
  }

  const TryOnce try_once_;
  const RetryPolicy policy_;
  const Report report_;
  mutable absl::Mutex mutex_;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::deque<Alert> given_ ABSL_GUARDED_BY(mutex_);
  std::thread thread_;
};

}  // namespace epsledger::alerts

#endif  // EPSLEDGER_CLIENT_ALERTS_DELIVERY_COURIER_H_
