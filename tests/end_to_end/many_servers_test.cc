// Four servers over one database, and sixty-four clients on one cap: the ledgers accept exactly
// what fits, and all servers tell the same story.

#include "gtest/gtest.h"

#include <atomic>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "epsledger/client.h"
#include "server/core/ledger.h"
#include "tests/end_to_end/server_fleet.h"

namespace epsledger {
namespace {

constexpr int kServers = 4;
constexpr int kClients = 64;
constexpr int kTriesEach = 10;
constexpr int kCapUnits = 400;
constexpr double kUnit = 1.0 / 128;  // dyadic: the cap is exactly 400 of them

TEST(ManyServers, SixtyFourClientsOfFourServersSpendExactlyTheCap) {
  ServerFleet fleet(kServers);
  std::vector<Client> clients;
  for (int c = 0; c < kClients; ++c) {
    auto client = Client::Connect({.address = fleet.servers()[c % kServers]->address()});
    ASSERT_TRUE(client.ok()) << client.status();
    clients.push_back(*std::move(client));
  }
  BudgetOptions budget;
  budget.id = "hot";
  budget.cap = PureEpsilonCap{kCapUnits * kUnit};
  budget.neighboring_relation = NeighboringRelation::kAddOrRemoveOne;
  budget.privacy_unit = "person";
  ASSERT_TRUE(clients[0].CreateBudget(budget).ok());

  std::atomic<int> accepted{0};
  std::atomic<int> refused{0};
  std::vector<std::map<std::string, int64_t>> permits(kClients);
  std::vector<std::thread> threads;
  for (int c = 0; c < kClients; ++c) {
    threads.emplace_back([&, c] {
      NewSession create;
      create.neighboring_relation = NeighboringRelation::kAddOrRemoveOne;
      create.no_own_cap = true;
      auto session = clients[c].OpenSession(
          {.budget = "hot", .session = "run-" + std::to_string(c), .create = create});
      ASSERT_TRUE(session.ok()) << session.status();
      for (int i = 0; i < kTriesEach; ++i) {
        const auto permit = session->Charge(Mechanism::PureDp(kUnit));
        if (permit.ok()) {
          ++accepted;
          permits[c][permit->charge_name()] = permit->sequence();
        } else {
          EXPECT_TRUE(RefusalOf(permit.status()).has_value()) << permit.status();
          ++refused;
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(accepted, kCapUnits);
  EXPECT_EQ(refused, kClients * kTriesEach - kCapUnits);
  for (int s = 0; s < kServers; ++s) {
    const auto after = clients[s].GetBudget("hot");
    ASSERT_TRUE(after.ok()) << after.status();
    EXPECT_EQ(after->cells.at(0).spent, kCapUnits * kUnit);
    EXPECT_EQ(after->cells.at(0).remaining, 0.0);
  }
  clients.clear();
  for (const auto& server : fleet.servers()) EXPECT_EQ(server->Stop(), 0) << server->output();

  // The stored ledger verifies, and holds every permit under its number.
  core::Ledger ledger;
  std::map<std::string, int64_t> stored;
  const absl::Status read =
      fleet.OpenStore()->ReadAll([&](const std::string& root, const core::Entry& entry) {
        EXPECT_EQ(root, "hot");
        const absl::Status applied = ledger.Apply(entry);
        const auto* row = std::get_if<core::ChargeDecided>(&entry.body);
        if (applied.ok() && row != nullptr && row->decision == core::ChargeDecision::kAccepted) {
          const core::SessionState* session = ledger.FindSession(row->session_number);
          const std::string name = "budgets/hot/sessions/" + session->spec.id + "/attempts/" +
                                   std::to_string(row->attempt) + "/charges/" + row->charge_id;
          EXPECT_TRUE(stored.emplace(name, entry.sequence).second) << name << " is twice";
        }
        return applied;
      });
  ASSERT_TRUE(read.ok()) << read;
  std::map<std::string, int64_t> told;
  for (const auto& of_client : permits) told.insert(of_client.begin(), of_client.end());
  EXPECT_EQ(stored, told);
}

}  // namespace
}  // namespace epsledger
