#ifndef EPSLEDGER_SERVER_TRANSPORT_GRPC_CALLS_OPEN_CALLS_H_
#define EPSLEDGER_SERVER_TRANSPORT_GRPC_CALLS_OPEN_CALLS_H_

#include <cstddef>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "grpcpp/support/status.h"
#include "server/access/caller.h"
#include "server/access_log/access_log.h"
#include "server/metrics/rpc_metrics.h"
#include "server/transport/grpc/calls/admission.h"
#include "server/transport/grpc/calls/read_rate.h"
#include "server/transport/grpc/calls/refusal_rate.h"
#include "server/transport/grpc/calls/steady_time.h"

namespace epsledger::transport {

// A call of a client, unary or a stream, until it ends. Thread-safe.
class OpenCall {
 public:
  virtual ~OpenCall() = default;

  // Ends the call with `status`, unless it has ended already.
  virtual void Fail(const grpc::Status& status) = 0;
  // Called when the server stops: ends the call once it has nothing open that it could still
  // answer.
  virtual void Drain() {}
  // Called every kHousekeepingInterval.
  virtual void KeepHouse(SteadyTime /*now*/) {}

  SteadyTime arrival_time() const { return arrival_time_; }

 private:
  friend class OpenCalls;

  const SteadyTime arrival_time_ = SteadyNow();
  // The place of the call in the list, guarded by the list's mutex.
  std::optional<std::list<std::weak_ptr<OpenCall>>::iterator> position_;
  size_t request_bytes_ = 0;
  // Whose shares it uses: its tenant's, and its principal's in this tenant.
  std::optional<std::pair<std::string, std::string>> owner_;
};

// The open calls, oldest first. A server that stops waits for them, and ends those that nothing
// else ends. Thread-safe.
class OpenCalls {
 public:
  // REQUIRES: `admission`, through which calls come in, and `access_log` outlive all calls.
  OpenCalls(const Admission& admission, std::shared_ptr<metrics::RpcMetrics> metrics,
            std::shared_ptr<ReadRate> read_rate, std::shared_ptr<RefusalRate> refusal_rate,
            size_t max_calls, size_t max_request_bytes, access_log::AccessLog* access_log)
      : admission_(admission),
        access_log_(access_log),
        metrics_(std::move(metrics)),
        read_rate_(std::move(read_rate)),
        refusal_rate_(std::move(refusal_rate)),
        max_calls_(max_calls),
        max_request_bytes_(max_request_bytes) {}
  OpenCalls(const OpenCalls&) = delete;
  OpenCalls& operator=(const OpenCalls&) = delete;

  // Adds a call. Returns false, and adds nothing, if the limits are reached. `request_bytes` are
  // held while the call is open.
  bool Add(const std::shared_ptr<OpenCall>& call, size_t request_bytes = 0)
      ABSL_LOCKS_EXCLUDED(mutex_);
  // Counts a call whose caller is now known. Returns false if the tenant has its full share
  // already, half of either limit, or the principal has three quarters of this half. kAnybody has
  // the whole half. REQUIRES: Add returned true; called once.
  bool Claim(OpenCall& call, const access::Caller& caller) ABSL_LOCKS_EXCLUDED(mutex_);
  // Does nothing if the call was not added.
  void Remove(OpenCall& call) ABSL_LOCKS_EXCLUDED(mutex_);

  // Ends every call that arrived before `time` with `status`.
  void FailArrivedBefore(SteadyTime time, const grpc::Status& status) ABSL_LOCKS_EXCLUDED(mutex_);
  void Drain() ABSL_LOCKS_EXCLUDED(mutex_);
  size_t size() const ABSL_LOCKS_EXCLUDED(mutex_);
  void KeepHouse(SteadyTime now) ABSL_LOCKS_EXCLUDED(mutex_);

  const Admission& admission() const { return admission_; }
  // The log of ended calls; nullptr: none.
  access_log::AccessLog* access_log() const { return access_log_; }
  const std::shared_ptr<metrics::RpcMetrics>& metrics() const { return metrics_; }
  ReadRate& read_rate() const { return *read_rate_; }
  RefusalRate& refusal_rate() const { return *refusal_rate_; }

 private:
  std::vector<std::shared_ptr<OpenCall>> ArrivedBefore(SteadyTime time) ABSL_LOCKS_EXCLUDED(mutex_);

  const Admission& admission_;
  access_log::AccessLog* const access_log_;
  const std::shared_ptr<metrics::RpcMetrics> metrics_;
  const std::shared_ptr<ReadRate> read_rate_;
  const std::shared_ptr<RefusalRate> refusal_rate_;
  const size_t max_calls_;
  const size_t max_request_bytes_;
  mutable absl::Mutex mutex_;
  struct Share {
    size_t calls = 0;
    size_t request_bytes = 0;
  };
  // The share of a tenant's principal, or with an empty principal that of the whole tenant.
  using Owner = std::pair<std::string, std::string>;
  void Give(const Owner& owner, size_t request_bytes) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void TakeBack(const Owner& owner, size_t request_bytes) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Returns true if the owner may hold one call more, of `request_bytes`, within `of_8` eighths of
  // the limits.
  bool HasRoom(const Owner& owner, size_t request_bytes, size_t of_8) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  size_t request_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  std::map<Owner, Share> shares_ ABSL_GUARDED_BY(mutex_);
  std::list<std::weak_ptr<OpenCall>> calls_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace epsledger::transport

#endif  // EPSLEDGER_SERVER_TRANSPORT_GRPC_CALLS_OPEN_CALLS_H_
