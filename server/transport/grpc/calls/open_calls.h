#ifndef EPSLEDGER_SERVER_TRANSPORT_GRPC_CALLS_OPEN_CALLS_H_
#define EPSLEDGER_SERVER_TRANSPORT_GRPC_CALLS_OPEN_CALLS_H_

#include <cstddef>
#include <limits>
#include <list>
#include <memory>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "grpcpp/support/status.h"
#include "server/transport/grpc/calls/admission.h"

namespace epsledger::transport {

// A call of a client, unary or a stream, that gRPC keeps until it is ended. Thread-safe.
class OpenCall {
 public:
  virtual ~OpenCall() = default;

  // Ends it with `status`, unless it has ended already.
  virtual void Fail(const grpc::Status& status) = 0;
  // The server stops: ends it as soon as nothing of it is open that it could still answer.
  virtual void Drain() {}
  // Called every kHousekeepingInterval.
  virtual void KeepHouse(absl::Time /*now*/) {}

  absl::Time arrival_time() const { return arrival_time_; }

 private:
  friend class OpenCalls;

  const absl::Time arrival_time_ = absl::Now();
  std::list<std::weak_ptr<OpenCall>>::iterator position_;  // of its list, under that one's mutex
};

// The calls that are open, oldest first. Thread-safe.
//
// gRPC keeps a call and everything around it until it is ended, also when its client has gone: a
// stop of the server would wait for ever for a call that nobody ends.
class OpenCalls {
 public:
  // REQUIRES: `admission`, through which calls come in, outlives all that do.
  explicit OpenCalls(const Admission& admission, size_t limit = std::numeric_limits<size_t>::max())
      : admission_(admission), limit_(limit) {}
  OpenCalls(const OpenCalls&) = delete;
  OpenCalls& operator=(const OpenCalls&) = delete;

  // False, and nothing is added, if there are as many as the limit allows.
  bool Add(const std::shared_ptr<OpenCall>& call) ABSL_LOCKS_EXCLUDED(mutex_);
  // REQUIRES: it was added and is not removed yet.
  void Remove(OpenCall& call) ABSL_LOCKS_EXCLUDED(mutex_);

  // Ends every call that arrived before `time` with `status`.
  void FailArrivedBefore(absl::Time time, const grpc::Status& status) ABSL_LOCKS_EXCLUDED(mutex_);
  void Drain() ABSL_LOCKS_EXCLUDED(mutex_);
  void KeepHouse(absl::Time now) ABSL_LOCKS_EXCLUDED(mutex_);

  const Admission& admission() const { return admission_; }

 private:
  std::vector<std::shared_ptr<OpenCall>> ArrivedBefore(absl::Time time) ABSL_LOCKS_EXCLUDED(mutex_);

  const Admission& admission_;
  const size_t limit_;
  absl::Mutex mutex_;
  std::list<std::weak_ptr<OpenCall>> calls_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace epsledger::transport

#endif  // EPSLEDGER_SERVER_TRANSPORT_GRPC_CALLS_OPEN_CALLS_H_
