#ifndef EPSLEDGER_SERVER_TRANSPORT_GRPC_HANDLERS_CHARGE_STREAM_H_
#define EPSLEDGER_SERVER_TRANSPORT_GRPC_HANDLERS_CHARGE_STREAM_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "server/core/durable_ledger.h"
#include "server/transport/grpc/calls/steady_time.h"
#include "server/transport/grpc/calls/stream_call.h"
#include "server/transport/grpc/handlers/handler_context.h"

namespace epsledger::transport {

// StreamCharges: requests go to the ledger as they arrive, many at a time, and results come back in
// the order of the requests.
//
// Invariants: a result is written only after its outcome is durable; at most kMaxStreamWindow
// requests, and little more than kMaxStreamWindowBytes, are open, and nothing is read while that
// many are open. A request that is invalid or refused does not end the stream. A half-closed stream
// ends OK when its last result is written. Thread-safe.
class ChargeStream final : public StreamCall {
 public:
  static std::shared_ptr<wire::StreamedCall> Start(const HandlerContext& context,
                                                   wire::StreamRequest request);

  void Drain() override ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  struct OpenRequest {
    SteadyTime arrival_time;
    size_t bytes = 0;
    std::optional<std::string> result;
  };
  // The ledger's outcome for one request, or the reason why the ledger never got it.
  struct Reply {
    int64_t number;
    core::SessionName session;
    absl::StatusOr<core::Outcome> outcome;
  };

  ChargeStream(const HandlerContext& context, wire::StreamRequest& request);

  void OnRequest(std::string message) override ABSL_LOCKS_EXCLUDED(mutex_);
  void OnNoMoreRequests() override ABSL_LOCKS_EXCLUDED(mutex_);
  void Continue() override ABSL_LOCKS_EXCLUDED(mutex_);
  // Reads a new request, and gives it to the ledger.
  void Submit(std::string_view message, int64_t number) ABSL_LOCKS_EXCLUDED(mutex_);
  // Called from any thread. Returns quickly, since the ledger has other work.
  void Keep(Reply reply) ABSL_LOCKS_EXCLUDED(mutex_, replies_mutex_);
  void OnWoken() override ABSL_LOCKS_EXCLUDED(mutex_, replies_mutex_);
  // Returns the bytes of the result; empty if it cannot be written, and then it is no permit.
  std::string ResultOf(const Reply& reply, SteadyTime arrived) const;
  void AskIfThereIsRoom() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  core::DurableLedger& ledger_;
  const std::shared_ptr<const HeadKey> head_key_;
  bool asking_ ABSL_GUARDED_BY(mutex_) = false;  // for a request
  bool half_closed_ ABSL_GUARDED_BY(mutex_) = false;
  bool draining_ ABSL_GUARDED_BY(mutex_) = false;
  std::deque<OpenRequest> open_ ABSL_GUARDED_BY(mutex_);
  size_t open_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t first_number_ ABSL_GUARDED_BY(mutex_) = 0;  // of open_
  // A separate mutex, so that the ledger does not wait while replies are written.
  absl::Mutex replies_mutex_;
  std::vector<Reply> replies_ ABSL_GUARDED_BY(replies_mutex_);
};

}  // namespace epsledger::transport

#endif  // EPSLEDGER_SERVER_TRANSPORT_GRPC_HANDLERS_CHARGE_STREAM_H_
