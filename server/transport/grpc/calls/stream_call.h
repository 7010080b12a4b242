#ifndef EPSLEDGER_SERVER_TRANSPORT_GRPC_CALLS_STREAM_CALL_H_
#define EPSLEDGER_SERVER_TRANSPORT_GRPC_CALLS_STREAM_CALL_H_

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "grpcpp/support/status.h"
#include "server/access/caller.h"
#include "server/metrics/rpc_metrics.h"
#include "server/transport/grpc/calls/open_calls.h"
#include "server/transport/grpc/calls/steady_time.h"
#include "server/transport/grpc/calls/stream_outbox.h"
#include "server/transport/wire/services.h"

namespace epsledger::transport {

// One stream from its arrival to its one end.
//
// Invariants: one answer at a time is on its way; the client is given exactly one end, the first of
// whatever is tried, and nothing after it. Others hold the stream as long as they like: an answer
// of the ledger may come long after the end. A client that takes no answer for kMaxWriteDuration is
// told SLOW_READER.
//
// The caller is admitted before anything is read, and again every kReadmissionInterval: what
// expires or is revoked ends soon.
//
// Thread-safe. The client's functions are called in the order in which they were meant, under no
// mutex, by whoever leaves the mutex first.
class StreamCall : public OpenCall,
                   public wire::StreamedCall,
                   public std::enable_shared_from_this<StreamCall> {
 public:
  StreamCall(const StreamCall&) = delete;
  StreamCall& operator=(const StreamCall&) = delete;

  void Fail(const grpc::Status& status) final ABSL_LOCKS_EXCLUDED(mutex_);
  void KeepHouse(SteadyTime now) final ABSL_LOCKS_EXCLUDED(mutex_);

  void OnRequest(std::string) override {}
  void OnNoMoreRequests() override {}
  void OnAnswerTaken() final ABSL_LOCKS_EXCLUDED(mutex_);
  void OnGone() final ABSL_LOCKS_EXCLUDED(mutex_);

 protected:
  // `method` is the full name, of static storage. Takes what it needs of `request`.
  StreamCall(std::shared_ptr<OpenCalls> open_streams, wire::StreamRequest& request,
             std::string_view method);
  // What it is about, for the access log.
  void set_resource(std::string resource) ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    resource_ = std::move(resource);
  }

  // An error, with which the stream ends, if the caller is not admitted (Admission), or UNAVAILABLE
  // if too many streams are open, or if it tells what is stored and the tenant reads too fast.
  absl::Status Open() ABSL_LOCKS_EXCLUDED(mutex_);

  // Who calls, if they still may.
  absl::StatusOr<access::Caller> Admit() const;
  // REQUIRES: Open was OK.
  const access::Caller& caller() const { return caller_; }
  const core::Tenant& tenant() const { return caller_.tenant; }
  // For streams of what is stored. While the tenant may not read, Continue is called again at
  // times.
  bool MayRead() const { return open_streams_->read_rate().MayRead(tenant()); }
  void CountRead(size_t bytes) const { open_streams_->read_rate().Count(tenant(), bytes); }
  // True once the client is given its end: nobody waits for an answer any more.
  bool Abandoned() ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    return ended_;
  }

  // Does the next thing there is to do, if any: called after every answer that was taken, and at
  // times.
  virtual void Continue() ABSL_LOCKS_EXCLUDED(mutex_) = 0;

  // Holds the mutex. What the client was given meanwhile reaches it when the mutex is free again.
  class ABSL_SCOPED_LOCKABLE Turn : StreamTurn {
   public:
    explicit Turn(StreamCall& call)
        ABSL_EXCLUSIVE_LOCK_FUNCTION(call.mutex_) ABSL_NO_THREAD_SAFETY_ANALYSIS
        : StreamTurn(call.mutex_, call.outbox_) {}
    ~Turn() ABSL_UNLOCK_FUNCTION() {}
  };

  // REQUIRES, of all four: within a Turn. `more_follow`: other answers follow soon, with which
  // this one may be sent.
  void Write(std::string message, bool more_follow = false) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Wake() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void AskForRequest() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void End(const grpc::Status& status) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  absl::Mutex mutex_;
  bool ended_ ABSL_GUARDED_BY(mutex_) = false;
  bool writing_ ABSL_GUARDED_BY(mutex_) = false;

 private:
  const std::shared_ptr<OpenCalls> open_streams_;
  const std::string_view method_;
  const wire::CallOrigin origin_;
  const SteadyTime deadline_;
  metrics::RpcMetrics::Call measured_ ABSL_GUARDED_BY(mutex_);
  access::Caller caller_;  // of Open, before anything else
  bool is_admitted_ = false;
  std::string resource_ ABSL_GUARDED_BY(mutex_);
  SteadyTime write_time_ ABSL_GUARDED_BY(mutex_);
  SteadyTime admission_time_ ABSL_GUARDED_BY(mutex_);
  StreamOutbox outbox_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace epsledger::transport

#endif  // EPSLEDGER_SERVER_TRANSPORT_GRPC_CALLS_STREAM_CALL_H_
