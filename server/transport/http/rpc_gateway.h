#ifndef EPSLEDGER_SERVER_TRANSPORT_HTTP_RPC_GATEWAY_H_
#define EPSLEDGER_SERVER_TRANSPORT_HTTP_RPC_GATEWAY_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/time/time.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/message.h"
#include "grpcpp/support/status.h"
#include "server/transport/grpc/server.h"

namespace epsledger::transport {

// Who calls over HTTP, as the gRPC services will see it.
struct HttpCaller {
  std::string authorization;  // "Bearer epsl_..."; empty: nobody in particular
  // As in HttpRequest.
  bool tls = false;
  bool confidential = false;
  std::string client_certificate_pem;
  std::string peer;
  // As in wire::CallOrigin.
  std::string client;
  std::string request_id;
  std::string traceparent;
};

// Calls the gRPC services of this very process, so that a request over HTTP passes the same door,
// the same limits and the same handlers as one over gRPC. Thread-safe.
class RpcGateway {
 public:
  explicit RpcGateway(InProcess services);

  // The methods of epsledger.v1 that take one request and give one answer, by their full names
  // "epsledger.v1.BudgetService.GetBudget".
  static const std::vector<const google::protobuf::MethodDescriptor*>& UnaryMethods();
  // nullptr if there is none.
  static const google::protobuf::MethodDescriptor* FindUnaryMethod(std::string_view full_name);

  // An empty request of the method.
  static std::unique_ptr<google::protobuf::Message> NewRequest(
      const google::protobuf::MethodDescriptor& method);

  // The answer is set if the status is OK.
  using Done =
      absl::AnyInvocable<void(const grpc::Status&, std::unique_ptr<google::protobuf::Message>) &&>;

  // Answers every call that comes from now on with UNAVAILABLE, and returns once those that are
  // open are answered, or after `patience`. Streams that are open go on. Before the server behind
  // it stops.
  void Drain(absl::Duration patience);

  // Calls `done` once, from a thread of the server's or at once. REQUIRES: a unary method;
  // `request` is its own.
  void Call(const google::protobuf::MethodDescriptor& method,
            const google::protobuf::Message& request, const HttpCaller& caller,
            absl::Duration timeout, Done done);

  // A server's stream that is read message by message.
  class Stream {
   public:
    using Message = absl::AnyInvocable<void(std::unique_ptr<google::protobuf::Message>) &&>;

    // Cancels it, and drops what was asked for, unless it is being called at this moment.
    virtual ~Stream() = default;
    // Calls `message` once with the next one, from any thread; or with nullptr at the end.
    // Not called again before that.
    virtual void Read(Message message) = 0;
    // Once `message` was nullptr: what the stream ended with.
    virtual grpc::Status status() const = 0;
  };
  // REQUIRES: a method with a stream of answers to one request.
  std::unique_ptr<Stream> Open(const google::protobuf::MethodDescriptor& method,
                               const google::protobuf::Message& request, const HttpCaller& caller);

 private:
  class Answer;
  class Doorkeeper;

  const InProcess services_;
  const std::shared_ptr<Doorkeeper> doorkeeper_;
};

}  // namespace epsledger::transport

#endif  // EPSLEDGER_SERVER_TRANSPORT_HTTP_RPC_GATEWAY_H_
