#ifndef EPSLEDGER_SERVER_TRANSPORT_WIRE_CONNECTION_H_
#define EPSLEDGER_SERVER_TRANSPORT_WIRE_CONNECTION_H_

#include <nghttp2/nghttp2.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/functional/any_invocable.h"
#include "absl/functional/function_ref.h"
#include "absl/synchronization/mutex.h"
#include "boost/asio/generic/stream_protocol.hpp"
#include "boost/asio/io_context.hpp"
#include "server/transport/wire/call_headers.h"
#include "server/transport/wire/idle_reset_filter.h"
#include "server/transport/wire/limits.h"
#include "server/transport/wire/message_reader.h"
#include "server/transport/wire/services.h"
#include "server/transport/wire/tls_session.h"

namespace epsledger::transport::wire {

// The shared state of the connections of one server.
struct Shared {
  Services services;
  // Calls that are being handed to the services. Once `draining` is true, it soon stops rising.
  std::atomic<int64_t> starting{0};
  std::atomic<bool> draining{false};
  // Calls that the services have not ended.
  std::atomic<int64_t> calls{0};
  // Calls of methods that are open to strangers, that the services have not ended.
  std::atomic<size_t> open_method_calls{0};
  std::atomic<size_t> unfinished_bytes{0};
  std::atomic<size_t> untaken_bytes{0};
};

// One HTTP/2 connection of a client, and the calls on it.
//
// A call goes to the services once its request is complete, a stream once its headers are. The
// server takes an incomplete request only from a caller who may call the method: a stranger is
// answered from the headers alone. Every number that a client controls has its bound in limits.h.
//
// Invariants: the mutex guards all state of the session; no function of the services is called
// under it; every started call is ended or cancelled. Thread-safe. The operations that wait for the
// socket and the calls keep the connection alive.
class Connection : public std::enable_shared_from_this<Connection> {
 public:
  using Socket = boost::asio::generic::stream_protocol::socket;

  using Context = boost::asio::io_context;

  // `other_end`: without the facts that TLS adds. `tls`: nullptr for plaintext. `on_close` is
  // called once, when the socket is closed. The connection begins on the thread of `home`. When its
  // first call was admitted it moves once, to the thread of the context that `next_home` returns.
  // REQUIRES: both contexts outlive the connection and its calls; the socket belongs to `home`.
  Connection(std::shared_ptr<Shared> shared, Context& home, std::function<Context&()> next_home,
             Socket socket, Peer other_end, std::unique_ptr<TlsSession> tls,
             std::function<void()> on_close);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  void Start() ABSL_LOCKS_EXCLUDED(mutex_);
  // Checks everything that has a time limit. Must be called every kHousekeepingInterval.
  void KeepHouse(Clock::time_point now) ABSL_LOCKS_EXCLUDED(mutex_);
  // Begins the end of the connection when the server stops: takes no more calls, ends those that
  // nothing else ends (health, reflection), and closes once the others are answered.
  void GoAway() ABSL_LOCKS_EXCLUDED(mutex_);
  void Close() ABSL_LOCKS_EXCLUDED(mutex_);

  // Returns true if none of its calls was admitted yet.
  bool IsStranger() const { return !known_; }
  // Returns true once the client has sent what only a gRPC client sends: over TLS, a whole
  // handshake.
  bool HasSpoken() const { return has_spoken_; }

 private:
  struct Stream {
    CallHeaders headers;
    Clock::time_point arrival;
    const Method* method = nullptr;
    bool counts_as_open = false;  // in open_method_streams_
    std::optional<MessageReader> reader;
    bool headers_done = false;
    bool half_closed = false;  // by the client
    bool decided = false;      // its handling is decided, by its headers
    bool asking = false;       // asking whether its caller may call
    bool admitted = false;     // its request is taken, whatever its length
    bool started = false;
    bool ended = false;
    bool waiting = false;  // for room for its answer
    bool is_reset = false;
    Clock::time_point progress_time;  // of the end, or when the client took something after it
    std::shared_ptr<StreamedCall> call;
    // Requests that are not passed on yet.
    std::deque<std::string> requests;
    size_t request_bytes = 0;                        // of these
    size_t request_count = 0;                        // of all received
    std::optional<Clock::time_point> message_begun;  // and is incomplete
    bool wants_request = false;                      // the call wants it
    bool wants_waking = false;                       // the call wants it
    size_t unconsumed_bytes = 0;
    size_t unfinished_bytes = 0;  // as counted in Shared
    size_t expected_bytes = 0;    // of the answer, as counted in Shared
    // The answer for the client.
    bool headers_sent = false;
    std::string answer;
    size_t answer_sent = 0;
    bool owes_room = false;  // for the next answer, and the call waits for it
    Headers trailers;
  };
  // Actions to run once the mutex is free.
  using Actions = std::vector<absl::AnyInvocable<void()>>;
  class Answer;
  class StreamAnswers;

  // Callbacks of nghttp2, all called within its functions and so under the mutex.
  static nghttp2_session* NewSession(Connection* self);
  static int OnBeginHeaders(nghttp2_session*, const nghttp2_frame* frame, void* self);
  static int OnHeader(nghttp2_session*, const nghttp2_frame* frame, const uint8_t* name,
                      size_t name_bytes, const uint8_t* value, size_t value_bytes, uint8_t flags,
                      void* self);
  static int OnFrame(nghttp2_session*, const nghttp2_frame* frame, void* self);
  static int OnData(nghttp2_session*, uint8_t flags, int32_t id, const uint8_t* data, size_t bytes,
                    void* self);
  static int OnStreamClose(nghttp2_session*, int32_t id, uint32_t error, void* self);
  static int OnFrameSent(nghttp2_session*, const nghttp2_frame* frame, void* self);
  static ssize_t OnAnswerWanted(nghttp2_session*, int32_t id, uint8_t* buffer, size_t bytes,
                                uint32_t* flags, nghttp2_data_source*, void* self);

  void WaitForBytes() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool IsPaused() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Continues reading when the pause is over.
  void WaitForEndOfPause() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Does the next step for each stream that received something, until the client is paused.
  void AdvanceStirred() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void OnReadable() ABSL_LOCKS_EXCLUDED(mutex_);
  // Returns false once the connection is over.
  bool ReadSome() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool Feed(std::string_view bytes) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Sends ready bytes as far as the socket takes them.
  void Flush() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Moves to the threads for known clients. REQUIRES: nothing waits for the socket.
  void Move() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool FillReady() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void CloseLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void GoAwayLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Ends every use of the mutex: sends, frees the mutex, and runs the actions.
  void Leave() ABSL_UNLOCK_FUNCTION(mutex_);
  // Does the same, but leaves the sending to the connection's thread, together with what others add
  // until then.
  void LeaveForMore() ABSL_UNLOCK_FUNCTION(mutex_);
  void PostTurn() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void TakeTurn() ABSL_LOCKS_EXCLUDED(mutex_);
  void WakeCalls() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Frees the mutex, runs the actions and locks it again. Does not send their answers.
  void Gather() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  Stream* Find(int32_t id) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Does the next step for a stream that received something.
  void Advance(int32_t id) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Answers a stream that can never be a call, from its headers alone.
  void Decide(int32_t id, Stream& stream) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  CallOrigin OriginOf(int32_t id, const Stream& stream) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void AskWhetherAdmitted(int32_t id, Stream& stream) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void StartCall(int32_t id, Stream& stream) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void StartStream(int32_t id, Stream& stream) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Takes the oldest request that is not passed on yet.
  std::string TakeRequest(Stream& stream) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Passes the next request to the call, and room for its next answer, if it is time for them.
  void PassOn(int32_t id, Stream& stream) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void MakeRoom(Stream& stream) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Consume(int32_t id, Stream& stream) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void CountUnfinished(Stream& stream) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Returns whether another answer of this size may be made for the client.
  bool HasRoomFor(size_t answer_bytes) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Expect(Stream& stream, size_t answer_bytes) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Starts calls that waited for room, while there is room.
  void StartWaiting() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void CountReset() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  std::optional<Clock::time_point> DeadlineOf(const Stream& stream) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  // The answer: headers before the first message, then messages, then the end.
  void SubmitAnswer(int32_t id, Stream& stream) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void AddMessage(int32_t id, Stream& stream, const std::string& message)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void End(int32_t id, Stream& stream, const grpc::Status& status)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void EndAsHttp(int32_t id, Stream& stream, int http_status) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Releases everything held for the stream. The stream is gone afterwards.
  void Forget(int32_t id) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void KeepHouseOfStreams(Clock::time_point now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  // Hands a call over, unless the server stops.
  void HandOver(int32_t id, absl::FunctionRef<void()> start) ABSL_LOCKS_EXCLUDED(mutex_);
  bool IsGone(int32_t id) ABSL_LOCKS_EXCLUDED(mutex_);
  void OnAdmitted(int32_t id, const grpc::Status& status) ABSL_LOCKS_EXCLUDED(mutex_);
  void OnStarted(int32_t id, std::shared_ptr<StreamedCall> call) ABSL_LOCKS_EXCLUDED(mutex_);
  void OnAsked(int32_t id) ABSL_LOCKS_EXCLUDED(mutex_);
  void OnAnswer(int32_t id, const std::string& message, bool more_follow)
      ABSL_LOCKS_EXCLUDED(mutex_);
  void OnWake(int32_t id) ABSL_LOCKS_EXCLUDED(mutex_);
  void OnSlowDown(Clock::duration pause) ABSL_LOCKS_EXCLUDED(mutex_);
  // `message`: the answer of a call without streams that succeeded, or nullptr.
  void OnEnd(int32_t id, const grpc::Status& status, const std::string* message)
      ABSL_LOCKS_EXCLUDED(mutex_);

  const std::shared_ptr<Shared> shared_;
  const std::function<Context&()> next_home_;
  const Clock::time_point arrival_ = Clock::now();
  const Clock::duration age_;
  std::atomic<bool> known_{false};
  std::atomic<bool> is_closed_{false};
  std::atomic<bool> has_spoken_{false};

  absl::Mutex mutex_;
  Context* home_ ABSL_GUARDED_BY(mutex_);
  bool has_moved_ ABSL_GUARDED_BY(mutex_) = false;
  Socket socket_ ABSL_GUARDED_BY(mutex_);
  const std::unique_ptr<TlsSession> tls_ ABSL_PT_GUARDED_BY(mutex_);
  std::function<void()> on_close_ ABSL_GUARDED_BY(mutex_);
  const Peer other_end_;
  // Nullptr until the handshake is over.
  std::shared_ptr<const Peer> peer_ ABSL_GUARDED_BY(mutex_);
  IdleResetFilter filter_ ABSL_GUARDED_BY(mutex_);
  nghttp2_session* const session_ ABSL_PT_GUARDED_BY(mutex_);
  std::unordered_map<int32_t, std::unique_ptr<Stream>> streams_ ABSL_GUARDED_BY(mutex_);
  // Streams that received something since their last step.
  std::vector<int32_t> stirred_ ABSL_GUARDED_BY(mutex_);
  Actions actions_ ABSL_GUARDED_BY(mutex_);
  // Bytes for the socket.
  std::string ready_ ABSL_GUARDED_BY(mutex_);
  size_t ready_sent_ ABSL_GUARDED_BY(mutex_) = 0;
  bool waits_to_write_ ABSL_GUARDED_BY(mutex_) = false;
  // A turn of the connection's thread is coming.
  bool turn_posted_ ABSL_GUARDED_BY(mutex_) = false;
  // Calls that want to be woken in that turn.
  std::vector<int32_t> to_wake_ ABSL_GUARDED_BY(mutex_);
  // The number of threads that are handing things to calls and will then send the answers.
  int gathering_ ABSL_GUARDED_BY(mutex_) = 0;
  bool settings_read_ ABSL_GUARDED_BY(mutex_) = false;  // the client's acknowledgement came
  bool going_away_ ABSL_GUARDED_BY(mutex_) = false;
  // Ends because of an error of the client: sends what is ready, and nothing more.
  bool broken_ ABSL_GUARDED_BY(mutex_) = false;
  Clock::time_point go_away_time_ ABSL_GUARDED_BY(mutex_);
  // Everything is sent, and the connection waits for the client to close its end.
  std::optional<Clock::time_point> finish_time_ ABSL_GUARDED_BY(mutex_);
  Clock::time_point read_time_ ABSL_GUARDED_BY(mutex_) = Clock::now();
  Clock::time_point write_time_ ABSL_GUARDED_BY(mutex_) = Clock::now();
  std::optional<Clock::time_point> ping_time_ ABSL_GUARDED_BY(mutex_);
  size_t unfinished_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  size_t open_method_streams_ ABSL_GUARDED_BY(mutex_) = 0;
  size_t received_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  size_t untaken_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  size_t expected_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  std::deque<int32_t> waiting_ ABSL_GUARDED_BY(mutex_);  // streams, in their order
  // Calls that the services have not ended, including those of streams that are gone.
  size_t calls_ ABSL_GUARDED_BY(mutex_) = 0;
  // Streams that failed because of the client: a bucket that empties with time.
  double resets_ ABSL_GUARDED_BY(mutex_) = 0;
  Clock::time_point resets_time_ ABSL_GUARDED_BY(mutex_) = Clock::now();
  // Nothing is read before this time.
  Clock::time_point paused_until_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace epsledger::transport::wire

#endif  // EPSLEDGER_SERVER_TRANSPORT_WIRE_CONNECTION_H_
