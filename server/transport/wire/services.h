#ifndef EPSLEDGER_SERVER_TRANSPORT_WIRE_SERVICES_H_
#define EPSLEDGER_SERVER_TRANSPORT_WIRE_SERVICES_H_

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "grpcpp/channel.h"
#include "grpcpp/support/status.h"

namespace epsledger::transport::wire {

// What is known of the other end of a connection, beside what its calls say.
struct Peer {
  bool is_over_http = false;  // for a client of the other door, to which the wire is none
  bool is_on_this_machine = false;
  bool is_encrypted = false;
  // Verified; empty if there is none.
  std::string certificate_pem;
};

struct CallOrigin {
  // Nullptr: nothing is known, and others could have read what the call says.
  std::shared_ptr<const Peer> peer;
  std::optional<std::string> authorization;
};

// Who waits for the answer of a call with one. Thread-safe.
class Responder {
 public:
  virtual ~Responder() = default;
  // The answer, once. `message`: of a status that is OK.
  virtual void Respond(const grpc::Status& status, std::string message) = 0;
  // Nobody waits any more.
  virtual bool IsGone() = 0;
};

// A call with one request, which is whole, and one answer.
struct UnaryRequest {
  CallOrigin origin;
  std::string message;
  // When nobody waits any more.
  std::optional<std::chrono::steady_clock::time_point> deadline;
  std::unique_ptr<Responder> responder;
};

struct Method {
  std::string full_name;  // "epsledger.v1.BudgetService.GetBudget"
  // Answers a call, on any thread, at once or later. Empty for a method with a stream, which is
  // called through the channel.
  std::function<void(UnaryRequest)> unary;
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
  // A channel to the methods with streams. Called once for each thread.
  std::function<std::shared_ptr<grpc::Channel>()> new_channel;
  // Metadata by which the services believe what they are told of the peer.
  std::function<std::vector<std::pair<std::string, std::string>>(const Peer&)> introduce;
};

}  // namespace epsledger::transport::wire

#endif  // EPSLEDGER_SERVER_TRANSPORT_WIRE_SERVICES_H_
