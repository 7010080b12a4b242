#ifndef EPSLEDGER_SERVER_TRANSPORT_GRPC_HANDLERS_EXPORT_STREAM_H_
#define EPSLEDGER_SERVER_TRANSPORT_GRPC_HANDLERS_EXPORT_STREAM_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/core/durable_ledger.h"
#include "server/transport/grpc/calls/stream_call.h"

namespace epsledger::transport {

// Sends the entries of one ledger, up to the head that it has when the stream begins.
//
// Invariants: at most one page of entries is held, and the next page is read only when the client
// has taken it. Thread-safe.
class ExportStream final : public StreamCall {
 public:
  // If `budget_id` is an error, because the request was wrong, the stream ends with it. REQUIRES:
  // `ledger` outlives the stream.
  static std::shared_ptr<wire::StreamedCall> Start(core::DurableLedger& ledger,
                                                   std::shared_ptr<OpenCalls> open_streams,
                                                   wire::StreamRequest request,
                                                   absl::StatusOr<std::string> budget_id,
                                                   int64_t after_sequence);

 private:
  ExportStream(core::DurableLedger& ledger, std::shared_ptr<OpenCalls> open_streams,
               wire::StreamRequest& request, std::string budget_id, int64_t after_sequence);
  void Continue() override ABSL_LOCKS_EXCLUDED(mutex_);
  // On the ledger's thread.
  absl::Status ReadPage(core::LedgerReader& reader) ABSL_LOCKS_EXCLUDED(mutex_);

  core::DurableLedger& ledger_;
  const std::string budget_id_;
  int64_t after_sequence_ ABSL_GUARDED_BY(mutex_);
  std::optional<int64_t> last_sequence_ ABSL_GUARDED_BY(mutex_);
  std::deque<std::string> page_ ABSL_GUARDED_BY(mutex_);  // entries, as they are sent
  bool reading_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace epsledger::transport

#endif  // EPSLEDGER_SERVER_TRANSPORT_GRPC_HANDLERS_EXPORT_STREAM_H_
