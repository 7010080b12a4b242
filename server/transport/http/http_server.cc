#include "server/transport/http/http_server.h"

#include <array>
#include <chrono>
#include <optional>
#include <sstream>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/synchronization/mutex.h"
#include "accounting/event/status_macros.h"
#include "boost/asio/executor_work_guard.hpp"
#include "boost/asio/io_context.hpp"
#include "boost/asio/ip/tcp.hpp"
#include "boost/asio/post.hpp"
#include "boost/asio/ssl/context.hpp"
#include "boost/asio/steady_timer.hpp"
#include "boost/beast/core.hpp"
#include "boost/beast/http.hpp"
#include "server/transport/http/http_stream.h"
#include "server/transport/sockets/connection_counts.h"
#include "server/transport/sockets/connection_room.h"
#include "server/transport/sockets/peer_key.h"
#include "server/transport/tls/server_tls.h"
#include "server/transport/tls/tls_files.h"
#include "server/transport/wire/call_headers.h"
#include "spdlog/spdlog.h"

namespace epsledger::transport {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using tcp = asio::ip::tcp;

// A request line with its headers; usual ones have a few hundred bytes.
constexpr uint32_t kMaxHeaderBytes = 16 * 1024;
constexpr uint64_t kMaxBodyBytes = 1024 * 1024;
// A connection is closed after this many requests, which spreads clients over servers again.
constexpr int kMaxRequestsPerConnection = 1000;
// The wait before accepting the next connection, if the process has no file descriptor for one.
constexpr std::chrono::milliseconds kPauseWithoutDescriptors(100);

struct HostPort {
  std::string host;
  uint16_t port = 0;
};

absl::StatusOr<HostPort> ReadAddress(const std::string& address) {
  const size_t colon = address.rfind(':');
  uint32_t port = 0;
  if (colon == std::string::npos || !absl::SimpleAtoi(address.substr(colon + 1), &port) ||
      port > 65535) {
    return absl::InvalidArgumentError(
        absl::StrFormat("an address of HTTP: got \"%s\", want host:port", address));
  }
  std::string host = address.substr(0, colon);
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
  }
  if (host == "localhost") host = "127.0.0.1";
  return HostPort{host, static_cast<uint16_t>(port)};
}

}  // namespace

struct HttpServer::Loop {
  Loop(const HttpServerOptions& options, HttpHandler h)
      : handler(std::move(h)),
        patience(options.patience),
        rates(ConnectionRate(options.peer_connections_per_second,
                             !options.tls_certificate_file.empty())) {}

  asio::io_context context{1};
  // Kept until the end. Without it a context that listens nowhere stops immediately, and never runs
  // the tasks of the end.
  asio::executor_work_guard<asio::io_context::executor_type> work{context.get_executor()};
  const HttpHandler handler;
  const std::chrono::milliseconds patience;
  std::vector<std::unique_ptr<tcp::acceptor>> acceptors;
  int32_t last_request = 0;  // only the loop's thread uses this and the next fields
  // With TLS: the files, and the context made from them.
  std::optional<RenewedTlsFiles> tls_files;
  std::shared_ptr<asio::ssl::context> tls;
  RateLimiter rates;

  absl::Mutex mutex;
  // Once set, nothing more is posted, so that all posted tasks run before the thread ends.
  bool closed ABSL_GUARDED_BY(mutex) = false;
  std::map<ConnectionRoom::Id, beast::tcp_stream*> open ABSL_GUARDED_BY(mutex);
  ConnectionRoom room ABSL_GUARDED_BY(mutex);
};

namespace {

// "192.0.2.7:50211", "[2001:db8::1]:50211".
std::string NameOf(const tcp::endpoint& endpoint) {
  std::ostringstream name;
  name << endpoint;
  return name.str();
}

// One connection, kept alive by the operations that wait on it. All of it runs on the loop's
// thread.
template <class Loop>
class Connection : public std::enable_shared_from_this<Connection<Loop>> {
 public:
  // REQUIRES: `id` is its place in the loop's room. The destructor leaves it.
  template <class... StreamArguments>
  Connection(std::shared_ptr<Loop> loop, ConnectionRoom::Id id, const tcp::endpoint& peer,
             StreamArguments&&... arguments)
      : loop_(std::move(loop)),
        id_(id),
        peer_(peer.address()),
        peer_name_(NameOf(peer)),
        stream_(std::forward<StreamArguments>(arguments)...),
        confidential_(stream_.is_tls() || peer_.is_loopback()),
        request_end_(loop_->context) {
    absl::MutexLock lock(&loop_->mutex);
    loop_->open.emplace(id_, &tcp_stream());
  }
  ~Connection() {
    absl::MutexLock lock(&loop_->mutex);
    loop_->open.erase(id_);
    loop_->room.Leave(id_);
  }

  void Start() {
    if (!stream_.is_tls()) return Read();
    tcp_stream().expires_after(loop_->patience);
    stream_.Handshake([self = this->shared_from_this()](beast::error_code error) {
      if (error) return;
      self->client_certificate_ = self->stream_.ClientCertificatePem();
      self->Read();
    });
  }

 private:
  void Read() {
    if (requests_ > 0) {
      absl::MutexLock lock(&loop_->mutex);
      loop_->room.Wait(id_);
    }
    parser_.emplace();
    parser_->header_limit(kMaxHeaderBytes);
    parser_->body_limit(kMaxBodyBytes);
    // A separate timer: the stream's own would close the connection without telling the client why.
    tcp_stream().expires_never();
    too_slow_ = false;
    request_end_.expires_after(loop_->patience);
    request_end_.async_wait([weak = this->weak_from_this()](beast::error_code error) {
      const auto self = weak.lock();
      if (error || !self || self->request_end_.expiry() > asio::steady_timer::clock_type::now()) {
        return;  // it was set again while this waited to run
      }
      self->too_slow_ = true;
      self->tcp_stream().cancel();
    });
    headers_.clear();
    http::async_read_header(stream_, buffer_, *parser_,
                            [self = this->shared_from_this()](beast::error_code error, size_t) {
                              if (error) return self->Handle(error);
                              self->ReadBody();
                            });
  }

  // The fields of the header are kept before the body comes: the parser adds the trailers of a
  // chunked body to them, which a proxy in front does not see as headers.
  void ReadBody() {
    for (const auto& field : parser_->get()) {
      headers_.emplace_back(absl::AsciiStrToLower(absl::string_view(field.name_string().data(),
                                                                    field.name_string().size())),
                            std::string(field.value()));
    }
    if (parser_->is_done()) return Handle({});
    http::async_read(stream_, buffer_, *parser_,
                     [self = this->shared_from_this()](beast::error_code error, size_t) {
                       self->Handle(error);
                     });
  }

  beast::tcp_stream& tcp_stream() { return stream_.tcp(); }

  void Handle(beast::error_code error) {
    request_end_.cancel();
    if (error == asio::error::operation_aborted && too_slow_ && parser_->got_some()) {
      return Write(HttpError(408, "deadline_exceeded", "the request did not arrive in time"), true);
    }
    if (error == http::error::header_limit) {
      return Write(HttpError(431, "resource_exhausted", "headers too large"), true);
    }
    if (error == http::error::body_limit) {
      return Write(HttpError(413, "resource_exhausted", "body too large"), true);
    }
    if (error.category() == http::make_error_code(http::error::bad_method).category() &&
        error != http::error::end_of_stream) {
      return Write(HttpError(400, "invalid_argument", "not an HTTP request"), true);
    }
    if (error) return;  // gone, idle, or closed to make room
    {
      absl::MutexLock lock(&loop_->mutex);
      loop_->room.Work(id_);
    }
    const auto& message = parser_->get();
    head_ = message.method() == http::verb::head;
    const bool last = !message.keep_alive() || ++requests_ >= kMaxRequestsPerConnection;
    const auto target = message.target();
    const size_t question = target.find('?');
    const auto raw_path = target.substr(0, question);
    std::optional<std::string> path = DecodedPath({raw_path.data(), raw_path.size()});
    if (!path || path->empty() || (*path)[0] != '/') {
      return Write(HttpError(400, "invalid_argument",
                             "the path is not a path; letters, digits, '-', '.', '_', '~' and '/' "
                             "are written as they are, without '%'"),
                   true);
    }
    HttpRequest request{.method = std::string(head_ ? "GET" : message.method_string()),
                        .path = *std::move(path),
                        .query = question == beast::string_view::npos
                                     ? ""
                                     : std::string(target.substr(question + 1)),
                        .body = std::move(parser_->get().body()),
                        .headers = {},
                        .tls = stream_.is_tls(),
                        .client_certificate_pem = client_certificate_,
                        .confidential = confidential_,
                        .peer = peer_name_,
                        .request_id = {},
                        .traceparent = {}};
    request.headers = std::move(headers_);
    request.request_id = wire::ShownRequestId(request.Header("x-request-id"));
    if (request.request_id.empty()) {
      request.request_id = wire::RequestIdOf({.number = ++loop_->last_request});
    }
    request.traceparent = wire::ShownTraceparent(request.Header("traceparent"));
    request_id_ = request.request_id;
    traceparent_ = request.traceparent;
    loop_->handler(request, ReplyOnce(last));
  }

  // Runs `then` with the connection on the loop's thread, unless the server has gone.
  template <class Then>
  static void Post(std::shared_ptr<Connection> to, Then then) {
    const std::shared_ptr<Loop> loop = to->loop_;
    absl::MutexLock lock(&loop->mutex);
    if (loop->closed) return;  // `to` destroys the connection after the lock
    asio::post(loop->context,
               [to = std::move(to), then = std::move(then)]() mutable { then(*to); });
  }

  // Works from any thread, and after the server has gone.
  HttpReply ReplyOnce(bool last) {
    struct Answer {
      Answer(std::shared_ptr<Connection> c, bool l) : connection(std::move(c)), last(l) {}
      Answer(const Answer&) = delete;
      Answer& operator=(const Answer&) = delete;

      std::shared_ptr<Connection> connection;
      bool last;
      void Give(HttpResponse response) {
        std::shared_ptr<Connection> to = std::exchange(connection, nullptr);
        if (to == nullptr) return;
        Post(std::move(to), [response = std::move(response), l = last](Connection& self) mutable {
          self.Write(std::move(response), l);
        });
      }
      ~Answer() { Give(HttpError(500, "internal", "the request was lost inside the server")); }
    };
    auto answer = std::make_unique<Answer>(this->shared_from_this(), last);
    return [answer = std::move(answer)](HttpResponse response) mutable {
      answer->Give(std::move(response));
    };
  }

  template <class Message>
  void SetHead(const HttpResponse& response, Message& message) {
    message.version(11);
    message.result(static_cast<unsigned>(response.status));
    message.set(http::field::content_type, response.content_type.empty()
                                               ? "text/plain; charset=utf-8"
                                               : response.content_type);
    message.set("X-Content-Type-Options", "nosniff");
    if (stream_.is_tls()) message.set("Strict-Transport-Security", "max-age=31536000");
    message.set(http::field::cache_control, "no-store");
    if (!request_id_.empty()) message.set("X-Request-Id", request_id_);
    if (!traceparent_.empty()) message.set("traceparent", traceparent_);
    for (const auto& [name, value] : response.headers) message.set(name, value);
  }

  void Write(HttpResponse response, bool last) {
    if (response.chunks != nullptr && !head_) return StartChunks(std::move(response));
    auto message = std::make_shared<http::response<http::string_body>>();
    SetHead(response, *message);
    message->keep_alive(!last);
    message->body() = std::move(response.body);
    message->prepare_payload();
    if (head_ || response.status == 304) message->body().clear();
    tcp_stream().expires_after(loop_->patience);
    http::async_write(
        stream_, *message,
        [self = this->shared_from_this(), message, last](beast::error_code error, size_t) {
          if (!error && !last) return self->Read();
          if (!error) self->Close();
        });
  }

  void Close() {
    tcp_stream().expires_after(loop_->patience);
    stream_.EndOutput([self = this->shared_from_this()](beast::error_code) {});
  }

  // From here on the connection belongs to the stream and ends with it.
  void StartChunks(HttpResponse response) {
    chunks_ = std::move(response.chunks);
    struct Head {
      http::response<http::empty_body> message;
      std::optional<http::response_serializer<http::empty_body>> serializer;
    };
    auto head = std::make_shared<Head>();
    SetHead(response, head->message);
    head->message.keep_alive(false);
    head->message.chunked(true);
    head->serializer.emplace(head->message);
    tcp_stream().expires_after(loop_->patience);
    http::async_write_header(
        stream_, *head->serializer,
        [self = this->shared_from_this(), head](beast::error_code error, size_t) {
          if (error) return self->EndChunks();
          self->WaitForHangUp();
          self->NextChunk();
        });
  }

  // A client sends nothing more on a stream: the next read means that it has gone.
  void WaitForHangUp() {
    tcp_stream().expires_never();
    stream_.async_read_some(
        asio::buffer(unwanted_),
        [self = this->shared_from_this()](beast::error_code, size_t) { self->EndChunks(); });
  }

  void NextChunk() {
    if (chunks_ == nullptr) return;
    const std::shared_ptr<ChunkSource> source = chunks_;
    source->Next([weak = this->weak_from_this()](std::optional<std::string> chunk) {
      std::shared_ptr<Connection> to = weak.lock();
      if (to == nullptr) return;
      Post(std::move(to), [chunk = std::move(chunk)](Connection& self) mutable {
        self.WriteChunk(std::move(chunk));
      });
    });
  }

  void WriteChunk(std::optional<std::string> chunk) {
    if (chunks_ == nullptr) return;
    const bool last = !chunk.has_value();
    auto bytes = std::make_shared<std::string>(
        last ? "0\r\n\r\n" : absl::StrCat(absl::Hex(chunk->size()), "\r\n", *chunk, "\r\n"));
    // A limit for the write alone: the read that waits for the hang-up has none.
    tcp_stream().expires_after(loop_->patience);
    asio::async_write(
        stream_, asio::buffer(*bytes),
        [self = this->shared_from_this(), bytes, last](beast::error_code error, size_t) {
          if (error || last) return self->EndChunks();
          self->NextChunk();
        });
  }

  void EndChunks() {
    chunks_ = nullptr;
    tcp_stream().close();
  }

  const std::shared_ptr<Loop> loop_;  // outlives the stream, which belongs to its context
  const ConnectionRoom::Id id_;
  const asio::ip::address peer_;
  const std::string peer_name_;
  HttpStream stream_;
  const bool confidential_;
  std::string client_certificate_;
  // The request that is being answered.
  std::string request_id_;
  std::string traceparent_;
  asio::steady_timer request_end_;
  bool too_slow_ = false;
  beast::flat_buffer buffer_;
  std::optional<http::request_parser<http::string_body>> parser_;
  std::vector<std::pair<std::string, std::string>> headers_;  // names in lower case
  bool head_ = false;
  int requests_ = 0;
  std::shared_ptr<ChunkSource> chunks_;
  std::array<char, 256> unwanted_;
};

std::shared_ptr<asio::ssl::context> TlsContext(const TlsMaterial& material) {
  const std::shared_ptr<ServerTls> tls = ServerTls::Make(material, ServerTls::Protocol::kHttp1);
  if (tls == nullptr) return nullptr;
  SSL_CTX_up_ref(tls->get());  // the context's own
  return std::make_shared<asio::ssl::context>(tls->get());
}

template <class Loop>
void StartConnection(std::shared_ptr<Loop> loop, tcp::socket socket) {
  beast::error_code error;
  const tcp::endpoint peer = socket.remote_endpoint(error);
  if (error) return;
  // Closes a connection beyond the rate before a handshake.
  if (!loop->rates.Take(PeerKeyOf(peer.address()), RateLimiter::Clock::now())) return;
  if (loop->tls_files.has_value() && (loop->tls == nullptr || loop->tls_files->Reload())) {
    if (auto renewed = TlsContext(loop->tls_files->material())) loop->tls = std::move(renewed);
  }
  if (loop->tls_files.has_value() && loop->tls == nullptr) return;
  ConnectionRoom::Id id = 0;
  {
    absl::MutexLock lock(&loop->mutex);
    const std::optional<ConnectionRoom::Entry> entry = loop->room.Enter(peer.address());
    // One connection too many is closed immediately, instead of waiting without an answer.
    if (!entry.has_value()) return;
    id = entry->id;
    if (entry->ended.has_value()) {
      if (const auto ended = loop->open.find(*entry->ended); ended != loop->open.end()) {
        ended->second->close();
      }
    }
  }
  if (loop->tls == nullptr) {
    std::make_shared<Connection<Loop>>(loop, id, peer, std::move(socket))->Start();
  } else {
    std::make_shared<Connection<Loop>>(loop, id, peer, std::move(socket), loop->tls)->Start();
  }
}

template <class Loop>
void Accept(std::shared_ptr<Loop> loop, tcp::acceptor& acceptor) {
  acceptor.async_accept([loop, &acceptor](beast::error_code error, tcp::socket socket) {
    if (error == asio::error::operation_aborted || !acceptor.is_open()) return;
    if (!error) StartConnection(loop, std::move(socket));
    if (error != asio::error::no_descriptors) return Accept(loop, acceptor);
    // The next try would fail immediately too, and the loop would do nothing else.
    auto pause = std::make_shared<asio::steady_timer>(loop->context, kPauseWithoutDescriptors);
    pause->async_wait([loop, &acceptor, pause](beast::error_code) {
      if (acceptor.is_open()) Accept(loop, acceptor);
    });
  });
}

}  // namespace

absl::StatusOr<std::unique_ptr<HttpServer>> HttpServer::Start(const HttpServerOptions& options,
                                                              HttpHandler handler) {
  std::unique_ptr<HttpServer> server(new HttpServer(options, std::move(handler)));
  if (!options.tls_certificate_file.empty()) {
    ASSIGN_OR_RETURN(RenewedTlsFiles files,
                     RenewedTlsFiles::Open({.certificate = options.tls_certificate_file,
                                            .key = options.tls_key_file,
                                            .client_ca = options.tls_client_ca_file},
                                           [](const absl::Status& status) {
                                             if (!status.ok())
                                               spdlog::error("HTTP keeps its certificate: {}",
                                                             std::string(status.message()));
                                           }));
    server->loop_->tls_files.emplace(std::move(files));
  }
  for (const std::string& address : options.addresses) {
    ASSIGN_OR_RETURN(HostPort at, ReadAddress(address));
    beast::error_code error;
    const auto ip = asio::ip::make_address(at.host, error);
    if (error) {
      return absl::InvalidArgumentError(absl::StrFormat(
          "an address of HTTP: got \"%s\", want an IP address as the host", address));
    }
    auto acceptor = std::make_unique<tcp::acceptor>(server->loop_->context);
    const tcp::endpoint endpoint(ip, at.port);
    acceptor->open(endpoint.protocol(), error);
    if (!error) acceptor->set_option(asio::socket_base::reuse_address(true), error);
    if (!error) acceptor->bind(endpoint, error);
    if (!error) acceptor->listen(asio::socket_base::max_listen_connections, error);
    if (error) {
      return absl::UnavailableError(
          absl::StrFormat("%s: cannot be listened on: %s", address, error.message()));
    }
    const std::string host =
        at.host.find(':') == std::string::npos ? at.host : absl::StrCat("[", at.host, "]");
    server->addresses_.push_back(absl::StrCat(host, ":", acceptor->local_endpoint().port()));
    server->loop_->acceptors.push_back(std::move(acceptor));
  }
  for (const std::unique_ptr<tcp::acceptor>& acceptor : server->loop_->acceptors) {
    Accept(server->loop_, *acceptor);
  }
  server->thread_ = std::thread([loop = server->loop_] { loop->context.run(); });
  return server;
}

HttpServer::HttpServer(const HttpServerOptions& options, HttpHandler handler)
    : loop_(std::make_shared<Loop>(options, std::move(handler))) {}

HttpServer::~HttpServer() {
  {
    absl::MutexLock lock(&loop_->mutex);
    loop_->closed = true;
    asio::post(loop_->context, [loop = loop_] {
      loop->work.reset();
      for (const auto& acceptor : loop->acceptors) acceptor->close();
      absl::MutexLock closing(&loop->mutex);
      // Pending operations get an error and release the connection.
      for (const auto& [id, stream] : loop->open) stream->close();
    });
  }
  if (thread_.joinable()) {
    thread_.join();
  } else {
    loop_->context.run();  // Start failed before there was a thread
  }
}

}  // namespace epsledger::transport
