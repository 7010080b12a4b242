#ifndef EPSLEDGER_SERVER_TRANSPORT_HTTP_HTTP_SERVER_H_
#define EPSLEDGER_SERVER_TRANSPORT_HTTP_HTTP_SERVER_H_

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"

namespace epsledger::transport {

struct HttpRequest {
  std::string method;  // "GET"
  std::string path;    // "/metrics", percent-decoded, without the query
  std::string query;   // what follows "?", as it came
  std::string body;
};

struct HttpResponse {
  int status = 200;
  std::string content_type = "text/plain; charset=utf-8";
  std::string body;
};

// Answers one request, once, from any thread. Letting go of it without an answer answers 500.
using HttpReply = absl::AnyInvocable<void(HttpResponse) &&>;

// Called for every good request, on the server's thread: answer there or hand it on, never wait.
using HttpHandler = std::function<void(const HttpRequest& request, HttpReply reply)>;

// A small HTTP/1.1 server on one thread. Connections are bounded in number, headers and bodies in
// size, and every read and write in time, so that slow and silent clients hold nothing for long.
class HttpServer {
 public:
  // Listens on "host:port" (port 0: any free one). INVALID_ARGUMENT for an address that cannot be
  // read, UNAVAILABLE for one that cannot be listened on.
  static absl::StatusOr<std::unique_ptr<HttpServer>> Start(
      const std::vector<std::string>& addresses, HttpHandler handler);
  // Drops every connection.
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  // Where it listens, the chosen port in place of 0.
  const std::vector<std::string>& addresses() const { return addresses_; }

 private:
  struct Loop;

  explicit HttpServer(HttpHandler handler);

  std::shared_ptr<Loop> loop_;  // shared with replies that come late
  std::vector<std::string> addresses_;
  std::thread thread_;
};

}  // namespace epsledger::transport

#endif  // EPSLEDGER_SERVER_TRANSPORT_HTTP_HTTP_SERVER_H_
