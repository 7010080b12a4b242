#ifndef EPSLEDGER_SERVER_TRANSPORT_GRPC_CALLS_REFUSAL_RATE_H_
#define EPSLEDGER_SERVER_TRANSPORT_GRPC_CALLS_REFUSAL_RATE_H_

#include <algorithm>
#include <chrono>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "server/core/tenant.h"
#include "server/transport/grpc/limits.h"
#include "server/transport/rates/rate_limiter.h"

namespace epsledger::transport {

// Measures how fast each tenant's calls are refused for now (IsRefusedForNow). A refusal costs
// microseconds, and a caller that ignores the requested delay can cause 80,000 a second: so beyond
// the rate its connection is not read for a while. Thread-safe.
class RefusalRate {
 public:
  // Counts one refusal, and returns how long its sender must not be read: zero within the rate, at
  // most kMaxPauseForRefusals.
  std::chrono::nanoseconds Count(const core::Tenant& tenant) ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    const auto now = RateLimiter::Clock::now();
    const std::chrono::nanoseconds owed = of_tenants_.TimeToPay(tenant.name, now);
    if (owed >= kMaxPauseForRefusals) return kMaxPauseForRefusals;  // no debt grows beyond it
    of_tenants_.Count(tenant.name, now, 1);
    return std::min<std::chrono::nanoseconds>(of_tenants_.TimeToPay(tenant.name, now),
                                              kMaxPauseForRefusals);
  }

 private:
  absl::Mutex mutex_;
  RateLimiter of_tenants_ ABSL_GUARDED_BY(mutex_){
      {.burst = kMaxRefusalsAtOnce, .per_second = kRefusalsPerSecond}};
};

}  // namespace epsledger::transport

#endif  // EPSLEDGER_SERVER_TRANSPORT_GRPC_CALLS_REFUSAL_RATE_H_
