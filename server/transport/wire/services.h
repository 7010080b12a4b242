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

// What is known of the other end of a connection, beside what its calls say.
struct Peer {
  bool is_over_http = false;  // for a client of the other door, to which the wire is none
  bool is_on_this_machine = false;
  bool is_encrypted = false;
  std::string address;  // "192.0.2.7:50211"; empty of a unix socket
  uint64_t number = 0;  // of the connection, in this process
  // Verified; empty if there is none.
  std::string certificate_pem;
};

struct CallOrigin {
  // Nullptr: nothing is known, and others could have read what the call says.
  std::shared_ptr<const Peer> peer;
  std::optional<std::string> authorization;
  // What the client says of itself, its User-Agent: visible ASCII of at most kMaxClientBytes.
  std::string client;
  // x-request-id of the client: visible ASCII of at most kMaxRequestIdBytes. Empty: it said none
  // that is valid, and the call is known by RequestIdOf.
  std::string request_id;
  int32_t number = 0;  // of the call, on its connection
  // W3C Trace Context as the client sent it. Empty if it sent none that is valid.
  std::string traceparent;
};

// Who waits for the answer of a call with one. Thread-safe.
class Responder {
 public:
  virtual ~Responder() = default;
  // The answer, once. `message`: of a status that is OK.
  virtual void Respond(const grpc::Status& status, std::string message) = 0;
  // Nobody waits any more.
  virtual bool IsGone() = 0;
  // Before the answer: the caller asks too fast, and nothing more is to be read of the client for
  // so long. What it has sent waits.
  virtual void SlowDown(std::chrono::nanoseconds /*pause*/) {}
};

// A call with one request, which is whole, and one answer.
struct UnaryRequest {
  CallOrigin origin;
  std::string message;
  // When nobody waits any more.
  std::optional<std::chrono::steady_clock::time_point> deadline;
  std::unique_ptr<Responder> responder;
};

// Who made a call with streams, for the one who answers it. Its functions are called under no mutex
// that a function of the call takes: each may call the call back before it returns. Thread-safe.
class StreamClient {
 public:
  virtual ~StreamClient() = default;
  // The next request is wanted, or to know that none follows. REQUIRES: a method that takes a
  // stream; the one before has come.
  virtual void AskForRequest() = 0;
  // The next answer. `more_follow`: others follow soon, with which it may be sent. REQUIRES:
  // StreamedCall::OnAnswerTaken came for the one before.
  virtual void Answer(std::string message, bool more_follow) = 0;
  // StreamedCall::OnWoken is wanted, on the thread that the client's requests come on: what several
  // threads have brought is answered there together. One call of it may answer several wishes.
  virtual void Wake() = 0;
  // As Responder::SlowDown, before the end.
  virtual void SlowDown(std::chrono::nanoseconds /*pause*/) {}
  // The end, once, and nothing after it.
  virtual void End(const grpc::Status& status) = 0;
};

// A call with streams, in the hands of who answers it. Thread-safe.
class StreamedCall {
 public:
  virtual ~StreamedCall() = default;
  // What StreamClient::AskForRequest asked for: a request, or that none follows.
  virtual void OnRequest(std::string message) = 0;
  virtual void OnNoMoreRequests() = 0;
  // The client has taken the answer, or there is room for another one beside it.
  virtual void OnAnswerTaken() = 0;
  // What StreamClient::Wake asked for.
  virtual void OnWoken() {}
  // Nobody waits for the answers any more. The call still ends.
  virtual void OnGone() = 0;
};

struct StreamRequest {
  CallOrigin origin;
  // The request of a method that takes one. The requests of a stream are asked for.
  std::string message;
  // When nobody waits any more.
  std::optional<std::chrono::steady_clock::time_point> deadline;
  std::unique_ptr<StreamClient> client;
};

// One of `unary` and `stream` is set.
struct Method {
  std::string full_name;  // "epsledger.v1.BudgetService.GetBudget"
  // Answers a call with one request and one answer, on any thread, at once or later.
  std::function<void(UnaryRequest)> unary;
  // Begins a call whose answers are a stream. The client may be told of the end before this
  // returns; then it may be nullptr.
  std::function<std::shared_ptr<StreamedCall>(StreamRequest)> stream;
  // Its requests are a stream too. A method without one is called once its request is whole.
  bool takes_stream = false;
  // Strangers may call it: health and reflection.
  bool is_open = false;
  size_t max_request_bytes = 0;
  // What an answer of a call without streams may take, but for a few: so much is set aside for it
  // while it is made.
  size_t usual_answer_bytes = 0;
};

// The services that answer the calls of the wire, in this process.
struct Services {
  // By path, "/epsledger.v1.BudgetService/GetBudget". Others are UNIMPLEMENTED.
  std::map<std::string, Method, std::less<>> methods;
  // Whether a caller may call the method, asked before a request is taken that is not whole. The
  // services ask again.
  std::function<grpc::Status(const Method&, const CallOrigin&)> admit;
};

}  // namespace epsledger::transport::wire

#endif  // EPSLEDGER_SERVER_TRANSPORT_WIRE_SERVICES_H_
