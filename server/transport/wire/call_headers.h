#ifndef EPSLEDGER_SERVER_TRANSPORT_WIRE_CALL_HEADERS_H_
#define EPSLEDGER_SERVER_TRANSPORT_WIRE_CALL_HEADERS_H_

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "grpcpp/support/status.h"
#include "server/transport/wire/services.h"

namespace epsledger::transport::wire {

// The headers of a call that this server uses. All other headers of the client are dropped.
class CallHeaders {
 public:
  // Takes one header. Returns false once all headers together exceed kMaxHeaderBytes; from then on
  // nothing is kept.
  bool Add(std::string_view name, std::string_view value);

  // Returns the HTTP status for a client that does not speak gRPC: 405 or 415; 200 if it speaks
  // gRPC.
  int http_status() const;
  // Returns OK, or the error in the headers:
  //   RESOURCE_EXHAUSTED  more than kMaxHeaderBytes
  //   UNIMPLEMENTED       encoded messages
  //   INVALID_ARGUMENT    a malformed grpc-timeout; a byte in "authorization" that is not text
  grpc::Status Check() const;

  // "/epsledger.v1.BudgetService/GetBudget".
  const std::string& path() const { return path_; }
  // Several headers are joined with ','.
  const std::optional<std::string>& authorization() const { return authorization_; }
  // The User-Agent, cut at kMaxClientBytes; empty if it is not visible text.
  const std::string& client() const { return client_; }
  // The x-request-id and the traceparent, if ShownRequestId and ShownTraceparent accept them.
  const std::string& request_id() const { return request_id_; }
  const std::string& traceparent() const { return traceparent_; }
  // Counts from the arrival of the headers; nullopt: the client waits forever.
  std::optional<std::chrono::nanoseconds> timeout() const;

 private:
  size_t bytes_ = 0;
  std::string method_;
  std::string path_;
  std::string content_type_;
  std::string encoding_;
  std::string timeout_;
  std::optional<std::string> authorization_;
  std::string client_;
  std::string request_id_;
  std::string traceparent_;
};

// Returns the part of a client's User-Agent that is shown to others: visible ASCII, at most
// kMaxClientBytes.
std::string ShownClient(std::string_view user_agent);
// Returns the client's name for its call: visible ASCII without spaces, at most kMaxRequestIdBytes;
// empty if `x_request_id` is not one.
std::string ShownRequestId(std::string_view x_request_id);
// Returns the name of a call: the client's name for it, or one that no other call of this process
// has.
std::string RequestIdOf(const CallOrigin& origin);
// Returns "00-" trace id "-" parent id "-" flags, in lower-case hexadecimal digits (W3C Trace
// Context, 3.2); empty if `traceparent` is not of that form.
std::string ShownTraceparent(std::string_view traceparent);

// Reads "250m" as 250 milliseconds: up to eight digits and a unit of H, M, S, m, u, n. nullopt if
// `text` is not of that form.
std::optional<std::chrono::nanoseconds> ReadTimeout(std::string_view text);

// Names and values, as HTTP/2 sends them.
using Headers = std::vector<std::pair<std::string, std::string>>;
// Returns the trailers of a call: grpc-status, grpc-message in percent-encoding, the details.
Headers TrailersOf(const grpc::Status& status);

}  // namespace epsledger::transport::wire

#endif  // EPSLEDGER_SERVER_TRANSPORT_WIRE_CALL_HEADERS_H_
