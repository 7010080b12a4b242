#ifndef EPSLEDGER_SERVER_TRANSPORT_GRPC_CALLS_STREAM_CALL_H_
#define EPSLEDGER_SERVER_TRANSPORT_GRPC_CALLS_STREAM_CALL_H_

#include <memory>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "grpcpp/server_context.h"
#include "grpcpp/support/byte_buffer.h"
#include "grpcpp/support/server_callback.h"
#include "grpcpp/support/status.h"
#include "server/access/caller.h"
#include "server/transport/grpc/calls/open_calls.h"
#include "server/transport/grpc/calls/steady_time.h"
#include "server/transport/grpc/limits.h"
#include "server/transport/grpc/status/status_mapping.h"

namespace epsledger::transport {

// One stream from its arrival to its one end. `Reactor` is ServerWriteReactor or ServerBidiReactor
// of bytes.
//
// Invariants: one write is with gRPC at a time; gRPC is given exactly one end, the first of
// whatever is tried; nothing is started after it. gRPC holds the stream until OnDone, others as
// long as they like: an answer of the ledger may come long after the end. A client that takes no
// message for kMaxWriteDuration is told SLOW_READER; one that does not take that either, for as
// long again, is cut off.
//
// The caller is admitted before anything is read, and again every kReadmissionInterval: what
// expires or is revoked ends soon.
//
// Thread-safe. gRPC's functions are called under the mutex: none of them calls back on the same
// thread before it returns.
template <class Reactor>
class StreamCall : public Reactor,
                   public OpenCall,
                   public std::enable_shared_from_this<StreamCall<Reactor>> {
 public:
  void Fail(const grpc::Status& status) final ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    End(status);
  }

  void KeepHouse(SteadyTime now) final ABSL_LOCKS_EXCLUDED(mutex_) {
    {
      absl::MutexLock lock(&mutex_);
      if (done_) return;
      if (ended_) {
        // The context lives until OnDone.
        if (now - end_time_ > kMaxWriteDuration) context_.TryCancel();
        return;
      }
      if (writing_ && now - write_time_ > kMaxWriteDuration) return End(SlowReader());
      if (now - admission_time_ > kReadmissionInterval) {
        admission_time_ = now;
        const absl::StatusOr<access::Caller> caller = Admit();
        if (!caller.ok()) return End(ToGrpcStatus(caller.status()));
      }
    }
    Continue();
  }

 protected:
  using Bytes = grpc::ByteBuffer;

  // `method` is the full name. REQUIRES: `context` is that of the call, which lives until OnDone.
  StreamCall(std::shared_ptr<OpenCalls> open_streams, grpc::CallbackServerContext* context,
             std::string method)
      : open_streams_(std::move(open_streams)),
        context_(*context),
        method_(std::move(method)),
        measured_(open_streams_->metrics(), method_) {}

  // Puts the stream into gRPC's hands: from then on its callbacks come. An error, with which the
  // stream ends, if the caller is not admitted (Admission), or UNAVAILABLE if too many are open.
  absl::Status Open() ABSL_LOCKS_EXCLUDED(mutex_) {
    const bool added = open_streams_->Add(this->shared_from_this());
    absl::MutexLock lock(&mutex_);
    self_ = this->shared_from_this();
    absl::StatusOr<access::Caller> caller = Admit();
    absl::Status status = caller.status();
    if (status.ok() && !added) status = TooManyStreams();
    if (status.ok()) {
      caller_ = *std::move(caller);
      admission_time_ = SteadyNow();
      if (!open_streams_->Claim(*this, caller_.tenant)) status = TooManyStreamsOfTenant();
    }
    if (!status.ok()) {
      End(ToGrpcStatus(status));
    }
    return status;
  }

  // Who calls, if they still may. REQUIRES: called by gRPC, or before OnDone.
  absl::StatusOr<access::Caller> Admit() const {
    return open_streams_->admission().Admit(context_, method_);
  }
  // REQUIRES: Open was OK.
  const core::Tenant& tenant() const { return caller_.tenant; }

  // Does the next thing there is to do, if any: called after every write, and at times.
  virtual void Continue() ABSL_LOCKS_EXCLUDED(mutex_) = 0;

  // `more_follows`: the next message will be written at once, so that this one need not be sent
  // before. REQUIRES: !ended_ && !writing_.
  void Write(Bytes message, bool more_follows = false) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    message_ = std::move(message);
    writing_ = true;
    write_time_ = SteadyNow();
    grpc::WriteOptions options;
    // Never on the first message: gRPC would keep headers and message back and never say that they
    // are written.
    if (more_follows && has_written_) options.set_buffer_hint();
    this->StartWrite(&message_, options);
  }

  void End(const grpc::Status& status) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (ended_) return;
    ended_ = true;
    end_time_ = SteadyNow();
    measured_.End(static_cast<absl::StatusCode>(status.error_code()), ReasonOf(status));
    this->Finish(status);
  }

  void OnWriteDone(bool ok) final ABSL_LOCKS_EXCLUDED(mutex_) {
    {
      absl::MutexLock lock(&mutex_);
      writing_ = false;
      has_written_ = true;
      message_.Clear();
      if (!ok) End(ClientGone());
      if (ended_) return;
    }
    Continue();
  }

  void OnCancel() final ABSL_LOCKS_EXCLUDED(mutex_) { Fail(ClientGone()); }

  void OnDone() final ABSL_LOCKS_EXCLUDED(mutex_) {
    std::shared_ptr<OpenCall> self;  // let go of last
    {
      absl::MutexLock lock(&mutex_);
      done_ = true;
      self = std::move(self_);
    }
    open_streams_->Remove(*this);
  }

  absl::Mutex mutex_;
  bool ended_ ABSL_GUARDED_BY(mutex_) = false;
  bool writing_ ABSL_GUARDED_BY(mutex_) = false;

 private:
  const std::shared_ptr<OpenCalls> open_streams_;
  grpc::CallbackServerContext& context_;
  const std::string method_;
  metrics::RpcMetrics::Call measured_ ABSL_GUARDED_BY(mutex_);
  access::Caller caller_;  // of Open; before any callback of gRPC
  bool done_ ABSL_GUARDED_BY(mutex_) = false;
  bool has_written_ ABSL_GUARDED_BY(mutex_) = false;
  Bytes message_ ABSL_GUARDED_BY(mutex_);  // gRPC's while writing_
  SteadyTime write_time_ ABSL_GUARDED_BY(mutex_);
  SteadyTime admission_time_ ABSL_GUARDED_BY(mutex_);
  SteadyTime end_time_ ABSL_GUARDED_BY(mutex_);
  std::shared_ptr<OpenCall> self_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace epsledger::transport

#endif  // EPSLEDGER_SERVER_TRANSPORT_GRPC_CALLS_STREAM_CALL_H_
