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
  // PEM files, read again when they change. Set both, or neither for plaintext.
  std::string tls_certificate_file;
  std::string tls_key_file;
  // If set, clients must show a certificate that this CA signed.
  std::string tls_client_ca_file;
  // The time for a whole request to arrive, for an answer to be taken, and for an idle connection.
  std::chrono::milliseconds patience = std::chrono::seconds(15);
  // How fast one peer may connect (ConnectionRate).
  double peer_connections_per_second = 0;
};

// A small HTTP/1.1 server on one thread. The number of connections is bounded, in all and for each
// peer (connection_counts.h), and connections that send nothing make room for new ones
// (connection_room.h). The size of headers and bodies and the time of every read and write are
// bounded too. So slow and silent clients hold nothing for long: a request that does not arrive in
// time gets 408. A stream of chunks may last any time, but the client must take each chunk in time.
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

  // Returns its addresses, with the chosen port in place of 0.
  const std::vector<std::string>& addresses() const { return addresses_; }

 private:
  struct Loop;

  HttpServer(const HttpServerOptions& options, HttpHandler handler);

  std::shared_ptr<Loop> loop_;  // shared with late replies
  std::vector<std::string> addresses_;
  std::thread thread_;
};

}  // namespace epsledger::transport

#endif  // EPSLEDGER_SERVER_TRANSPORT_HTTP_HTTP_SERVER_H_
