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

// A real server in this process, on loopback, over a ledger in memory that holds what the good
// requests of tests/server/transport/good_requests.h ask for.
class FuzzedServer {
 public:
  FuzzedServer();
  ~FuzzedServer();

  // The ledger is as at first again, so that what an input does depends on that input alone.
  void Reset();

  core::DurableLedger& ledger();
  transport::Server& server() { return *server_; }

  // "127.0.0.1:port".
  const std::string& address() const { return server_->addresses()[0]; }

  // What the bytes of a request are answered; of a stream, its first answer. DEADLINE_EXCEEDED if
  // none comes in time.
  grpc::Status Call(const google::protobuf::MethodDescriptor& method, const std::string& bytes,
                    std::chrono::milliseconds patience);

  // Ends the process if the server does not say that it serves.
  void CheckHealth();
  // Ends the process if the stored entries are not those that give the ledgers from empty.
  void CheckLedgers();

 private:
  const std::unique_ptr<FreshLedger> ledger_;
  const std::unique_ptr<transport::Server> server_;
  const std::shared_ptr<grpc::Channel> channel_;
};

}  // namespace epsledger::fuzz

#endif  // EPSLEDGER_TESTS_FUZZ_FUZZED_SERVER_H_
