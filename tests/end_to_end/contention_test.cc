// Many clients on one cap: the ledger accepts exactly what fits. The same crowd on a naive
// read-check-increment spends too much, so the test could tell.

#include "gtest/gtest.h"

#include <atomic>
#include <barrier>
#include <functional>
#include <thread>
#include <vector>

#include "epsledger/client.h"
#include "tests/end_to_end/server_process.h"
#include "tests/server/storage/scratch_folder.h"

namespace epsledger {
namespace {

constexpr int kClients = 32;
constexpr int kTriesEach = 10;
constexpr int kCapUnits = 100;
constexpr double kUnit = 1.0 / 128;  // dyadic: the cap is exactly 100 of them

// Lets kClients threads call `try_charge(client)` kTriesEach times each; returns how many were
// true.
int CountAccepted(const std::function<bool(int client)>& try_charge) {
  std::atomic<int> accepted{0};
  std::vector<std::thread> clients;
  for (int c = 0; c < kClients; ++c) {
    clients.emplace_back([&, c] {
      for (int i = 0; i < kTriesEach; ++i) accepted += try_charge(c);
    });
  }
  for (std::thread& client : clients) client.join();
  return accepted;
}

TEST(Contention, ThirtyTwoClientsSpendExactlyTheCap) {
  const ScratchFolder folder;
  ServerProcess server(folder.path());
  ASSERT_FALSE(server.address().empty()) << server.output();
  auto client = Client::Connect({.address = server.address()});
  ASSERT_TRUE(client.ok()) << client.status();
  BudgetOptions budget;
  budget.id = "hot";
  budget.cap = PureEpsilonCap{kCapUnits * kUnit};
  budget.neighboring_relation = NeighboringRelation::kAddOrRemoveOne;
  budget.privacy_unit = "person";
  ASSERT_TRUE(client->CreateBudget(budget).ok());

  std::vector<Session> sessions;
  for (int c = 0; c < kClients; ++c) {
    NewSession create;
    create.neighboring_relation = NeighboringRelation::kAddOrRemoveOne;
    create.no_own_cap = true;
    auto session = client->OpenSession(
        {.budget = "hot", .session = "run-" + std::to_string(c), .create = create});
    ASSERT_TRUE(session.ok()) << session.status();
    sessions.push_back(*std::move(session));
  }
  const int accepted = CountAccepted([&](int c) {
    const auto permit = sessions[c].Charge(Mechanism::PureDp(kUnit));
    EXPECT_TRUE(permit.ok() || permit.status().code() == absl::StatusCode::kFailedPrecondition)
        << permit.status();
    return permit.ok();
  });
  EXPECT_EQ(accepted, kCapUnits);
  const auto after = client->GetBudget("hot");
  ASSERT_TRUE(after.ok());
  EXPECT_EQ(after->cells.at(0).spent, kCapUnits * kUnit);
  EXPECT_EQ(after->cells.at(0).remaining, 0.0);
}

// The negative control: what every budget kept as "read, check, write back" does.
TEST(Contention, ANaiveReadCheckIncrementOverspends) {
  std::atomic<int> spent{0};
  std::barrier everybody_has_read(kClients);
  const int accepted = CountAccepted([&](int) {
    const int seen = spent;
    everybody_has_read.arrive_and_wait();  // the interleaving that a busy day brings by itself
    if (seen + 1 > kCapUnits) return false;
    ++spent;
    return true;
  });
  EXPECT_GT(accepted, kCapUnits);
}

}  // namespace
}  // namespace epsledger
