#ifndef EPSLEDGER_TESTS_FUZZ_FUZZED_SERVER_H_
#define EPSLEDGER_TESTS_FUZZ_FUZZED_SERVER_H_

#include <chrono>
#include <memory>
#include <string>

#include "google/protobuf/descriptor.h"
#include "grpcpp/channel.h"
#include "grpcpp/support/status.h"
#include "server/core/durable_ledger.h"
#include "server/transport/grpc/server.h"

namespace epsledger::fuzz {

class FreshLedger;

// A real server in this process, on loopback, over a ledger in memory that holds the resources that
// the good requests of tests/server/transport/good_requests.h name.
class FuzzedServer {
 public:
  FuzzedServer();
  ~FuzzedServer();

  // Resets the ledger, so that the effect of an input depends only on that input.
  void Reset();

  core::DurableLedger& ledger();
  transport::Server& server() { return *server_; }

  // "127.0.0.1:port".
  const std::string& address() const { return server_->addresses()[0]; }

  // Returns the answer to the bytes of a request; for a stream, the first answer. DEADLINE_EXCEEDED
  // if none comes in time.
  grpc::Status Call(const google::protobuf::MethodDescriptor& method, const std::string& bytes,
                    std::chrono::milliseconds patience);

  // Ends the process if the server does not report that it serves.
  void CheckHealth();
  // Ends the process if a replay of the stored entries from empty does not give the ledgers.
  void CheckLedgers();

 private:
  const std::unique_ptr<FreshLedger> ledger_;
  const std::unique_ptr<transport::Server> server_;
  const std::shared_ptr<grpc::Channel> channel_;
};

}  // namespace epsledger::fuzz

#endif  // EPSLEDGER_TESTS_FUZZ_FUZZED_SERVER_H_
