#include "server/metrics/rpc_metrics.h"

#include <array>
#include <atomic>
#include <utility>

namespace epsledger::metrics {
namespace {

// Codes of absl and of gRPC.
constexpr size_t kCodeCount = 17;

// From a read in memory to the longest time that a call is held.
const prometheus::Histogram::BucketBoundaries kSeconds = {
    0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05,
    0.1,    0.25,    0.5,    1,     2.5,    5,     10,   30,    60};

// "ChargeService.Charge" of "epsledger.v1.ChargeService.Charge".
std::string ShortName(std::string_view method) {
  const size_t last = method.rfind('.');
  const size_t service = last == method.npos ? last : method.rfind('.', last - 1);
  return std::string(service == method.npos ? method : method.substr(service + 1));
}

}  // namespace

struct RpcMetrics::Method {
  std::string name;
  prometheus::Histogram* seconds = nullptr;
  prometheus::Gauge* in_flight = nullptr;
  std::array<std::atomic<prometheus::Counter*>, kCodeCount> ended{};  // by code, once there is one
};

RpcMetrics::RpcMetrics(std::shared_ptr<prometheus::Registry> registry)
    : registry_(std::move(registry)),
      calls_(prometheus::BuildCounter()
                 .Name("epsledger_rpc_calls_total")
                 .Help("Calls that have ended, by method and code.")
                 .Register(*registry_)),
      seconds_(prometheus::BuildHistogram()
                   .Name("epsledger_rpc_seconds")
                   .Help("From a call's arrival to its end, by method.")
                   .Register(*registry_)),
      in_flight_(prometheus::BuildGauge()
                     .Name("epsledger_rpc_in_flight")
                     .Help("Calls that have not ended, by method.")
                     .Register(*registry_)),
      reasons_(prometheus::BuildCounter()
                   .Name("epsledger_rpc_refusals_total")
                   .Help("Calls that were refused or failed, by reason.")
                   .Register(*registry_)) {
  auto& verifications = prometheus::BuildCounter()
                            .Name("epsledger_ledger_verifications_total")
                            .Help("Ledgers read again on request, by what was found.")
                            .Register(*registry_);
  valid_ = &verifications.Add({{"result", "valid"}});
  fault_ = &verifications.Add({{"result", "fault"}});
}

RpcMetrics::~RpcMetrics() = default;

RpcMetrics::Method& RpcMetrics::Of(std::string_view method) {
  {
    absl::ReaderMutexLock lock(&mutex_);
    if (const auto it = methods_.find(method); it != methods_.end()) return *it->second;
  }
  absl::MutexLock lock(&mutex_);
  std::unique_ptr<Method>& added = methods_[std::string(method)];
  if (added == nullptr) {
    added = std::make_unique<Method>();
    added->name = ShortName(method);
    added->seconds = &seconds_.Add({{"method", added->name}}, kSeconds);
    added->in_flight = &in_flight_.Add({{"method", added->name}});
  }
  return *added;
}

void RpcMetrics::CountReason(const std::string& reason) {
  reasons_.Add({{"reason", reason}}).Increment();
}

RpcMetrics::Call::Call(std::shared_ptr<RpcMetrics> metrics, std::string_view method)
    : metrics_(std::move(metrics)), method_(metrics_->Of(method)) {
  method_.in_flight->Increment();
}

RpcMetrics::Call::~Call() { End(absl::StatusCode::kUnknown, ""); }

void RpcMetrics::Call::End(absl::StatusCode code, const std::string& reason) {
  if (std::exchange(ended_, true)) return;
  method_.in_flight->Decrement();
  method_.seconds->Observe(
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count());
  std::atomic<prometheus::Counter*>& place = method_.ended[static_cast<size_t>(code)];
  prometheus::Counter* counter = place.load(std::memory_order_acquire);
  if (counter == nullptr) {
    // Adding it twice returns the same counter.
    counter =
        &metrics_->calls_.Add({{"method", method_.name}, {"code", absl::StatusCodeToString(code)}});
    place.store(counter, std::memory_order_release);
  }
  counter->Increment();
  if (!reason.empty()) metrics_->CountReason(reason);
}

}  // namespace epsledger::metrics
