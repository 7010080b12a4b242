#ifndef EPSLEDGER_SERVER_TRANSPORT_GRPC_CALLS_STREAM_OUTBOX_H_
#define EPSLEDGER_SERVER_TRANSPORT_GRPC_CALLS_STREAM_OUTBOX_H_

#include <chrono>
#include <deque>
#include <memory>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/functional/any_invocable.h"
#include "absl/synchronization/mutex.h"
#include "grpcpp/support/status.h"
#include "server/transport/wire/services.h"

namespace epsledger::transport {

// What the client of a stream has yet to receive. A stream fills it under its mutex; the client's
// functions are called in that order, under no mutex, by one thread at a time. The client gets
// nothing after the end. The mutex of the stream guards everything here.
class StreamOutbox {
 public:
  explicit StreamOutbox(std::unique_ptr<wire::StreamClient> client) : client_(std::move(client)) {}
  StreamOutbox(const StreamOutbox&) = delete;
  StreamOutbox& operator=(const StreamOutbox&) = delete;

  // As in wire::StreamClient.
  void AskForRequest() {
    if (!ended_) steps_.emplace_back([](auto& client) { client->AskForRequest(); });
  }
  void Answer(std::string message, bool more_follow = false) {
    if (ended_) return;
    steps_.emplace_back([message = std::move(message), more_follow](auto& client) mutable {
      client->Answer(std::move(message), more_follow);
    });
  }
  void Wake() {
    if (!ended_) steps_.emplace_back([](auto& client) { client->Wake(); });
  }
  void SlowDown(std::chrono::nanoseconds pause) {
    if (!ended_) steps_.emplace_back([pause](auto& client) { client->SlowDown(pause); });
  }
  // Only the first end counts. Everything in the box reaches the client before it.
  void End(const grpc::Status& status) {
    if (std::exchange(ended_, true)) return;
    steps_.emplace_back([status](auto& client) {
      client->End(status);
      client.reset();
    });
  }
  bool ended() const { return ended_; }

  // Gives the client everything in the box, unless another thread is doing so, and frees `mutex`.
  // REQUIRES: the caller keeps the stream alive; `mutex` is the stream's.
  void Leave(absl::Mutex& mutex) ABSL_UNLOCK_FUNCTION(mutex) ABSL_NO_THREAD_SAFETY_ANALYSIS {
    if (!delivering_) {
      delivering_ = true;
      while (!steps_.empty()) {
        Step step = std::move(steps_.front());
        steps_.pop_front();
        mutex.Unlock();
        step(client_);
        mutex.Lock();
      }
      delivering_ = false;
    }
    mutex.Unlock();
  }

 private:
  using Step = absl::AnyInvocable<void(std::unique_ptr<wire::StreamClient>&)>;

  std::deque<Step> steps_;
  bool ended_ = false;
  bool delivering_ = false;
  std::unique_ptr<wire::StreamClient> client_;  // of the deliverer; nullptr after the end
};

// Holds the mutex of a stream, and its outbox, while something is done to the stream.
class ABSL_SCOPED_LOCKABLE StreamTurn {
 public:
  StreamTurn(absl::Mutex& mutex, StreamOutbox& outbox) ABSL_EXCLUSIVE_LOCK_FUNCTION(mutex)
      : mutex_(mutex), outbox_(outbox) {
    mutex_.Lock();
  }
  ~StreamTurn() ABSL_UNLOCK_FUNCTION() ABSL_NO_THREAD_SAFETY_ANALYSIS { outbox_.Leave(mutex_); }
  StreamTurn(const StreamTurn&) = delete;
  StreamTurn& operator=(const StreamTurn&) = delete;

 private:
  absl::Mutex& mutex_;
  StreamOutbox& outbox_;
};

}  // namespace epsledger::transport

#endif  // EPSLEDGER_SERVER_TRANSPORT_GRPC_CALLS_STREAM_OUTBOX_H_
