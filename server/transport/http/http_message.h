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
  std::string query;   // what follows "?", as it came
  std::string body;
  HttpHeaders headers;
  bool tls = false;
  // Verified; empty where none is asked for.
  std::string client_certificate_pem;
  // Nobody on the way can read it: it came over TLS or from this machine.
  bool confidential = false;
  std::string peer;  // "192.0.2.7:50211"
  // As in wire::CallOrigin.
  std::string request_id;
  std::string traceparent;

  // The value of the header, the first where there are several; empty if there is none.
  std::string_view Header(std::string_view name) const;
};

// A body that is sent while it comes into being, chunk by chunk.
class ChunkSource {
 public:
  using Give = absl::AnyInvocable<void(std::optional<std::string>) &&>;

  // Ends it, with nobody left who wants a chunk: the client has gone, or takes too little.
  virtual ~ChunkSource() = default;

  // Calls `give` once, from any thread, with the next bytes, at least one; or with nothing at the
  // end. Not called again before that.
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

// Answers one request, once, from any thread. Letting go of it without an answer answers 500.
using HttpReply = absl::AnyInvocable<void(HttpResponse) &&>;

// Called for every good request, on the server's thread: answer there or hand it on, never wait.
using HttpHandler = std::function<void(const HttpRequest& request, HttpReply reply)>;

// An error as every route of ours says it: JSON with a code and a message.
HttpResponse HttpError(int status, std::string_view code, std::string_view message);

// "%41" is "A"; nothing for a bad or a control character. `plus_is_space` for queries.
std::optional<std::string> PercentDecoded(std::string_view text, bool plus_is_space = false);

// A path, decoded. Nothing for what PercentDecoded refuses, for a '%', a '/' or a NUL that is
// written with a '%', and for what needs none ("%6d" for "m"): whoever filters paths before this
// server would see another path. A letter, a digit and one of "-._~" need none (RFC 3986, 2.3).
std::optional<std::string> DecodedPath(std::string_view text);

// The parameters of a query, decoded, in their order; nothing if one is bad.
std::optional<std::vector<std::pair<std::string, std::string>>> QueryParameters(
    std::string_view query);

}  // namespace epsledger::transport

#endif  // EPSLEDGER_SERVER_TRANSPORT_HTTP_HTTP_MESSAGE_H_
