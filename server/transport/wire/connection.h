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

// What the connections of one server share.
struct Shared {
  Services services;
  // Calls that are being handed to the services. Once draining is true, it rises no more for long.
  std::atomic<int64_t> starting{0};
  std::atomic<bool> draining{false};
  // Calls that the services have not ended.
  std::atomic<int64_t> calls{0};
  // Calls of methods that are open to strangers, until the services have ended them.
  std::atomic<size_t> open_method_calls{0};
  std::atomic<size_t> unfinished_bytes{0};
  std::atomic<size_t> untaken_bytes{0};
};

// One HTTP/2 connection of a client, and the calls on it.
//
// A call goes to the services once its request is whole, a stream once its headers are. Before a
// request that is not whole is taken, its caller must be one that may call the method: a stranger
// is answered by the headers alone. Every number of a client's making has its bound in limits.h.
//
// Invariants: all of the session's state is under the mutex; no function of the services is called
// under it; every call that was started is ended or cancelled. Thread-safe. Kept alive by what
// waits for its socket and by its calls.
class Connection : public std::enable_shared_from_this<Connection> {
 public:
  using Socket = boost::asio::generic::stream_protocol::socket;

  using Context = boost::asio::io_context;

  // `other_end`: without what TLS says. `tls`: nullptr for plaintext. `on_close` is called once,
  // when the socket is closed. The connection begins on the thread of `home`, and moves once to
  // that of what `next_home` returns, when its first call was admitted. REQUIRES: these outlive it
  // and its calls; the socket is of `home`.
  Connection(std::shared_ptr<Shared> shared, Context& home, std::function<Context&()> next_home,
             Socket socket, Peer other_end, std::unique_ptr<TlsSession> tls,
             std::function<void()> on_close);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  void Start() ABSL_LOCKS_EXCLUDED(mutex_);
  // Looks at everything that has an end in time. To be called every kHousekeepingInterval.
  void KeepHouse(Clock::time_point now) ABSL_LOCKS_EXCLUDED(mutex_);
  // The server stops: takes no more calls, ends those that nothing else ends (health, reflection),
  // and closes once the others are answered.
  void GoAway() ABSL_LOCKS_EXCLUDED(mutex_);
  void Close() ABSL_LOCKS_EXCLUDED(mutex_);

  // True if none of its calls was admitted yet.
  bool IsStranger() const { return !known_; }
  // True once the client has said what only a client of gRPC says: over TLS a whole handshake.
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
    bool decided = false;      // what becomes of it, by its headers
    bool asking = false;       // whether its caller may call
    bool admitted = false;     // its request is taken, however long
    bool started = false;
    bool ended = false;
    bool waiting = false;  // for room for its answer
    bool is_reset = false;
    Clock::time_point progress_time;  // of the end, or when the client took something after it
    std::shared_ptr<StreamedCall> call;
    // Requests that were not passed on yet.
    std::deque<std::string> requests;
    size_t request_bytes = 0;                        // of these
    size_t request_count = 0;                        // of all that came
    std::optional<Clock::time_point> message_begun;  // and is not whole
    bool wants_request = false;                      // the call does
    bool wants_waking = false;                       // so does it
    size_t unconsumed_bytes = 0;
    size_t unfinished_bytes = 0;  // as counted in Shared
    size_t expected_bytes = 0;    // of the answer, as counted in Shared
    // For the client.
    bool headers_sent = false;
    std::string answer;
    size_t answer_sent = 0;
    bool owes_room = false;  // for the next answer, which the call waits to be told
    Headers trailers;
  };
  // What is done once the mutex is free.
  using Actions = std::vector<absl::AnyInvocable<void()>>;
  class Answer;
  class StreamAnswers;

  // Callbacks of nghttp2, all from within its functions and so under the mutex.
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
  // Goes on when the pause is over.
  void WaitForEndOfPause() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Does the next thing for the streams of which something came, until the client is paused.
  void AdvanceStirred() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void OnReadable() ABSL_LOCKS_EXCLUDED(mutex_);
  // False once the connection is over.
  bool ReadSome() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool Feed(std::string_view bytes) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Sends what there is and what the socket takes.
  void Flush() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // To the threads of those who are known. REQUIRES: nothing waits for the socket.
  void Move() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool FillReady() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void CloseLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void GoAwayLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Ends every use of the mutex: sends, frees it, and does what is to be done without it.
  void Leave() ABSL_UNLOCK_FUNCTION(mutex_);
  // The same, but that what there is to send is sent by the connection's thread, with what others
  // add until then.
  void LeaveForMore() ABSL_UNLOCK_FUNCTION(mutex_);
  void PostTurn() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void TakeTurn() ABSL_LOCKS_EXCLUDED(mutex_);
  void WakeCalls() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Frees the mutex for the actions, and has it again. What they answer is not sent.
  void Gather() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  Stream* Find(int32_t id) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Does the next thing for a stream of which something came.
  void Advance(int32_t id) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // By the headers alone: answers what can never be a call.
  void Decide(int32_t id, Stream& stream) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  CallOrigin OriginOf(int32_t id, const Stream& stream) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void AskWhetherAdmitted(int32_t id, Stream& stream) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void StartCall(int32_t id, Stream& stream) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void StartStream(int32_t id, Stream& stream) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // The oldest that is not given on yet.
  std::string TakeRequest(Stream& stream) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // The next request to the call, and room for its next answer, if it is time for them.
  void PassOn(int32_t id, Stream& stream) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void MakeRoom(Stream& stream) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Consume(int32_t id, Stream& stream) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void CountUnfinished(Stream& stream) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Whether another answer of this size may be made for the client.
  bool HasRoomFor(size_t answer_bytes) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Expect(Stream& stream, size_t answer_bytes) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Starts calls that waited for room, as far as there is some.
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
  // Forgets what is held for it. The stream is gone after that.
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
  // `message`: of a call without streams that succeeded, or nullptr.
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
  // Streams of which something came since they were looked at.
  std::vector<int32_t> stirred_ ABSL_GUARDED_BY(mutex_);
  Actions actions_ ABSL_GUARDED_BY(mutex_);
  // Bytes for the socket.
  std::string ready_ ABSL_GUARDED_BY(mutex_);
  size_t ready_sent_ ABSL_GUARDED_BY(mutex_) = 0;
  bool waits_to_write_ ABSL_GUARDED_BY(mutex_) = false;
  // A turn of the connection's thread is coming.
  bool turn_posted_ ABSL_GUARDED_BY(mutex_) = false;
  // Calls that want to be woken then.
  std::vector<int32_t> to_wake_ ABSL_GUARDED_BY(mutex_);
  // How many hand things to calls, and will send what was answered when that is done.
  int gathering_ ABSL_GUARDED_BY(mutex_) = 0;
  bool settings_read_ ABSL_GUARDED_BY(mutex_) = false;  // the client's acknowledgement came
  bool going_away_ ABSL_GUARDED_BY(mutex_) = false;
  // Ends by an error of the client's: what is ready is sent, and nothing more.
  bool broken_ ABSL_GUARDED_BY(mutex_) = false;
  Clock::time_point go_away_time_ ABSL_GUARDED_BY(mutex_);
  // Everything is said, and the client's end of the connection awaited.
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
  // Calls that the services have not ended, also of streams that are gone.
  size_t calls_ ABSL_GUARDED_BY(mutex_) = 0;
  // Streams that came to nothing by the client's making: a bucket that empties with time.
  double resets_ ABSL_GUARDED_BY(mutex_) = 0;
  Clock::time_point resets_time_ ABSL_GUARDED_BY(mutex_) = Clock::now();
  // Nothing is read before.
  Clock::time_point paused_until_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace epsledger::transport::wire

#endif  // EPSLEDGER_SERVER_TRANSPORT_WIRE_CONNECTION_H_
