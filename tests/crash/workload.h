#ifndef EPSLEDGER_TESTS_CRASH_WORKLOAD_H_
#define EPSLEDGER_TESTS_CRASH_WORKLOAD_H_

#include <grpcpp/grpcpp.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "server/storage/ledger_store.h"

namespace epsledger {

// What a client learned about one ledger entry, and when it asked and got the answer. `began` is
// the time of the first try: the client asks for an unknown outcome again under the same key until
// it is known.
struct Acknowledged {
  using Clock = std::chrono::steady_clock;
  std::string root;
  std::string key;  // "session name/attempt/charge id", or "" for an attempt
  int64_t sequence = 0;
  std::string hash;
  bool accepted = false;
  Clock::time_point began;
  Clock::time_point ended;
};

// Clients of one server, or of several over one database, that do everything that charges: single
// charges, batches of both kinds, leases and their settlement, tickets of plans, new attempts,
// zombies of old attempts, freezing and thawing, new budgets. They remember all answers.
//
// A client never gives up an outcome: it asks for an unknown outcome until it is known, whatever
// happens to the server in the meantime.
class Workload {
 public:
  struct Options {
    int workers = 8;
    uint64_t seed = 1;
    int64_t operations = INT64_MAX;  // the clients stop after this many
    // The share of tries with a deadline shorter than a call takes, and of calls that are sent
    // twice simultaneously or again later.
    double hostility = 0.05;
    // Each client calls it after each of its operations, with the number of operations of all
    // clients.
    std::function<void(int64_t done)> after_operation = {};
  };

  // The server must be at `address` whenever it runs. With several servers, each operation goes to
  // any of them.
  Workload(std::string address, Options options)
      : Workload(std::vector<std::string>{std::move(address)}, std::move(options)) {}
  Workload(std::vector<std::string> addresses, Options options);
  ~Workload();

  // Creates budgets and sessions. The ledger of an earlier process may have them already.
  void SetUp();
  void Start();
  // Waits until `more` operations have ended. Returns false if all clients have stopped.
  bool WaitForMore(int64_t more);
  // Lets the clients finish their current operations and stop.
  void Finish();
  // Waits until `operations` are done.
  void Wait();

  int64_t operations() const { return done_; }
  int64_t unknown_outcomes() const { return unknown_outcomes_; }
  int64_t rollbacks() const { return rollbacks_; }

  // Reads the ledger file of a server that has stopped, and compares it with the answers that the
  // clients got: every acknowledged entry is stored under its number and hash, no key is stored
  // twice, nothing was charged without a request, the chain verifies, no cap is exceeded, the spend
  // is the sum of what was accepted, nothing was accepted from a fenced attempt or under a frozen
  // budget, and a call that ended before another began has the smaller number. Checks with EXPECT.
  // REQUIRES: the clients have stopped.
  void Verify(const std::string& data_dir);
  void Verify(storage::LedgerStore& store);

  // Returns the answers that the clients got, by sequence number: the key, and "accepted" or
  // "refused".
  std::map<int64_t, std::string> Decisions() const;

  // After Verify: the numbers of charges that were acknowledged as accepted and as refused.
  int64_t accepted() const { return accepted_; }
  int64_t refused() const { return refused_; }

 private:
  class Worker;

  const std::vector<std::string> addresses_;
  const Options options_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<std::thread> threads_;
  std::atomic<bool> stop_{false};
  std::atomic<int64_t> begun_{0};
  std::atomic<int64_t> done_{0};
  std::atomic<int64_t> unknown_outcomes_{0};
  std::atomic<int64_t> rollbacks_{0};
  int64_t accepted_ = 0;
  int64_t refused_ = 0;
  std::mutex mutex_;
  std::condition_variable progress_;
  int running_ = 0;  // under mutex_
};

}  // namespace epsledger

#endif  // EPSLEDGER_TESTS_CRASH_WORKLOAD_H_
