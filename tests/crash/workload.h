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

// What a client was told of one ledger entry, and when it asked and heard. `began` is that of the
// first try: an unknown outcome is asked for again under the same key until it is known.
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
// zombies of old ones, freezing and thawing, new budgets; and that remember what they were told.
//
// A client never gives an outcome up: what is unknown is asked for until it is known, whatever
// happens to the server meanwhile.
class Workload {
 public:
  struct Options {
    int workers = 8;
    uint64_t seed = 1;
    int64_t operations = INT64_MAX;  // after which the clients stop
    // Share of the tries with a deadline shorter than a call takes, and of the calls that are sent
    // twice at the same time or again later.
    double hostility = 0.05;
    // Called by a client after each of its operations, with how many all have done.
    std::function<void(int64_t done)> after_operation = {};
  };

  // The server must be at `address` whenever it runs. With several, each operation goes to any of
  // them.
  Workload(std::string address, Options options)
      : Workload(std::vector<std::string>{std::move(address)}, std::move(options)) {}
  Workload(std::vector<std::string> addresses, Options options);
  ~Workload();

  // Budgets and sessions. The ledger of an earlier process may have them already.
  void SetUp();
  void Start();
  // Waits until `more` operations have ended. False if all clients have stopped.
  bool WaitForMore(int64_t more);
  // Clients finish what they are at.
  void Finish();
  // Waits until `operations` are done.
  void Wait();

  int64_t operations() const { return done_; }
  int64_t unknown_outcomes() const { return unknown_outcomes_; }
  int64_t rollbacks() const { return rollbacks_; }

  // Reads the ledger file of a server that has stopped, and holds it against what the clients were
  // told: every acknowledged entry is there under its number and hash, no key is there twice,
  // nothing was charged that nobody asked for, the chain verifies, no cap is exceeded, spent is the
  // sum of what was accepted, nothing was accepted from a fenced attempt or under a frozen budget,
  // and a call that ended before another began has the smaller number. Says all with EXPECT.
  // REQUIRES: the clients have stopped.
  void Verify(const std::string& data_dir);
  void Verify(storage::LedgerStore& store);

  // What the clients were told, by sequence number: the key, and "accepted" or "refused".
  std::map<int64_t, std::string> Decisions() const;

  // After Verify: charges that were acknowledged as accepted and as refused.
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
