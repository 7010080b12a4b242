#ifndef EPSLEDGER_TESTS_BENCHMARK_CHARGE_LOAD_H_
#define EPSLEDGER_TESTS_BENCHMARK_CHARGE_LOAD_H_

#include <grpcpp/grpcpp.h>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "epsledger/v1/charge_service.grpc.pb.h"

namespace epsledger {

// Connections to the servers of one ledger, and the attempts that are charged. The number of
// connections does not depend on the number of servers.
class ChargeLoad {
 public:
  static constexpr int kConnections = 4;

  // Connection i goes to address i modulo the number of addresses.
  explicit ChargeLoad(const std::vector<std::string>& addresses);

  const std::shared_ptr<grpc::Channel>& channel(int connection) const {
    return connections_[connection].channel;
  }

  struct Shape {
    int calls_in_flight = 64;  // over all connections
    int charges_a_call = 1;    // 1: Charge, more: BatchCharge
  };

  // Charges the attempts, a list for each connection, for the given time. Each connection takes its
  // attempts in turn, with one call of an attempt at a time, so that the charge ids of each attempt
  // arrive in order. Returns charges per second. A call that fails ends the program.
  // REQUIRES: each connection has as many attempts as calls in flight.
  double Run(const Shape& shape, const std::vector<std::vector<std::string>>& attempts,
             std::chrono::milliseconds duration);

 private:
  struct Connection {
    std::shared_ptr<grpc::Channel> channel;
    std::unique_ptr<v1::ChargeService::Stub> stub;
    std::deque<std::string> free_attempts;
  };
  struct Call;

  void Next(Connection& connection);
  void Done(const Call& call, const grpc::Status& status, bool accepted);

  std::vector<Connection> connections_;
  // Seven digits.
  int64_t next_id_ = 1'000'000;
  Shape shape_;
  std::chrono::steady_clock::time_point end_;
  std::mutex mutex_;
  std::condition_variable done_;
  int running_ = 0;
  int64_t charged_ = 0;
};

}  // namespace epsledger

#endif  // EPSLEDGER_TESTS_BENCHMARK_CHARGE_LOAD_H_
