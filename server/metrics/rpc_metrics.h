#ifndef EPSLEDGER_SERVER_METRICS_RPC_METRICS_H_
#define EPSLEDGER_SERVER_METRICS_RPC_METRICS_H_

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "prometheus/counter.h"
#include "prometheus/family.h"
#include "prometheus/gauge.h"
#include "prometheus/histogram.h"
#include "prometheus/registry.h"

namespace epsledger::metrics {

// Metrics of the calls of a server:
//   epsledger_rpc_calls_total{method, code}    calls that have ended
//   epsledger_rpc_seconds{method}              from arrival to end; for a stream, all of it
//   epsledger_rpc_in_flight{method}            calls that have not ended
//   epsledger_rpc_refusals_total{reason}       calls that ended with a reason
//   (google.rpc.ErrorInfo)
//   epsledger_ledger_verifications_total{result}
//                                              ledgers read again on request: "valid" or "fault"
// Labels are methods, codes and reasons of this server, never a name that a client chose. A series
// exists from its first call on. Thread-safe.
class RpcMetrics {
 public:
  explicit RpcMetrics(std::shared_ptr<prometheus::Registry> registry);
  ~RpcMetrics();
  RpcMetrics(const RpcMetrics&) = delete;
  RpcMetrics& operator=(const RpcMetrics&) = delete;

  // A call of `method`, "package.Service.Method", that arrives now.
  class Call;

  // Counts a result of AuditService.VerifyLedger.
  void CountVerification(bool valid) { (valid ? valid_ : fault_)->Increment(); }

 private:
  struct Method;
  Method& Of(std::string_view method) ABSL_LOCKS_EXCLUDED(mutex_);
  void CountReason(const std::string& reason);

  const std::shared_ptr<prometheus::Registry> registry_;  // of the families below
  prometheus::Family<prometheus::Counter>& calls_;
  prometheus::Family<prometheus::Histogram>& seconds_;
  prometheus::Family<prometheus::Gauge>& in_flight_;
  prometheus::Family<prometheus::Counter>& reasons_;
  // Both exist before the first verification, so that the first fault is an increase.
  prometheus::Counter* valid_ = nullptr;
  prometheus::Counter* fault_ = nullptr;
  absl::Mutex mutex_;
  std::map<std::string, std::unique_ptr<Method>, std::less<>> methods_ ABSL_GUARDED_BY(mutex_);
};

// Thread-compatible.
class RpcMetrics::Call {
 public:
  Call(std::shared_ptr<RpcMetrics> metrics, std::string_view method);
  // Ends the call as UNKNOWN unless End was called.
  ~Call();
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  // Only the first call counts. `reason`: of google.rpc.ErrorInfo, or empty.
  void End(absl::StatusCode code, const std::string& reason);

 private:
  const std::shared_ptr<RpcMetrics> metrics_;
  Method& method_;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  bool ended_ = false;
};

}  // namespace epsledger::metrics

#endif  // EPSLEDGER_SERVER_METRICS_RPC_METRICS_H_
