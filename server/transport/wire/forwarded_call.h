#ifndef EPSLEDGER_SERVER_TRANSPORT_WIRE_FORWARDED_CALL_H_
#define EPSLEDGER_SERVER_TRANSPORT_WIRE_FORWARDED_CALL_H_

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "grpcpp/generic/generic_stub.h"
#include "grpcpp/support/status.h"

namespace epsledger::transport::wire {

// Who is told how a forwarded call goes on. Called from threads of gRPC's, never from within a
// function of the call.
class CallObserver {
 public:
  virtual ~CallObserver() = default;
  // The next message of the answer. The one after it comes once ForwardedCall::Read is called.
  virtual void OnMessage(std::string message) = 0;
  // What ForwardedCall::Write was given is taken. Not called once the call is ending.
  virtual void OnWritten() = 0;
  // The end, once.
  virtual void OnEnd(const grpc::Status& status) = 0;
};

struct ForwardedHead {
  std::string path;
  std::vector<std::pair<std::string, std::string>> metadata;
  std::optional<std::chrono::system_clock::time_point> deadline;
};

// One call with streams to the services of this process, made for a client. Thread-safe.
class ForwardedCall {
 public:
  virtual ~ForwardedCall() = default;

  // The first message of the answer is read without being asked for.
  static std::shared_ptr<ForwardedCall> Start(grpc::GenericStub& stub, const ForwardedHead& head,
                                              std::unique_ptr<CallObserver> observer);

  virtual void Cancel() = 0;
  // Gives the next message. REQUIRES: OnWritten came for the one before.
  virtual void Write(const std::string& message) = 0;
  // No message follows. REQUIRES: as Write; once.
  virtual void WritesDone() = 0;
  // Asks for the next message. REQUIRES: OnMessage came, once for each.
  virtual void Read() = 0;
};

}  // namespace epsledger::transport::wire

#endif  // EPSLEDGER_SERVER_TRANSPORT_WIRE_FORWARDED_CALL_H_
