#ifndef EPSLEDGER_SERVER_TRANSPORT_WIRE_SERVICES_H_
#define EPSLEDGER_SERVER_TRANSPORT_WIRE_SERVICES_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "grpcpp/support/status.h"

namespace epsledger::transport::wire {

// What is known about the other end of a connection, besides the data of its calls.
struct Peer {
  bool is_over_http = false;  // the client uses HTTP, not this wire
  bool is_on_this_machine = false;
  bool is_encrypted = false;
  std::string address;  // "192.0.2.7:50211"; empty for a unix socket
  uint64_t number = 0;  // of the connection, in this process
  // Verified; empty if the client has none.
  std::string certificate_pem;
};

struct CallOrigin {
  // nullptr: nothing is known, and others could have read the call.
  std::shared_ptr<const Peer> peer;
  std::optional<std::string> authorization;
  // The client's User-Agent: visible ASCII of at most kMaxClientBytes.
  std::string client;
  // The client's x-request-id: visible ASCII of at most kMaxRequestIdBytes. Empty: it sent no valid
  // one, and RequestIdOf names the call.
  std::string request_id;
  int32_t number = 0;  // of the call, on its connection
  // W3C Trace Context as the client sent it. Empty if it sent no valid one.
  std::string traceparent;
};

// The receiver of the answer of a call with one answer. Thread-safe.
class Responder {
 public:
  virtual ~Responder() = default;
  // Gives the answer, once. `message`: used if the status is OK.
  virtual void Respond(const grpc::Status& status, std::string message) = 0;
  // Returns true if nobody waits any more.
  virtual bool IsGone() = 0;
  // Called before the answer if the caller asks too fast: for this time nothing more is read from
  // the client. Data that it has already sent waits.
  virtual void SlowDown(std::chrono::nanoseconds /*pause*/) {}
};

// A call with one complete request and one answer.
struct UnaryRequest {
  CallOrigin origin;
  std::string message;
  // When nobody waits any more.
  std::optional<std::chrono::steady_clock::time_point> deadline;
  std::unique_ptr<Responder> responder;
};

// The client of a call with streams, as the code that answers sees it. Call its functions without
// holding a mutex that a function of the call takes: each may call the call back before it returns.
// Thread-safe.
class StreamClient {
 public:
  virtual ~StreamClient() = default;
  // Asks for the next request, or for the news that none follows. REQUIRES: a method that takes a
  // stream; the previous one has come.
  virtual void AskForRequest() = 0;
  // Gives the next answer. `more_follow`: other answers follow soon, and this one may be sent with
  // them. REQUIRES: StreamedCall::OnAnswerTaken came for the previous one.
  virtual void Answer(std::string message, bool more_follow) = 0;
  // Asks for StreamedCall::OnWoken on the thread that brings the client's requests: there, results
  // from several threads are answered together. One OnWoken may serve several Wakes.
  virtual void Wake() = 0;
  // Like Responder::SlowDown, called before the end.
  virtual void SlowDown(std::chrono::nanoseconds /*pause*/) {}
  // Gives the end, once, and nothing after it.
  virtual void End(const grpc::Status& status) = 0;
};

// A call with streams, implemented by the code that answers it. Thread-safe.
class StreamedCall {
 public:
  virtual ~StreamedCall() = default;
  // Answers to StreamClient::AskForRequest: a request, or the news that none follows.
  virtual void OnRequest(std::string message) = 0;
  virtual void OnNoMoreRequests() = 0;
  // The client has taken the answer, or there is room for another one besides it.
  virtual void OnAnswerTaken() = 0;
  // The answer to StreamClient::Wake.
  virtual void OnWoken() {}
  // Nobody waits for the answers any more. The call still ends.
  virtual void OnGone() = 0;
};

struct StreamRequest {
  CallOrigin origin;
  // The request of a method that takes one. The requests of a stream come through AskForRequest.
  std::string message;
  // When nobody waits any more.
  std::optional<std::chrono::steady_clock::time_point> deadline;
  std::unique_ptr<StreamClient> client;
};

// Exactly one of `unary` and `stream` is set.
struct Method {
  std::string full_name;  // "epsledger.v1.BudgetService.GetBudget"
  // Answers a call with one request and one answer, on any thread, before it returns or later.
  std::function<void(UnaryRequest)> unary;
  // Begins a call whose answers are a stream. If the client gets the end before this returns, the
  // result may be nullptr.
  std::function<std::shared_ptr<StreamedCall>(StreamRequest)> stream;
  // Its requests are a stream too. Other methods are called once their request is complete.
  bool takes_stream = false;
  // Strangers may call it: health and reflection.
  bool is_open = false;
  size_t max_request_bytes = 0;
  // The bytes reserved for an answer of a call without streams while it is made; few answers are
  // longer.
  size_t usual_answer_bytes = 0;
};

// The services that answer the calls of the wire, in this process.
struct Services {
  // By path, "/epsledger.v1.BudgetService/GetBudget". Other paths are UNIMPLEMENTED.
  std::map<std::string, Method, std::less<>> methods;
  // Returns whether a caller may call the method. Asked before an incomplete request is taken; the
  // services ask again.
  std::function<grpc::Status(const Method&, const CallOrigin&)> admit;
};

}  // namespace epsledger::transport::wire

#endif  // EPSLEDGER_SERVER_TRANSPORT_WIRE_SERVICES_H_
