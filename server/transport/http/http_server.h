#ifndef EPSLEDGER_SERVER_TRANSPORT_HTTP_HTTP_SERVER_H_
#define EPSLEDGER_SERVER_TRANSPORT_HTTP_HTTP_SERVER_H_

#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/statusor.h"
#include "server/transport/http/http_message.h"

namespace epsledger::transport {

struct HttpServerOptions {
  // "host:port", port 0: any free one.
  std::vector<std::string> addresses;
  // PEM files, read again when they change. Together, or neither: then it is plaintext.
  std::string tls_certificate_file;
  std::string tls_key_file;
  // With it, clients must show a certificate that it signed.
  std::string tls_client_ca_file;
  // For a whole request to arrive, and for an answer to be taken. An idle connection has as long.
  std::chrono::milliseconds patience = std::chrono::seconds(15);
  // How fast one peer may connect (ConnectionRate).
  double peer_connections_per_second = 0;
};

// A small HTTP/1.1 server on one thread. Connections are bounded in number, in all and of a peer
// (connection_counts.h), headers and bodies in size, and every read and write in time, so that slow
// and silent clients hold nothing for long: a request that does not arrive in time is answered by
// 408. A stream of chunks has no end in time, but each of its chunks has to be taken in time.
class HttpServer {
 public:
  // INVALID_ARGUMENT for an address that cannot be read, UNAVAILABLE for one that cannot be
  // listened on, the errors of ReadTlsFiles for the files.
  static absl::StatusOr<std::unique_ptr<HttpServer>> Start(const HttpServerOptions& options,
                                                           HttpHandler handler);
  // Drops every connection.
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  // Where it listens, the chosen port in place of 0.
  const std::vector<std::string>& addresses() const { return addresses_; }

 private:
  struct Loop;

  HttpServer(const HttpServerOptions& options, HttpHandler handler);

  std::shared_ptr<Loop> loop_;  // shared with replies that come late
  std::vector<std::string> addresses_;
  std::thread thread_;
};

}  // namespace epsledger::transport

#endif  // EPSLEDGER_SERVER_TRANSPORT_HTTP_HTTP_SERVER_H_
