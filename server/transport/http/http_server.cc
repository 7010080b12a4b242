#include "server/transport/http/http_server.h"

#include <chrono>
#include <optional>
#include <set>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/synchronization/mutex.h"
#include "boost/asio/io_context.hpp"
#include "boost/asio/ip/tcp.hpp"
#include "boost/asio/post.hpp"
#include "boost/beast/core.hpp"
#include "boost/beast/http.hpp"

namespace epsledger::transport {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using tcp = asio::ip::tcp;

// A request line with its headers; ours need a few hundred bytes.
constexpr uint32_t kMaxHeaderBytes = 16 * 1024;
constexpr uint64_t kMaxBodyBytes = 1024 * 1024;
// Half of the file descriptors that a process commonly has.
constexpr size_t kMaxConnections = 512;
// For a whole request to arrive, and for an answer to be taken. An idle connection has as long.
constexpr auto kPatience = std::chrono::seconds(15);
// A connection is closed after so many requests, which spreads clients over servers again.
constexpr int kMaxRequestsPerConnection = 1000;

// "%41" is "A"; nothing for a bad or a control character.
std::optional<std::string> PercentDecoded(beast::string_view text) {
  std::string decoded;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '%') {
      uint32_t code = 0;
      if (i + 2 >= text.size() ||
          !absl::SimpleHexAtoi(absl::string_view(text.data() + i + 1, 2), &code)) {
        return std::nullopt;
      }
      c = static_cast<char>(code);
      i += 2;
    }
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) return std::nullopt;
    decoded.push_back(c);
  }
  return decoded;
}

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
        absl::StrFormat("--http-listen: got \"%s\", want host:port", address));
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
  explicit Loop(HttpHandler h) : handler(std::move(h)) {}

  asio::io_context context{1};
  const HttpHandler handler;
  std::vector<std::unique_ptr<tcp::acceptor>> acceptors;

  absl::Mutex mutex;
  // From then on nothing is posted, so that what was posted runs before the thread ends.
  bool closed ABSL_GUARDED_BY(mutex) = false;
  std::set<beast::tcp_stream*> open ABSL_GUARDED_BY(mutex);
};

namespace {

// One connection, kept alive by the operations that wait on it.
template <class Loop>
class Connection : public std::enable_shared_from_this<Connection<Loop>> {
 public:
  Connection(tcp::socket socket, std::shared_ptr<Loop> loop)
      : loop_(std::move(loop)), stream_(std::move(socket)) {
    absl::MutexLock lock(&loop_->mutex);
    loop_->open.insert(&stream_);
  }
  ~Connection() {
    absl::MutexLock lock(&loop_->mutex);
    loop_->open.erase(&stream_);
  }

  void Read() {
    parser_.emplace();
    parser_->header_limit(kMaxHeaderBytes);
    parser_->body_limit(kMaxBodyBytes);
    stream_.expires_after(kPatience);
    http::async_read(stream_, buffer_, *parser_,
                     [self = this->shared_from_this()](beast::error_code error, size_t) {
                       self->Handle(error);
                     });
  }

 private:
  void Handle(beast::error_code error) {
    if (error == http::error::header_limit) return Write({431, {}, "headers too large\n"}, true);
    if (error == http::error::body_limit) return Write({413, {}, "body too large\n"}, true);
    if (error.category() == http::make_error_code(http::error::bad_method).category() &&
        error != http::error::end_of_stream) {
      return Write({400, {}, "not an HTTP request\n"}, true);
    }
    if (error) return;  // gone, or too slow
    const auto& message = parser_->get();
    head_ = message.method() == http::verb::head;
    const bool last = !message.keep_alive() || ++requests_ >= kMaxRequestsPerConnection;
    const auto target = message.target();
    const size_t question = target.find('?');
    std::optional<std::string> path = PercentDecoded(target.substr(0, question));
    if (!path || path->empty() || (*path)[0] != '/') {
      return Write({400, {}, "the path is not a path\n"}, true);
    }
    HttpRequest request{.method = std::string(head_ ? "GET" : message.method_string()),
                        .path = *std::move(path),
                        .query = question == beast::string_view::npos
                                     ? ""
                                     : std::string(target.substr(question + 1)),
                        .body = std::move(parser_->get().body())};
    loop_->handler(request, ReplyOnce(last));
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
        const std::shared_ptr<Connection> to = std::exchange(connection, nullptr);
        if (to == nullptr) return;
        const std::shared_ptr<Loop> loop = to->loop_;
        absl::MutexLock lock(&loop->mutex);
        if (loop->closed) return;  // and the connection goes, with `to`, after the lock
        asio::post(loop->context, [to, response = std::move(response), l = last]() mutable {
          to->Write(std::move(response), l);
        });
      }
      ~Answer() { Give({500, {}, "the request was lost inside the server\n"}); }
    };
    auto answer = std::make_unique<Answer>(this->shared_from_this(), last);
    return [answer = std::move(answer)](HttpResponse response) mutable {
      answer->Give(std::move(response));
    };
  }

  void Write(HttpResponse response, bool last) {
    auto message = std::make_shared<http::response<http::string_body>>();
    message->version(11);
    message->result(static_cast<unsigned>(response.status));
    message->set(http::field::content_type, response.content_type.empty()
                                                ? "text/plain; charset=utf-8"
                                                : response.content_type);
    message->set("X-Content-Type-Options", "nosniff");
    message->set(http::field::cache_control, "no-store");
    message->keep_alive(!last);
    message->body() = std::move(response.body);
    message->prepare_payload();
    if (head_) message->body().clear();
    stream_.expires_after(kPatience);
    http::async_write(
        stream_, *message,
        [self = this->shared_from_this(), message, last](beast::error_code error, size_t) {
          if (!error && !last) return self->Read();
          beast::error_code ignored;
          self->stream_.socket().shutdown(tcp::socket::shutdown_send, ignored);
        });
  }

  const std::shared_ptr<Loop> loop_;  // outlives the stream, which belongs to its context
  beast::tcp_stream stream_;
  beast::flat_buffer buffer_;
  std::optional<http::request_parser<http::string_body>> parser_;
  bool head_ = false;
  int requests_ = 0;
};

template <class Loop>
size_t CountOf(Loop& loop) {
  absl::MutexLock lock(&loop.mutex);
  return loop.open.size();
}

template <class Loop>
void Accept(std::shared_ptr<Loop> loop, tcp::acceptor& acceptor) {
  acceptor.async_accept([loop, &acceptor](beast::error_code error, tcp::socket socket) {
    if (error == asio::error::operation_aborted || !acceptor.is_open()) return;
    // One connection too many is closed at once, rather than left to wait without a word.
    if (!error && CountOf(*loop) < kMaxConnections) {
      std::make_shared<Connection<Loop>>(std::move(socket), loop)->Read();
    }
    Accept(loop, acceptor);
  });
}

}  // namespace

absl::StatusOr<std::unique_ptr<HttpServer>> HttpServer::Start(
    const std::vector<std::string>& addresses, HttpHandler handler) {
  std::unique_ptr<HttpServer> server(new HttpServer(std::move(handler)));
  for (const std::string& address : addresses) {
    absl::StatusOr<HostPort> at = ReadAddress(address);
    if (!at.ok()) return at.status();
    beast::error_code error;
    const auto ip = asio::ip::make_address(at->host, error);
    if (error) {
      return absl::InvalidArgumentError(
          absl::StrFormat("--http-listen: got \"%s\", want an IP address as the host", address));
    }
    auto acceptor = std::make_unique<tcp::acceptor>(server->loop_->context);
    const tcp::endpoint endpoint(ip, at->port);
    acceptor->open(endpoint.protocol(), error);
    if (!error) acceptor->set_option(asio::socket_base::reuse_address(true), error);
    if (!error) acceptor->bind(endpoint, error);
    if (!error) acceptor->listen(asio::socket_base::max_listen_connections, error);
    if (error) {
      return absl::UnavailableError(
          absl::StrFormat("%s: cannot be listened on: %s", address, error.message()));
    }
    const std::string host =
        at->host.find(':') == std::string::npos ? at->host : absl::StrCat("[", at->host, "]");
    server->addresses_.push_back(absl::StrCat(host, ":", acceptor->local_endpoint().port()));
    server->loop_->acceptors.push_back(std::move(acceptor));
  }
  for (const std::unique_ptr<tcp::acceptor>& acceptor : server->loop_->acceptors) {
    Accept(server->loop_, *acceptor);
  }
  server->thread_ = std::thread([loop = server->loop_] { loop->context.run(); });
  return server;
}

HttpServer::HttpServer(HttpHandler handler) : loop_(std::make_shared<Loop>(std::move(handler))) {}

HttpServer::~HttpServer() {
  {
    absl::MutexLock lock(&loop_->mutex);
    loop_->closed = true;
    asio::post(loop_->context, [loop = loop_] {
      for (const auto& acceptor : loop->acceptors) acceptor->close();
      absl::MutexLock closing(&loop->mutex);
      // What waits on them is called back with an error and lets go.
      for (beast::tcp_stream* stream : loop->open) stream->close();
    });
  }
  if (thread_.joinable()) {
    thread_.join();
  } else {
    loop_->context.run();  // Start failed before there was a thread
  }
}

}  // namespace epsledger::transport
