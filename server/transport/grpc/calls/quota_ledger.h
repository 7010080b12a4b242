#ifndef EPSLEDGER_SERVER_TRANSPORT_GRPC_CALLS_QUOTA_LEDGER_H_
#define EPSLEDGER_SERVER_TRANSPORT_GRPC_CALLS_QUOTA_LEDGER_H_

#include <cstdint>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "server/core/durable_ledger.h"
#include "server/transport/rates/rate_limiter.h"

namespace epsledger::transport {

// The quotas of one tenant, so that no tenant fills the disk or the memory of all. The limits for
// what is shared at one moment (open calls, streams, computations) are in limits.h.
struct Quotas {
  // Each takes some kilobytes of memory permanently.
  int64_t sessions_of_tenant = 1'000'000;
  int64_t budgets_of_tenant = 100'000;
  // Changes to the ledger in the long run, where each charge of a batch is one, with a burst of ten
  // seconds' worth. 0: no bound.
  double changes_per_second_of_tenant = 0;
  double changes_per_second_of_caller = 0;  // a token, a certificate, an issuer's subject
  // Bytes of answers to reads in the long run, with a burst of one second's worth (ReadRate). 0: no
  // bound.
  double read_bytes_per_second_of_tenant = 2 << 20;
};

// A ledger behind quotas: changes beyond the rate get core::Overload, sessions and budgets beyond
// their number get QuotaExceeded, and nothing is done. A repeated request for something that exists
// already is answered. Counts are checked before the change is decided, so a tenant that creates
// many concurrently may exceed them by a few. Thread-safe.
class QuotaLedger : public core::ForwardingLedger {
 public:
  QuotaLedger(core::DurableLedger& ledger, const Quotas& quotas);

  void Submit(core::Tenant tenant, core::Command command, Reply reply) override
      ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  absl::Status TakeRate(const core::Tenant& tenant, const core::Command& command)
      ABSL_LOCKS_EXCLUDED(mutex_);
  absl::Status CheckCount(core::LedgerReader& reader, const core::Tenant& tenant,
                          const core::Command& command) const;

  const Quotas quotas_;
  absl::Mutex mutex_;
  RateLimiter of_tenants_ ABSL_GUARDED_BY(mutex_);
  RateLimiter of_callers_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace epsledger::transport

#endif  // EPSLEDGER_SERVER_TRANSPORT_GRPC_CALLS_QUOTA_LEDGER_H_
