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

// A caller over HTTP, as the gRPC services see it.
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

// Calls the gRPC services of this process, so that a request over HTTP passes the same admission,
// the same limits and the same handlers as one over gRPC. Thread-safe.
class RpcGateway {
 public:
  explicit RpcGateway(InProcess services);

  // Returns the methods of epsledger.v1 with one request and one answer.
  static const std::vector<const google::protobuf::MethodDescriptor*>& UnaryMethods();
  // Finds a method by its full name, "epsledger.v1.BudgetService.GetBudget". nullptr if none
  // exists.
  static const google::protobuf::MethodDescriptor* FindUnaryMethod(std::string_view full_name);

  // Returns an empty request of the method.
  static std::unique_ptr<google::protobuf::Message> NewRequest(
      const google::protobuf::MethodDescriptor& method);

  // The answer is set if the status is OK.
  using Done =
      absl::AnyInvocable<void(const grpc::Status&, std::unique_ptr<google::protobuf::Message>) &&>;

  // Answers every new call with UNAVAILABLE, and returns once all open calls are answered, or after
  // `patience`. Open streams continue. Must be called before the server behind it stops.
  void Drain(absl::Duration patience);

  // Calls `done` once, from a thread of the server or before this returns. REQUIRES: a unary
  // method; `request` is of its type.
  void Call(const google::protobuf::MethodDescriptor& method,
            const google::protobuf::Message& request, const HttpCaller& caller,
            absl::Duration timeout, Done done);

  // A stream of answers that is read message by message.
  class Stream {
   public:
    using Message = absl::AnyInvocable<void(std::unique_ptr<google::protobuf::Message>) &&>;

    // Cancels the stream, and drops a pending Read, unless its callback is running at this moment.
    virtual ~Stream() = default;
    // Calls `message` once, from any thread, with the next message, or with nullptr at the end. The
    // caller calls Read again only after that.
    virtual void Read(Message message) = 0;
    // Returns the final status of the stream. REQUIRES: `message` was nullptr.
    virtual grpc::Status status() const = 0;
  };
  // Opens a stream. REQUIRES: a method with a stream of answers to one request.
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
