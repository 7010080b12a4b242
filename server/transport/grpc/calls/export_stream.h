#ifndef EPSLEDGER_SERVER_TRANSPORT_GRPC_CALLS_EXPORT_STREAM_H_
#define EPSLEDGER_SERVER_TRANSPORT_GRPC_CALLS_EXPORT_STREAM_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "epsledger/v1/audit.pb.h"
#include "grpcpp/support/byte_buffer.h"
#include "grpcpp/support/server_callback.h"
#include "server/core/durable_ledger.h"

namespace epsledger::transport {

// The entries of one ledger, up to the head that it has when the stream begins.
//
// Invariants: at most one page of entries is held, and the next is read only when the client has
// taken it; at most one write is open; gRPC is given exactly one end, never beside an open write. A
// client that cancels, and a server that stops (gRPC cancels what is open when the patience of a
// drain is over), end it at once. Thread-safe.
class ExportStream final : public grpc::ServerWriteReactor<grpc::ByteBuffer>,
                           public std::enable_shared_from_this<ExportStream> {
 public:
  // REQUIRES: `ledger` outlives the stream. Returns what gRPC wants; it owns itself.
  static grpc::ServerWriteReactor<grpc::ByteBuffer>* Start(core::DurableLedger& ledger,
                                                           core::Tenant tenant,
                                                           std::string budget_id,
                                                           int64_t after_sequence);
  // A stream that ends with this error.
  static grpc::ServerWriteReactor<grpc::ByteBuffer>* Fail(core::DurableLedger& ledger,
                                                          const absl::Status& status);

  void OnWriteDone(bool ok) override ABSL_LOCKS_EXCLUDED(mutex_);
  void OnCancel() override ABSL_LOCKS_EXCLUDED(mutex_);
  void OnDone() override;

 private:
  ExportStream(core::DurableLedger& ledger, core::Tenant tenant, std::string budget_id,
               int64_t after_sequence);
  // Takes the next step that is possible now.
  void Advance() ABSL_LOCKS_EXCLUDED(mutex_);
  void TakePage(absl::StatusOr<core::LedgerReader*> reader) ABSL_LOCKS_EXCLUDED(mutex_);
  absl::Status ReadPage(core::LedgerReader& reader) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  core::DurableLedger& ledger_;
  const core::Tenant tenant_;
  const std::string budget_id_;
  std::shared_ptr<ExportStream> self_;  // until gRPC is done with it

  absl::Mutex mutex_;
  int64_t after_sequence_ ABSL_GUARDED_BY(mutex_);
  std::optional<int64_t> last_sequence_ ABSL_GUARDED_BY(mutex_);
  std::deque<v1::AuditEntry> page_ ABSL_GUARDED_BY(mutex_);
  grpc::ByteBuffer written_ ABSL_GUARDED_BY(mutex_);
  bool writing_ ABSL_GUARDED_BY(mutex_) = false;
  bool reading_ ABSL_GUARDED_BY(mutex_) = false;
  bool finished_ ABSL_GUARDED_BY(mutex_) = false;
  absl::Status failure_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace epsledger::transport

#endif  // EPSLEDGER_SERVER_TRANSPORT_GRPC_CALLS_EXPORT_STREAM_H_
