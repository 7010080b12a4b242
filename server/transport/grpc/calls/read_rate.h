#ifndef EPSLEDGER_SERVER_TRANSPORT_GRPC_CALLS_READ_RATE_H_
#define EPSLEDGER_SERVER_TRANSPORT_GRPC_CALLS_READ_RATE_H_

#include <cstddef>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "server/core/tenant.h"
#include "server/transport/rates/rate_limiter.h"

namespace epsledger::transport {

// The bytes that a read of one answer counts for in addition to its answer: the work of small reads
// equals this.
inline constexpr size_t kBytesOfRead = 1 << 10;

// Bounds how fast each tenant reads stored data, in bytes of answers: making and sending them uses
// processors that all tenants share. A read that has begun is answered, whatever its size, and its
// bytes are paid off before the tenant's next read begins. So over any time of T seconds a tenant
// gets at most bytes_per_second (T + 1) bytes more than its concurrently open reads hold, each at
// most kMaxPageBytes or an export's page. Thread-safe.
class ReadRate {
 public:
  // 0: no bound.
  explicit ReadRate(double bytes_per_second)
      : is_bounded_(bytes_per_second > 0),
        of_tenants_({.burst = bytes_per_second, .per_second = bytes_per_second}) {}

  // Returns true if the tenant may begin a read.
  bool MayRead(const core::Tenant& tenant) const ABSL_LOCKS_EXCLUDED(mutex_) {
    if (!is_bounded_) return true;
    absl::MutexLock lock(&mutex_);
    return of_tenants_.HasPaid(tenant.name, RateLimiter::Clock::now());
  }

  // Counts bytes that the tenant received.
  void Count(const core::Tenant& tenant, size_t bytes) ABSL_LOCKS_EXCLUDED(mutex_) {
    if (!is_bounded_ || bytes == 0) return;
    absl::MutexLock lock(&mutex_);
    of_tenants_.Count(tenant.name, RateLimiter::Clock::now(), static_cast<double>(bytes));
  }

 private:
  const bool is_bounded_;
  mutable absl::Mutex mutex_;
  RateLimiter of_tenants_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace epsledger::transport

#endif  // EPSLEDGER_SERVER_TRANSPORT_GRPC_CALLS_READ_RATE_H_
