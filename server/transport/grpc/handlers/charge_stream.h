#ifndef EPSLEDGER_SERVER_TRANSPORT_GRPC_HANDLERS_CHARGE_STREAM_H_
#define EPSLEDGER_SERVER_TRANSPORT_GRPC_HANDLERS_CHARGE_STREAM_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>

#include "absl/base/thread_annotations.h"
#include "epsledger/v1/charge_service.pb.h"
#include "grpcpp/server_context.h"
#include "grpcpp/support/byte_buffer.h"
#include "grpcpp/support/server_callback.h"
#include "server/core/durable_ledger.h"
#include "server/transport/grpc/calls/steady_time.h"
#include "server/transport/grpc/calls/stream_call.h"
#include "server/transport/grpc/handlers/handler_context.h"

namespace epsledger::transport {

// StreamCharges: requests go to the ledger as they arrive, many at a time, and results come back in
// the order of the requests.
//
// Invariants: a result is written only after its outcome is durable; at most kMaxStreamWindow
// requests, and little more than kMaxStreamWindowBytes, are open, and nothing is read while they
// are. A request that is invalid or refused ends nothing. A half-closed stream ends OK when its
// last result is written. Thread-safe.
class ChargeStream final
    : public StreamCall<grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>> {
 public:
  // The reactor to give to gRPC.
  static grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>* Start(
      const HandlerContext& context, grpc::CallbackServerContext* call);

  void Drain() override ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  struct OpenRequest {
    SteadyTime arrival_time;
    size_t bytes = 0;
    bool answered = false;
    grpc::ByteBuffer result;
  };

  ChargeStream(const HandlerContext& context, grpc::CallbackServerContext* call);

  void OnReadDone(bool ok) override ABSL_LOCKS_EXCLUDED(mutex_);
  void Continue() override ABSL_LOCKS_EXCLUDED(mutex_);
  // Reads a request that has just arrived, and gives it to the ledger.
  void Submit(const grpc::ByteBuffer& bytes, int64_t number) ABSL_LOCKS_EXCLUDED(mutex_);
  void Answer(int64_t number, const v1::ChargeResult& result) ABSL_LOCKS_EXCLUDED(mutex_);
  void ReadIfThereIsRoom() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  core::DurableLedger& ledger_;
  const std::shared_ptr<const HeadKey> head_key_;
  grpc::ByteBuffer request_ ABSL_GUARDED_BY(mutex_);  // gRPC's while reading_
  bool reading_ ABSL_GUARDED_BY(mutex_) = false;
  bool half_closed_ ABSL_GUARDED_BY(mutex_) = false;
  bool draining_ ABSL_GUARDED_BY(mutex_) = false;
  std::deque<OpenRequest> open_ ABSL_GUARDED_BY(mutex_);
  size_t open_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t first_number_ ABSL_GUARDED_BY(mutex_) = 0;  // of open_
};

}  // namespace epsledger::transport

#endif  // EPSLEDGER_SERVER_TRANSPORT_GRPC_HANDLERS_CHARGE_STREAM_H_
