// The server is killed with SIGKILL again and again while eight clients charge. Afterwards every
// permit that a client got is in the ledger, nothing is in it twice, and no cap is exceeded.

#include <grpcpp/grpcpp.h>
#include "gtest/gtest.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <map>
#include <mutex>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "epsledger/client.h"
#include "epsledger/v1/charge_service.grpc.pb.h"
#include "tests/crash/workload.h"
#include "tests/end_to_end/server_process.h"
#include "tests/server/storage/scratch_folder.h"

namespace epsledger {
namespace {

constexpr double kUnit = 1.0 / 1024;  // dyadic: sums are exact
constexpr int kClients = 8;
constexpr int kTightUnits = 300;

int KillCount() {
  const char* value = std::getenv("EPSLEDGER_CRASH_KILLS");
  return value == nullptr ? 50 : std::atoi(value);
}

// What one client was told, by charge name.
struct Told {
  std::map<std::string, int64_t> permits;  // name -> sequence
  int64_t refusals = 0;
  std::vector<std::string> failures;  // anything but a permit or a refusal
};

// Lets the killer wait until clients have made progress.
class Progress {
 public:
  void Made() {
    const std::lock_guard<std::mutex> lock(mutex_);
    ++count_;
    changed_.notify_all();
  }
  void AllStopped() {
    const std::lock_guard<std::mutex> lock(mutex_);
    stopped_ = true;
    changed_.notify_all();
  }
  // False if the clients stopped first.
  bool WaitForMore(int64_t more) {
    std::unique_lock<std::mutex> lock(mutex_);
    const int64_t target = count_ + more;
    changed_.wait(lock, [&] { return count_ >= target || stopped_; });
    return !stopped_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int64_t count_ = 0;
  bool stopped_ = false;
};

Budget MakeBudget(Client& client, const std::string& id, const std::string& parent, double cap) {
  BudgetOptions options;
  options.id = id;
  options.parent = parent;
  options.cap = PureEpsilonCap{cap};
  options.neighboring_relation = NeighboringRelation::kAddOrRemoveOne;
  options.privacy_unit = "person";
  return client.CreateBudget(options).value();
}

// Every charge row of a session, from the server.
std::vector<v1::Charge> Rows(v1::ChargeService::Stub& stub, const std::string& session) {
  std::vector<v1::Charge> rows;
  v1::ListChargesRequest request;
  request.set_parent(session);
  request.set_page_size(1000);
  do {
    grpc::ClientContext context;
    v1::ListChargesResponse response;
    const grpc::Status status = stub.ListCharges(&context, request, &response);
    EXPECT_TRUE(status.ok()) << status.error_message();
    rows.insert(rows.end(), response.charges().begin(), response.charges().end());
    request.set_page_token(response.next_page_token());
  } while (!request.page_token().empty());
  return rows;
}

TEST(Crash, KilledServersLoseNothingChargeNothingTwiceAndKeepEveryCap) {
  const int kills = KillCount();
  const ScratchFolder folder;
  ServerProcess server(folder.path());
  ASSERT_FALSE(server.address().empty()) << server.output();

  ClientOptions options;
  options.address = server.address();
  options.retry.overall_timeout = std::chrono::minutes(5);
  options.retry.initial_backoff = std::chrono::milliseconds(1);
  options.retry.max_backoff = std::chrono::milliseconds(20);
  auto client = Client::Connect(options);
  ASSERT_TRUE(client.ok()) << client.status();
  MakeBudget(*client, "org", "", 1 << 20);
  MakeBudget(*client, "tight", "budgets/org", kTightUnits * kUnit);

  std::vector<Session> sessions;
  for (int c = 0; c < kClients; ++c) {
    NewSession create;
    create.neighboring_relation = NeighboringRelation::kAddOrRemoveOne;
    create.no_own_cap = true;
    auto session = client->OpenSession({.budget = c % 4 == 0 ? "tight" : "org",
                                        .session = "run-" + std::to_string(c),
                                        .create = create});
    ASSERT_TRUE(session.ok()) << session.status();
    sessions.push_back(*std::move(session));
  }

  Progress progress;
  std::atomic<bool> stop{false};
  std::vector<Told> told(kClients);
  std::vector<std::thread> clients;
  for (int c = 0; c < kClients; ++c) {
    clients.emplace_back([&, c] {
      while (!stop) {
        const auto permit = sessions[c].Charge(Mechanism::PureDp(kUnit));
        if (permit.ok()) {
          told[c].permits[permit->charge_name()] = permit->sequence();
        } else if (RefusalOf(permit.status()).has_value()) {
          ++told[c].refusals;
        } else {
          told[c].failures.push_back(permit.status().ToString());
          return;
        }
        progress.Made();
      }
    });
  }

  std::mt19937 random(20240607);
  int killed = 0;
  for (; killed < kills; ++killed) {
    if (!progress.WaitForMore(std::uniform_int_distribution<int>(1, 60)(random))) break;
    server.Kill();
    server.Restart();
    if (server.address().empty()) break;
  }
  stop = true;
  for (std::thread& thread : clients) thread.join();
  ASSERT_FALSE(server.address().empty()) << server.output();
  EXPECT_EQ(killed, kills);

  const auto stub = v1::ChargeService::NewStub(
      grpc::CreateChannel(server.address(), grpc::InsecureChannelCredentials()));
  int64_t acknowledged = 0;
  int64_t refused = 0;
  std::map<std::string, int64_t> accepted_under;
  std::set<int64_t> sequences;
  for (int c = 0; c < kClients; ++c) {
    EXPECT_TRUE(told[c].failures.empty()) << told[c].failures.front();
    std::map<std::string, int64_t> accepted;
    int64_t refused_rows = 0;
    for (const v1::Charge& row : Rows(*stub, sessions[c].name())) {
      EXPECT_TRUE(sequences.insert(row.sequence()).second) << row.name();
      if (row.decision() == v1::Charge::ACCEPTED) {
        EXPECT_TRUE(accepted.emplace(row.name(), row.sequence()).second) << row.name();
      } else {
        ++refused_rows;
      }
    }
    // Nothing acknowledged is lost, and, every outcome having become known in the end, nothing
    // else was charged.
    EXPECT_EQ(accepted, told[c].permits);
    EXPECT_EQ(refused_rows, told[c].refusals);
    acknowledged += static_cast<int64_t>(told[c].permits.size());
    refused += told[c].refusals;
    accepted_under[c % 4 == 0 ? "tight" : "org"] += static_cast<int64_t>(accepted.size());
  }
  EXPECT_GE(acknowledged + refused, kills);
  const auto tight = client->GetBudget("tight");
  const auto org = client->GetBudget("org");
  ASSERT_TRUE(tight.ok() && org.ok());
  EXPECT_LE(accepted_under["tight"], kTightUnits);
  EXPECT_EQ(tight->cells.at(0).spent, static_cast<double>(accepted_under["tight"]) * kUnit);
  EXPECT_EQ(org->cells.at(0).spent, static_cast<double>(acknowledged) * kUnit);
  std::printf("%d kills, %ld charges acknowledged, %ld refused, 0 lost, 0 twice\n", killed,
              static_cast<long>(acknowledged), static_cast<long>(refused));
}

// The same for everything else that charges: leases, batches, plans, attempts, frozen budgets.
TEST(Crash, KilledServersKeepLeasesBatchesPlansAttemptsAndFreezes) {
  const int kills = KillCount();
  const ScratchFolder folder;
  ServerProcess server(folder.path());
  ASSERT_FALSE(server.address().empty()) << server.output();
  Workload workload(server.address(), {.workers = kClients, .seed = 20240608});
  workload.SetUp();
  workload.Start();
  std::mt19937 random(20240608);
  int killed = 0;
  for (; killed < kills; ++killed) {
    if (!workload.WaitForMore(std::uniform_int_distribution<int>(1, 40)(random))) break;
    server.Kill();
    server.Restart();
    ASSERT_FALSE(server.address().empty()) << server.output();
  }
  workload.Finish();
  EXPECT_EQ(killed, kills);
  EXPECT_EQ(server.Stop(), 0) << server.output();
  workload.Verify(folder.path());
  std::printf("%d kills, %ld charges accepted, %ld refused, %ld unknown outcomes resolved\n",
              killed, static_cast<long>(workload.accepted()), static_cast<long>(workload.refused()),
              static_cast<long>(workload.unknown_outcomes()));
}

}  // namespace
}  // namespace epsledger
