// The calls of a connection: handles the callbacks of nghttp2 and passes calls to the services.

#include <algorithm>
#include <utility>

#include "server/transport/wire/connection.h"

namespace epsledger::transport::wire {
namespace {

constexpr uint64_t kNoLimit = 1'000'000'000;

grpc::Status Unavailable(const char* why) { return {grpc::StatusCode::UNAVAILABLE, why}; }

}  // namespace

// The answers to one call with streams. Keeps the connection alive.
class Connection::StreamAnswers final : public StreamClient {
 public:
  StreamAnswers(std::shared_ptr<Connection> connection, int32_t id, bool is_of_open_method)
      : connection_(std::move(connection)), id_(id), is_of_open_method_(is_of_open_method) {
    if (is_of_open_method_) ++connection_->shared_->open_method_calls;
  }

  void AskForRequest() override { connection_->OnAsked(id_); }
  void Answer(std::string message, bool more_follow) override {
    connection_->OnAnswer(id_, message, more_follow);
  }
  void Wake() override { connection_->OnWake(id_); }
  void SlowDown(std::chrono::nanoseconds pause) override { connection_->OnSlowDown(pause); }
  void End(const grpc::Status& status) override {
    if (is_of_open_method_) --connection_->shared_->open_method_calls;
    connection_->OnEnd(id_, status, nullptr);
  }

 private:
  const std::shared_ptr<Connection> connection_;
  const int32_t id_;
  const bool is_of_open_method_;
};

// The answer to one call without streams.
class Connection::Answer final : public Responder {
 public:
  Answer(std::shared_ptr<Connection> connection, int32_t id)
      : connection_(std::move(connection)), id_(id) {}

  void Respond(const grpc::Status& status, std::string message) override {
    connection_->OnEnd(id_, status, status.ok() ? &message : nullptr);
  }
  bool IsGone() override { return connection_->IsGone(id_); }
  void SlowDown(std::chrono::nanoseconds pause) override { connection_->OnSlowDown(pause); }

 private:
  const std::shared_ptr<Connection> connection_;
  const int32_t id_;
};

nghttp2_session* Connection::NewSession(Connection* self) {
  nghttp2_session_callbacks* callbacks = nullptr;
  nghttp2_option* option = nullptr;
  nghttp2_session* session = nullptr;
  if (nghttp2_session_callbacks_new(&callbacks) != 0 || nghttp2_option_new(&option) != 0) {
    std::abort();  // no memory, as where `new` fails
  }
  nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, OnBeginHeaders);
  nghttp2_session_callbacks_set_on_header_callback(callbacks, OnHeader);
  nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, OnFrame);
  nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, OnData);
  nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, OnStreamClose);
  nghttp2_session_callbacks_set_on_frame_send_callback(callbacks, OnFrameSent);
  nghttp2_option_set_no_auto_window_update(option, 1);
  nghttp2_option_set_no_closed_streams(option, 1);
  // CountReset has separate limits, which distinguish a stranger from a client with short
  // deadlines.
  nghttp2_option_set_stream_reset_rate_limit(option, kNoLimit, kNoLimit);
  nghttp2_option_set_max_continuations(option, kMaxContinuations);
  if (nghttp2_session_server_new2(&session, callbacks, self, option) != 0) std::abort();
  nghttp2_option_del(option);
  nghttp2_session_callbacks_del(callbacks);
  return session;
}

Connection::Stream* Connection::Find(int32_t id) {
  const auto found = streams_.find(id);
  return found == streams_.end() ? nullptr : found->second.get();
}

bool Connection::HasRoomFor(size_t answer_bytes) const {
  const size_t held = untaken_bytes_ + expected_bytes_;
  if (held == 0) return true;
  return held + answer_bytes <= kMaxUntakenBytesOfConnection &&
         (held + answer_bytes <= kBytesOfAnybody ||
          shared_->untaken_bytes + answer_bytes <= kMaxUntakenBytes);
}

int Connection::OnBeginHeaders(nghttp2_session* session, const nghttp2_frame* frame, void* self) {
  auto& connection = *static_cast<Connection*>(self);
  connection.mutex_.AssertHeld();
  if (frame->hd.type != NGHTTP2_HEADERS || frame->headers.cat != NGHTTP2_HCAT_REQUEST) return 0;
  if (connection.calls_ >= kMaxCalls) {
    nghttp2_submit_rst_stream(session, NGHTTP2_FLAG_NONE, frame->hd.stream_id,
                              NGHTTP2_REFUSED_STREAM);
    return 0;
  }
  auto stream = std::make_unique<Stream>();
  stream->arrival = Clock::now();
  connection.streams_.emplace(frame->hd.stream_id, std::move(stream));
  return 0;
}

int Connection::OnHeader(nghttp2_session*, const nghttp2_frame* frame, const uint8_t* name,
                         size_t name_bytes, const uint8_t* value, size_t value_bytes, uint8_t,
                         void* self) {
  auto& connection = *static_cast<Connection*>(self);
  connection.mutex_.AssertHeld();
  Stream* stream = connection.Find(frame->hd.stream_id);
  if (stream == nullptr || stream->headers_done) return 0;  // trailers are ignored
  stream->headers.Add({reinterpret_cast<const char*>(name), name_bytes},
                      {reinterpret_cast<const char*>(value), value_bytes});
  return 0;
}

int Connection::OnFrame(nghttp2_session*, const nghttp2_frame* frame, void* self) {
  auto& connection = *static_cast<Connection*>(self);
  connection.mutex_.AssertHeld();
  if (frame->hd.type == NGHTTP2_SETTINGS && (frame->hd.flags & NGHTTP2_FLAG_ACK) != 0) {
    connection.settings_read_ = true;
  }
  if (frame->hd.type == NGHTTP2_RST_STREAM && !connection.known_) connection.CountReset();
  if (frame->hd.type != NGHTTP2_HEADERS && frame->hd.type != NGHTTP2_DATA) return 0;
  Stream* stream = connection.Find(frame->hd.stream_id);
  if (stream == nullptr) return 0;
  if (frame->hd.type == NGHTTP2_HEADERS) stream->headers_done = true;
  if ((frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0) stream->half_closed = true;
  connection.stirred_.push_back(frame->hd.stream_id);
  return 0;
}

int Connection::OnData(nghttp2_session* session, uint8_t, int32_t id, const uint8_t* data,
                       size_t bytes, void* self) {
  auto& connection = *static_cast<Connection*>(self);
  connection.mutex_.AssertHeld();
  nghttp2_session_consume_connection(session, bytes);
  Stream* stream = connection.Find(id);
  if (stream == nullptr || stream->ended) {
    nghttp2_session_consume_stream(session, id, bytes);
    return 0;
  }
  connection.Decide(id, *stream);
  if (stream->ended) return 0;
  std::vector<std::string> messages;
  const grpc::Status status =
      stream->reader->Take({reinterpret_cast<const char*>(data), bytes}, &messages);
  for (std::string& message : messages) {
    stream->request_bytes += message.size();
    ++stream->request_count;
    stream->requests.push_back(std::move(message));
  }
  stream->unconsumed_bytes += bytes;
  if (stream->reader->unfinished_bytes() == 0) {
    stream->message_begun.reset();
  } else if (!stream->message_begun || !messages.empty()) {
    stream->message_begun = Clock::now();
  }
  connection.CountUnfinished(*stream);
  if (!status.ok()) {
    connection.End(id, *stream, status);
  } else if (connection.unfinished_bytes_ > kMaxUnfinishedBytesOfConnection ||
             (connection.shared_->unfinished_bytes > kMaxUnfinishedBytes &&
              connection.unfinished_bytes_ > kBytesOfAnybody)) {
    connection.End(id, *stream,
                   Unavailable("there are too many requests that are not whole: try again later"));
  } else if (stream->requests.empty() || stream->method->unary) {
    connection.Consume(id, *stream);
  }
  connection.stirred_.push_back(id);
  return 0;
}

int Connection::OnStreamClose(nghttp2_session*, int32_t id, uint32_t, void* self) {
  auto& connection = *static_cast<Connection*>(self);
  connection.mutex_.AssertHeld();
  connection.Forget(id);
  return 0;
}

int Connection::OnFrameSent(nghttp2_session* session, const nghttp2_frame* frame, void* self) {
  auto& connection = *static_cast<Connection*>(self);
  connection.mutex_.AssertHeld();
  const bool ends = (frame->hd.type == NGHTTP2_HEADERS || frame->hd.type == NGHTTP2_DATA) &&
                    (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0;
  if (ends) {
    const Stream* stream = connection.Find(frame->hd.stream_id);
    // The client need not send the rest of an answered request.
    if (stream != nullptr && !stream->half_closed) {
      nghttp2_submit_rst_stream(session, NGHTTP2_FLAG_NONE, frame->hd.stream_id, NGHTTP2_NO_ERROR);
    }
  }
  if (frame->hd.type == NGHTTP2_RST_STREAM && frame->rst_stream.error_code != NGHTTP2_NO_ERROR &&
      frame->rst_stream.error_code != NGHTTP2_REFUSED_STREAM) {
    connection.CountReset();
  }
  return 0;
}

void Connection::CountReset() {
  const Clock::time_point now = Clock::now();
  const double seconds = std::chrono::duration<double>(now - resets_time_).count();
  resets_time_ = now;
  resets_ = std::max(0.0, resets_ - seconds * kResetsPerSecond) + 1;
  if (resets_ > kMaxResets) {
    nghttp2_session_terminate_session(session_, NGHTTP2_ENHANCE_YOUR_CALM);
  }
}

void Connection::Forget(int32_t id) {
  Stream* stream = Find(id);
  if (stream == nullptr) return;
  stream->requests.clear();
  stream->request_bytes = 0;
  stream->reader.reset();
  CountUnfinished(*stream);
  Expect(*stream, 0);
  const size_t untaken = stream->answer.size() - stream->answer_sent;
  untaken_bytes_ -= untaken;
  shared_->untaken_bytes -= untaken;
  if (stream->counts_as_open) {
    --open_method_streams_;
  }
  if (stream->call != nullptr) {
    actions_.emplace_back([call = std::move(stream->call)] { call->OnGone(); });
  }
  streams_.erase(id);
}

void Connection::Expect(Stream& stream, size_t answer_bytes) {
  expected_bytes_ += answer_bytes - stream.expected_bytes;
  shared_->untaken_bytes += answer_bytes - stream.expected_bytes;
  stream.expected_bytes = answer_bytes;
}

void Connection::CountUnfinished(Stream& stream) {
  const size_t bytes =
      stream.request_bytes + (stream.reader ? stream.reader->unfinished_bytes() : 0);
  unfinished_bytes_ += bytes - stream.unfinished_bytes;
  shared_->unfinished_bytes += bytes - stream.unfinished_bytes;
  stream.unfinished_bytes = bytes;
}

void Connection::Consume(int32_t id, Stream& stream) {
  // For a caller who is not admitted, only the window of a stream is held.
  if (!stream.admitted) return;
  nghttp2_session_consume_stream(session_, id, stream.unconsumed_bytes);
  stream.unconsumed_bytes = 0;
}

void Connection::Decide(int32_t id, Stream& stream) {
  if (stream.decided) return;
  stream.decided = true;
  if (const int http_status = stream.headers.http_status(); http_status != 200) {
    return EndAsHttp(id, stream, http_status);
  }
  if (const grpc::Status status = stream.headers.Check(); !status.ok()) {
    return End(id, stream, status);
  }
  const auto method = shared_->services.methods.find(stream.headers.path());
  if (method == shared_->services.methods.end()) {
    return End(id, stream, {grpc::StatusCode::UNIMPLEMENTED, "there is no such method"});
  }
  stream.method = &method->second;
  stream.reader.emplace(stream.method->max_request_bytes);
  if (!stream.method->is_open) return;
  if (open_method_streams_ >= kMaxOpenMethodStreamsOfConnection ||
      shared_->open_method_calls >= kMaxOpenMethodCalls) {
    return End(id, stream, Unavailable("there are too many calls of this method: try again later"));
  }
  stream.counts_as_open = true;
  ++open_method_streams_;
  stream.admitted = true;
}

void Connection::Advance(int32_t id) {
  Stream* stream = Find(id);
  if (stream == nullptr || !stream->headers_done || stream->ended) return;
  Decide(id, *stream);
  if (stream->ended) return;
  if (!stream->method->takes_stream && stream->request_count > 1) {
    return End(id, *stream,
               {grpc::StatusCode::INTERNAL, "request: got more than one message, want one"});
  }
  if (stream->started) return PassOn(id, *stream);
  const bool is_whole = stream->half_closed || stream->method->takes_stream ||
                        (!stream->method->unary && !stream->requests.empty());
  if (is_whole && !stream->method->takes_stream && stream->requests.empty()) {
    return End(id, *stream, {grpc::StatusCode::INTERNAL, "request: got no message, want one"});
  }
  // A call without streams is admitted where it is answered. A stream takes memory before the
  // services admit it, so they are asked first.
  if (is_whole && (stream->method->unary || stream->admitted)) {
    return StartCall(id, *stream);
  }
  if (!stream->admitted && !stream->asking) AskWhetherAdmitted(id, *stream);
}

CallOrigin Connection::OriginOf(int32_t id, const Stream& stream) const {
  return {.peer = peer_,
          .authorization = stream.headers.authorization(),
          .client = stream.headers.client(),
          .request_id = stream.headers.request_id(),
          .number = id,
          .traceparent = stream.headers.traceparent()};
}

void Connection::AskWhetherAdmitted(int32_t id, Stream& stream) {
  stream.asking = true;
  actions_.emplace_back(
      [self = shared_from_this(), id, method = stream.method, origin = OriginOf(id, stream)] {
        self->OnAdmitted(id, self->shared_->services.admit(*method, origin));
      });
}

void Connection::OnAdmitted(int32_t id, const grpc::Status& status) {
  mutex_.Lock();
  Stream* stream = Find(id);
  if (stream != nullptr && !stream->ended && !stream->started) {
    if (status.ok()) {
      known_ = true;
      stream->admitted = true;
      Consume(id, *stream);
      Advance(id);
    } else {
      End(id, *stream, status);
    }
  }
  Leave();
}

std::optional<Clock::time_point> Connection::DeadlineOf(const Stream& stream) const {
  const auto timeout = stream.headers.timeout();
  if (!timeout) return std::nullopt;
  return stream.arrival + *timeout;
}

void Connection::StartWaiting() {
  while (!waiting_.empty()) {
    const int32_t id = waiting_.front();
    Stream* stream = Find(id);
    if (stream != nullptr && !stream->ended) {
      if (!HasRoomFor(stream->method->usual_answer_bytes)) return;
      stream->waiting = false;
      StartCall(id, *stream);
    }
    waiting_.pop_front();
  }
}

void Connection::StartCall(int32_t id, Stream& stream) {
  if (stream.started || stream.waiting) return;
  if (stream.method->unary == nullptr) return StartStream(id, stream);
  // In their order: a call that needs less room does not overtake.
  const size_t answer_bytes = stream.method->usual_answer_bytes;
  if (!HasRoomFor(answer_bytes) || (!waiting_.empty() && waiting_.front() != id)) {
    stream.waiting = true;
    waiting_.push_back(id);
    return;
  }
  Expect(stream, answer_bytes);
  stream.started = true;
  ++calls_;
  ++shared_->calls;
  UnaryRequest request{.origin = OriginOf(id, stream),
                       .message = TakeRequest(stream),
                       .deadline = DeadlineOf(stream),
                       .responder = std::make_unique<Answer>(shared_from_this(), id)};
  actions_.emplace_back([self = shared_from_this(), id, method = stream.method,
                         request = std::move(request)]() mutable {
    self->HandOver(id, [&] { method->unary(std::move(request)); });
  });
}

void Connection::StartStream(int32_t id, Stream& stream) {
  stream.started = true;
  ++calls_;
  ++shared_->calls;
  StreamRequest request{.origin = OriginOf(id, stream),
                        .message = "",
                        .deadline = DeadlineOf(stream),
                        .client = nullptr};
  if (!stream.method->takes_stream) request.message = TakeRequest(stream);
  actions_.emplace_back([self = shared_from_this(), id, method = stream.method,
                         request = std::move(request)]() mutable {
    self->HandOver(id, [&] {
      request.client = std::make_unique<StreamAnswers>(self, id, method->is_open);
      self->OnStarted(id, method->stream(std::move(request)));
    });
  });
}

std::string Connection::TakeRequest(Stream& stream) {
  std::string message = std::move(stream.requests.front());
  stream.requests.pop_front();
  stream.request_bytes -= message.size();
  CountUnfinished(stream);
  return message;
}

void Connection::HandOver(int32_t id, absl::FunctionRef<void()> start) {
  ++shared_->starting;
  if (shared_->draining) {
    --shared_->starting;
    return OnEnd(id, Unavailable("the server is stopping: nothing was done, try again"), nullptr);
  }
  start();
  --shared_->starting;
}

bool Connection::IsGone(int32_t id) {
  absl::MutexLock lock(&mutex_);
  const Stream* stream = Find(id);
  return stream == nullptr || stream->ended;
}

void Connection::OnStarted(int32_t id, std::shared_ptr<StreamedCall> call) {
  if (call == nullptr) return;  // it has ended
  mutex_.Lock();
  Stream* stream = Find(id);
  if (stream == nullptr || stream->ended) {
    // The stream was reset or has been answered: the call comes too late.
    actions_.emplace_back([call = std::move(call)] { call->OnGone(); });
  } else {
    stream->call = std::move(call);
    PassOn(id, *stream);
    MakeRoom(*stream);
    if (stream->wants_waking) PostTurn();
  }
  Leave();
}

void Connection::MakeRoom(Stream& stream) {
  if (!stream.owes_room || stream.call == nullptr ||
      stream.answer.size() - stream.answer_sent >= kUntakenBytesOfStream) {
    return;
  }
  stream.owes_room = false;
  actions_.emplace_back([call = stream.call] { call->OnAnswerTaken(); });
}

void Connection::PassOn(int32_t id, Stream& stream) {
  if (stream.call == nullptr || !stream.wants_request) return;
  if (!stream.requests.empty()) {
    stream.wants_request = false;
    actions_.emplace_back([call = stream.call, message = TakeRequest(stream)]() mutable {
      call->OnRequest(std::move(message));
    });
    if (stream.requests.empty()) Consume(id, stream);
  } else if (stream.half_closed) {
    stream.wants_request = false;
    actions_.emplace_back([call = stream.call] { call->OnNoMoreRequests(); });
  }
}

void Connection::OnAsked(int32_t id) {
  mutex_.Lock();
  if (Stream* stream = Find(id); stream != nullptr && !stream->ended) {
    stream->wants_request = true;
    PassOn(id, *stream);
  }
  Leave();
}

void Connection::OnWake(int32_t id) {
  absl::MutexLock lock(&mutex_);
  Stream* stream = Find(id);
  if (stream == nullptr || stream->ended || std::exchange(stream->wants_waking, true)) return;
  to_wake_.push_back(id);
  PostTurn();
}

}  // namespace epsledger::transport::wire
