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
// Invariants: one answer at a time is on its way; the client gets exactly one end, the first that
// anything tries, and nothing after it. Others may hold the stream for any time: an answer of the
// ledger may come long after the end. A client that takes no answer for kMaxWriteDuration gets
// SLOW_READER.
//
// The caller is admitted before anything is read, and again every kReadmissionInterval, so that
// expiry and revocation end the stream soon.
//
// Thread-safe. The client's functions are called in the intended order, under no mutex, by the
// first thread that leaves the mutex.
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
  // `method` is the full name, in static storage. Takes what it needs from `request`.
  StreamCall(std::shared_ptr<OpenCalls> open_streams, wire::StreamRequest& request,
             std::string_view method);
  // Sets the resource of the call, for the access log.
  void set_resource(std::string resource) ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    resource_ = std::move(resource);
  }

  // True if there is an access log.
  bool IsRecorded() const { return open_streams_->access_log() != nullptr; }
  // Writes a line of the access log for one request of the stream, which arrived then.
  void RecordRequest(std::string resource, SteadyTime arrived, const grpc::Status& status) const;

  // Admits the caller. Returns an error, with which the stream must end, if the caller is not
  // admitted (Admission); UNAVAILABLE if too many streams are open, or if it is a stream of stored
  // data and the tenant reads too fast.
  absl::Status Open() ABSL_LOCKS_EXCLUDED(mutex_);

  // Returns the caller, if they still may call.
  absl::StatusOr<access::Caller> Admit() const;
  // REQUIRES: Open returned OK.
  const access::Caller& caller() const { return caller_; }
  const core::Tenant& tenant() const { return caller_.tenant; }
  // For streams of stored data. While the tenant may not read, Continue is called again from time
  // to time.
  bool MayRead() const { return open_streams_->read_rate().MayRead(tenant()); }
  void CountRead(size_t bytes) const { open_streams_->read_rate().Count(tenant(), bytes); }
  // Returns true once the client got its end: nobody waits for an answer any more.
  bool Abandoned() ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    return ended_;
  }

  // Does the next step, if there is one. Called after every taken answer, and from time to time.
  virtual void Continue() ABSL_LOCKS_EXCLUDED(mutex_) = 0;

  // Holds the mutex. Everything given to the client meanwhile reaches it when the mutex is free
  // again.
  class ABSL_SCOPED_LOCKABLE Turn : StreamTurn {
   public:
    explicit Turn(StreamCall& call)
        ABSL_EXCLUSIVE_LOCK_FUNCTION(call.mutex_) ABSL_NO_THREAD_SAFETY_ANALYSIS
        : StreamTurn(call.mutex_, call.outbox_) {}
    ~Turn() ABSL_UNLOCK_FUNCTION() {}
  };

  // REQUIRES, for all four: within a Turn. `more_follow`: other answers follow soon, and this one
  // may be sent with them.
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
