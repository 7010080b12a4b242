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

// The headers of a call as far as they mean something here. What a client says beside them goes
// nowhere.
class CallHeaders {
 public:
  // Takes one header. False, and from then on nothing is kept, if all of them are more than
  // kMaxHeaderBytes.
  bool Add(std::string_view name, std::string_view value);

  // What an HTTP client that speaks no gRPC is answered: 405 or 415; 200 if it does.
  int http_status() const;
  // OK, or what is wrong with them:
  //   RESOURCE_EXHAUSTED  more than kMaxHeaderBytes
  //   UNIMPLEMENTED       messages that are encoded
  //   INVALID_ARGUMENT    a grpc-timeout that is none; "authorization" with a byte that is no text
  grpc::Status Check() const;

  // "/epsledger.v1.BudgetService/GetBudget".
  const std::string& path() const { return path_; }
  // Several headers are joined by ','.
  const std::optional<std::string>& authorization() const { return authorization_; }
  // The User-Agent, cut at kMaxClientBytes; empty if it is not visible text.
  const std::string& client() const { return client_; }
  // The x-request-id and the traceparent, if they are what ShownRequestId and ShownTraceparent
  // take.
  const std::string& request_id() const { return request_id_; }
  const std::string& traceparent() const { return traceparent_; }
  // From the arrival of the headers; nothing: the client waits for ever.
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

// What a client says of itself, as far as it is shown to others: visible ASCII, at most
// kMaxClientBytes of it.
std::string ShownClient(std::string_view user_agent);
// The name that a client gives its call: visible ASCII without spaces, at most kMaxRequestIdBytes;
// empty if it is none.
std::string ShownRequestId(std::string_view x_request_id);
// What a call is known by: the client's name for it, or one that no other call of this process has.
std::string RequestIdOf(const CallOrigin& origin);
// "00-" trace id "-" parent id "-" flags, in lower-case hexadecimal digits (W3C Trace
// Context, 3.2); empty if it is none.
std::string ShownTraceparent(std::string_view traceparent);

// "250m" is 250 milliseconds: up to eight digits and a unit of H, M, S, m, u, n. Nothing if it is
// not of that form.
std::optional<std::chrono::nanoseconds> ReadTimeout(std::string_view text);

// Names and values, as HTTP/2 sends them.
using Headers = std::vector<std::pair<std::string, std::string>>;
// What a call ends with: grpc-status, grpc-message in percent-encoding, the details.
Headers TrailersOf(const grpc::Status& status);

}  // namespace epsledger::transport::wire

#endif  // EPSLEDGER_SERVER_TRANSPORT_WIRE_CALL_HEADERS_H_
