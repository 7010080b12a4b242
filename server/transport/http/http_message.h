#ifndef EPSLEDGER_SERVER_TRANSPORT_HTTP_HTTP_MESSAGE_H_
#define EPSLEDGER_SERVER_TRANSPORT_HTTP_HTTP_MESSAGE_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/functional/any_invocable.h"

namespace epsledger::transport {

// Names are in lower case.
using HttpHeaders = std::vector<std::pair<std::string, std::string>>;

struct HttpRequest {
  std::string method;  // "GET"
  std::string path;    // "/metrics", percent-decoded, without the query
  std::string query;   // the part after "?", as received
  std::string body;
  HttpHeaders headers;
  bool tls = false;
  // Verified. Empty if the server asks for none.
  std::string client_certificate_pem;
  // Nobody on the way can read the request: it came over TLS or from this machine.
  bool confidential = false;
  std::string peer;  // "192.0.2.7:50211"
  // As in wire::CallOrigin.
  std::string request_id;
  std::string traceparent;

  // Returns the value of the header, the first one if it occurs several times; empty if it is
  // missing.
  std::string_view Header(std::string_view name) const;
};

// A body that is sent while it is generated, chunk by chunk.
class ChunkSource {
 public:
  using Give = absl::AnyInvocable<void(std::optional<std::string>) &&>;

  // Ends the body. Nobody wants another chunk: the client has gone, or takes too little.
  virtual ~ChunkSource() = default;

  // Calls `give` once, from any thread, with the next bytes (at least one), or with nullopt at the
  // end. The caller calls Next again only after that.
  virtual void Next(Give give) = 0;
};

struct HttpResponse {
  int status = 200;
  std::string content_type = "text/plain; charset=utf-8";
  std::string body;
  HttpHeaders headers;
  // If set, the body follows in chunks, and `body` is not sent.
  std::shared_ptr<ChunkSource> chunks;
};

// Answers one request, once, from any thread. Destroying it without an answer answers 500.
using HttpReply = absl::AnyInvocable<void(HttpResponse) &&>;

// Called for every valid request, on the server's thread. It must answer there or hand the request
// on, and never wait.
using HttpHandler = std::function<void(const HttpRequest& request, HttpReply reply)>;

// Returns an error in the form of every route: JSON with a code and a message.
HttpResponse HttpError(int status, std::string_view code, std::string_view message);

// Decodes "%41" to "A". Returns nullopt for a bad or a control character. `plus_is_space` is for
// queries.
std::optional<std::string> PercentDecoded(std::string_view text, bool plus_is_space = false);

// Decodes a path. Returns nullopt if PercentDecoded does, for an encoded '%', '/' or NUL, and for
// an encoded character that needs no encoding ("%6d" for "m"): a filter in front of this server
// would see another path. A letter, a digit and one of "-._~" need no encoding (RFC 3986, 2.3).
std::optional<std::string> DecodedPath(std::string_view text);

// Returns the decoded parameters of a query, in their order; nullopt if one is bad.
std::optional<std::vector<std::pair<std::string, std::string>>> QueryParameters(
    std::string_view query);

}  // namespace epsledger::transport

#endif  // EPSLEDGER_SERVER_TRANSPORT_HTTP_HTTP_MESSAGE_H_
