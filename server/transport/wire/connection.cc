#include "server/transport/wire/connection.h"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <random>
#include <utility>

#include "boost/asio/post.hpp"
#include "boost/asio/socket_base.hpp"
#include "boost/asio/steady_timer.hpp"

namespace epsledger::transport::wire {
namespace {

// Random, so that connections made at the same time do not end at the same time.
Clock::duration SomeAge() {
  static thread_local std::minstd_rand random(std::random_device{}());
  const auto tenth = std::chrono::duration_cast<std::chrono::milliseconds>(kConnectionAge) / 10;
  return kConnectionAge - std::chrono::milliseconds(
                              std::uniform_int_distribution<int64_t>(0, tenth.count())(random));
}

}  // namespace

Connection::Connection(std::shared_ptr<Shared> shared, Context& home,
                       std::function<Context&()> next_home, Socket socket, Peer other_end,
                       std::unique_ptr<TlsSession> tls, std::function<void()> on_close)
    : shared_(std::move(shared)),
      next_home_(std::move(next_home)),
      age_(SomeAge()),
      home_(&home),
      socket_(std::move(socket)),
      tls_(std::move(tls)),
      on_close_(std::move(on_close)),
      other_end_(std::move(other_end)),
      session_(NewSession(this)) {}

Connection::~Connection() {
  Close();
  nghttp2_session_del(session_);
}

void Connection::Start() {
  mutex_.Lock();
  const nghttp2_settings_entry settings[] = {
      {NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, kMaxStreams},
      {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, kStreamWindow},
      {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, kMaxHeaderBytes},
      {NGHTTP2_SETTINGS_ENABLE_PUSH, 0},
      {NGHTTP2_SETTINGS_NO_RFC7540_PRIORITIES, 1},
  };
  nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, settings, std::size(settings));
  nghttp2_session_set_local_window_size(session_, NGHTTP2_FLAG_NONE, 0, kConnectionWindow);
  if (tls_ == nullptr) {
    peer_ = std::make_shared<Peer>(other_end_);
  }
  WaitForBytes();
  Leave();
}

void Connection::WaitForBytes() {
  socket_.async_wait(boost::asio::socket_base::wait_read,
                     [self = shared_from_this()](const boost::system::error_code& error) {
                       if (!error) self->OnReadable();
                     });
}

bool Connection::IsPaused() const { return Clock::now() < paused_until_; }

void Connection::WaitForEndOfPause() {
  auto timer = std::make_unique<boost::asio::steady_timer>(*home_, paused_until_);
  auto& waiting = *timer;
  waiting.async_wait([self = shared_from_this(), timer = std::move(timer)](
                         const boost::system::error_code&) { self->OnReadable(); });
}

void Connection::OnSlowDown(Clock::duration pause) {
  absl::MutexLock lock(&mutex_);
  paused_until_ = std::max(paused_until_, Clock::now() + pause);
}

void Connection::AdvanceStirred() {
  const std::vector<int32_t> stirred = std::exchange(stirred_, {});
  size_t done = 0;
  for (; done < stirred.size(); ++done) {
    if (done > 0 && done % kCallsPerBatch == 0) {
      Gather();
      if (is_closed_) return;
      if (IsPaused()) break;
    }
    Advance(stirred[done]);
  }
  stirred_.insert(stirred_.begin(), stirred.begin() + static_cast<std::ptrdiff_t>(done),
                  stirred.end());
}

void Connection::OnReadable() {
  mutex_.Lock();
  if (is_closed_) return Leave();
  if (IsPaused()) {
    WaitForEndOfPause();
    return Leave();
  }
  // Streams that waited for the end of a pause come first.
  const bool goes_on = !stirred_.empty() || ReadSome();
  AdvanceStirred();
  StartWaiting();
  Gather();
  if (!goes_on && !is_closed_) {
    broken_ = true;
    Flush();  // the reason, if the client still reads
    CloseLocked();
  }
  if (!is_closed_ && known_ && !has_moved_ && !waits_to_write_) Move();
  if (!is_closed_) stirred_.empty() ? WaitForBytes() : WaitForEndOfPause();
  Leave();
}

void Connection::Move() {
  has_moved_ = true;
  boost::system::error_code error;
  const auto protocol = socket_.local_endpoint(error).protocol();
  if (error) return CloseLocked();
  const int descriptor = socket_.release(error);
  if (error) return CloseLocked();
  home_ = &next_home_();
  socket_ = Socket(*home_);
  socket_.assign(protocol, descriptor, error);
  if (error) {
    ::close(descriptor);
    CloseLocked();
  }
}

bool Connection::ReadSome() {
  static thread_local std::vector<char> buffer(kBytesPerTurn);
  static thread_local std::string text;
  const bool takes_much = known_ && Clock::now() - paused_until_ > kSmallTurnsAfterPause;
  const ssize_t count = ::recv(socket_.native_handle(), buffer.data(),
                               takes_much ? kBytesPerTurn : kBytesPerSmallTurn, MSG_DONTWAIT);
  if (count == 0) return false;
  if (count < 0) return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
  read_time_ = Clock::now();
  received_bytes_ += static_cast<size_t>(count);
  if (!known_ && received_bytes_ > kMaxBytesOfStranger) return false;
  if (finish_time_) return true;
  const std::string_view bytes(buffer.data(), static_cast<size_t>(count));
  if (tls_ == nullptr) return Feed(bytes);
  text.clear();
  const bool goes_on = tls_->Receive(bytes, &text);
  if (tls_->IsEstablished() && peer_ == nullptr) {
    Peer peer = other_end_;
    peer.is_encrypted = true;
    peer.certificate_pem = tls_->PeerCertificatePem();
    peer_ = std::make_shared<Peer>(std::move(peer));
  }
  return Feed(text) && goes_on;
}

bool Connection::Feed(std::string_view bytes) {
  const auto take = [this](std::string_view frames) {
    return nghttp2_session_mem_recv(session_, reinterpret_cast<const uint8_t*>(frames.data()),
                                    frames.size()) == static_cast<ssize_t>(frames.size());
  };
  return filter_.Take(bytes, take) &&
         nghttp2_session_get_outbound_queue_size(session_) <= kMaxQueuedFrames;
}

bool Connection::FillReady() {
  if (ready_sent_ == ready_.size()) {
    ready_.clear();
    ready_sent_ = 0;
  }
  if (tls_ != nullptr) {
    ready_ += tls_->TakeBytes();
    if (!tls_->IsEstablished()) return true;
  }
  while (ready_.size() - ready_sent_ < kMaxReadyBytes) {
    const uint8_t* data = nullptr;
    const ssize_t count = nghttp2_session_mem_send(session_, &data);
    if (count < 0) return false;
    if (count == 0) break;
    const std::string_view bytes(reinterpret_cast<const char*>(data), static_cast<size_t>(count));
    if (tls_ == nullptr) {
      ready_ += bytes;
    } else {
      if (!tls_->Send(bytes)) return false;
      ready_ += tls_->TakeBytes();
    }
  }
  return true;
}

void Connection::Flush() {
  if (is_closed_ || finish_time_) return;
  if (waits_to_write_) {
    if (!known_ && streams_.size() > kMaxUntakenStreamsOfStranger) CloseLocked();
    return;
  }
  while (true) {
    if (!FillReady()) return CloseLocked();
    if (ready_sent_ == ready_.size()) break;
    const ssize_t count = ::send(socket_.native_handle(), ready_.data() + ready_sent_,
                                 ready_.size() - ready_sent_, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (count > 0) {
      ready_sent_ += static_cast<size_t>(count);
      write_time_ = Clock::now();
      continue;
    }
    if (errno == EINTR) continue;
    if (errno != EAGAIN && errno != EWOULDBLOCK) return CloseLocked();
    waits_to_write_ = true;
    socket_.async_wait(boost::asio::socket_base::wait_write,
                       [self = shared_from_this()](const boost::system::error_code& error) {
                         if (error) return;
                         self->mutex_.Lock();
                         self->waits_to_write_ = false;
                         self->Leave();
                       });
    return;
  }
  const bool is_established = tls_ == nullptr || tls_->IsEstablished();
  if (is_established && !broken_ && !finish_time_ && nghttp2_session_want_read(session_) == 0 &&
      nghttp2_session_want_write(session_) == 0) {
    // Data that the client has sent meanwhile must be read: closing a socket with unread data
    // discards the last answers.
    finish_time_ = Clock::now();
    ::shutdown(socket_.native_handle(), SHUT_WR);
  }
}

void Connection::Leave() {
  if (gathering_ == 0) Flush();
  if (!is_closed_) StartWaiting();
  Actions actions = std::exchange(actions_, {});
  mutex_.Unlock();
  for (auto& action : actions) action();
}

void Connection::LeaveForMore() {
  if (gathering_ > 0 || is_closed_) return Leave();
  PostTurn();
  StartWaiting();
  Actions actions = std::exchange(actions_, {});
  mutex_.Unlock();
  for (auto& action : actions) action();
}

void Connection::PostTurn() {
  if (std::exchange(turn_posted_, true)) return;
  boost::asio::post(*home_, [self = shared_from_this()] { self->TakeTurn(); });
}

void Connection::TakeTurn() {
  mutex_.Lock();
  turn_posted_ = false;
  WakeCalls();
  Gather();
  Leave();
}

void Connection::WakeCalls() {
  for (const int32_t id : std::exchange(to_wake_, {})) {
    Stream* stream = Find(id);
    if (stream == nullptr) continue;
    if (stream->call == nullptr) {  // it begins; OnStarted asks for another turn
      to_wake_.push_back(id);
      continue;
    }
    stream->wants_waking = false;
    actions_.emplace_back([call = stream->call] { call->OnWoken(); });
  }
}

void Connection::Gather() {
  if (actions_.empty()) return;
  ++gathering_;
  Actions actions = std::exchange(actions_, {});
  mutex_.Unlock();
  for (auto& action : actions) action();
  mutex_.Lock();
  --gathering_;
}

void Connection::Close() {
  mutex_.Lock();
  CloseLocked();
  Leave();
}

void Connection::CloseLocked() {
  if (is_closed_.exchange(true)) return;
  boost::system::error_code ignored;
  socket_.close(ignored);
  while (!streams_.empty()) Forget(streams_.begin()->first);
  if (on_close_) actions_.emplace_back(std::exchange(on_close_, nullptr));
}

void Connection::GoAway() {
  mutex_.Lock();
  GoAwayLocked();
  for (auto& [id, stream] : streams_) {
    if (stream->method != nullptr && stream->method->is_open && !stream->ended) {
      End(id, *stream, {grpc::StatusCode::UNAVAILABLE, "the server is stopping"});
    }
  }
  Leave();
}

void Connection::GoAwayLocked() {
  if (going_away_ || is_closed_) return;
  going_away_ = true;
  go_away_time_ = Clock::now();
  if (peer_ == nullptr) return CloseLocked();  // still in the handshake
  nghttp2_submit_goaway(session_, NGHTTP2_FLAG_NONE,
                        nghttp2_session_get_last_proc_stream_id(session_), NGHTTP2_NO_ERROR,
                        nullptr, 0);
}

void Connection::KeepHouse(Clock::time_point now) {
  mutex_.Lock();
  if (is_closed_) return Leave();
  const Clock::duration age = now - arrival_;
  const bool hangs =
      (peer_ == nullptr && age > kHandshakeTimeout) ||
      (!settings_read_ && age > kSettingsTimeout) ||
      (ready_sent_ < ready_.size() && now - write_time_ > kWriteTimeout) ||
      (finish_time_ && now - *finish_time_ > kFinishTimeout) ||
      (going_away_ && now - go_away_time_ > kConnectionAgeGrace) ||
      (ping_time_ && *ping_time_ > read_time_ && now - *ping_time_ > kKeepaliveTimeout);
  if (hangs) {
    CloseLocked();
    return Leave();
  }
  if (ping_time_ && *ping_time_ <= read_time_) ping_time_.reset();
  if (!ping_time_ && now - read_time_ > kKeepaliveInterval) {
    nghttp2_submit_ping(session_, NGHTTP2_FLAG_NONE, nullptr);
    ping_time_ = now;
  }
  if (age > age_ || (!known_ && age > kStrangerAge)) GoAwayLocked();
  KeepHouseOfStreams(now);
  Leave();
}

void Connection::KeepHouseOfStreams(Clock::time_point now) {
  std::vector<int32_t> late;
  for (const auto& [id, stream] : streams_) {
    const bool waits = !stream->ended && !stream->half_closed && !stream->started &&
                       now - stream->arrival > kRequestTimeout;
    const bool hangs =
        !stream->ended && stream->message_begun && now - *stream->message_begun > kRequestTimeout;
    const bool is_not_taken =
        stream->ended && !stream->is_reset && now - stream->progress_time > kWriteTimeout;
    if (waits || hangs || is_not_taken) late.push_back(id);
  }
  for (const int32_t id : late) {
    Stream& stream = *Find(id);
    if (!stream.headers_done) return CloseLocked();  // nothing else can come on the connection
    if (stream.ended) {
      stream.is_reset = true;
      nghttp2_submit_rst_stream(session_, NGHTTP2_FLAG_NONE, id, NGHTTP2_CANCEL);
    } else {
      End(id, stream, {grpc::StatusCode::DEADLINE_EXCEEDED, "request: it did not arrive in time"});
    }
  }
}

}  // namespace epsledger::transport::wire
