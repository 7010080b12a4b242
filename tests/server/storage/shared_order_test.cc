// Several servers over one database, each a GroupCommitLedger of this process.

#include "gtest/gtest.h"

#include <future>
#include <map>
#include <random>
#include <thread>

#include "server/storage/group_commit_ledger.h"
#include "server/storage/postgres/postgres_store.h"
#include "tests/server/storage/postgres/fresh_database.h"
#include "tests/server/storage/waiting_client.h"

namespace epsledger::storage {
namespace {

using accounting::PureDp;

constexpr int kServers = 3;

class SharedLedgersTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (int i = 0; i < kServers; ++i) servers_.push_back(Server({}));
  }
  std::unique_ptr<GroupCommitLedger> Server(GroupCommitLedger::Options options) const {
    return *GroupCommitLedger::Open(*PostgresStore::Open(database_), options);
  }

  const PostgresStore::Options database_ = FreshDatabase();
  std::vector<std::unique_ptr<GroupCommitLedger>> servers_;
};

// What a charge came to: where it stands, or why it does not.
std::string Said(const absl::StatusOr<core::Outcome>& outcome) {
  if (!outcome.ok()) return outcome.status().ToString();
  const core::ChargeRecord& record = std::get<core::ChargeOutcome>(*outcome).records[0];
  return std::to_string(record.sequence) +
         (record.row.decision == core::ChargeDecision::kAccepted ? " accepted" : " refused");
}

// Keys come in no order, at several servers at once and again in the same transaction, and every
// answer to one is the same.
TEST_F(SharedLedgersTest, AKeyHasOneOutcomeWhereverAndWheneverItIsAsked) {
  WaitingClient first(*servers_[0]);
  for (const char* budget : {"a", "b", "c"}) {
    ASSERT_TRUE(first.CreateBudget(budget, 20 * kStep).ok());
    ASSERT_EQ(first.OpenAttempt(first.CreateSession(budget, "run")), 1);
  }
  const auto charge = [](const std::string& key) {
    return WaitingClient::MakeCharge({.budget_id = key.substr(0, 1), .session_id = "run"}, 1,
                                     key.substr(1), PureDp{kStep});
  };
  using Asked = std::pair<std::string, std::future<absl::StatusOr<core::Outcome>>>;
  std::vector<std::vector<Asked>> asked(kServers);
  std::vector<std::thread> clients;
  for (int i = 0; i < kServers; ++i) {
    clients.emplace_back([&, i] {
      WaitingClient client(*servers_[i]);
      std::mt19937 random(i);
      for (int n = 0; n < 600; ++n) {
        const auto budget = static_cast<char>('a' + random() % 3);
        const std::string key = budget + std::to_string(random() % 40);
        asked[i].emplace_back(key, client.Submit(charge(key)));
      }
    });
  }
  for (std::thread& client : clients) client.join();
  std::map<std::string, std::string> said;
  std::map<char, int> accepted;
  for (int i = 0; i < kServers; ++i) {
    for (auto& [key, future] : asked[i]) {
      absl::StatusOr<core::Outcome> outcome = future.get();
      // On a busy machine a server waits too long for the others, and says that nothing was
      // charged.
      for (int again = 0; again < 20 && absl::IsUnavailable(outcome.status()); ++again) {
        outcome = WaitingClient(*servers_[i]).Submit(charge(key)).get();
      }
      const std::string answer = Said(outcome);
      const auto [it, is_new] = said.emplace(key, answer);
      EXPECT_EQ(it->second, answer) << key;
      accepted[key[0]] += is_new && answer.ends_with("accepted");
    }
  }
  for (const char budget : {'a', 'b', 'c'}) {
    EXPECT_EQ(accepted[budget], 20);
    const core::LedgerHead head = first.Head(std::string(1, budget));
    for (const auto& server : servers_) {
      EXPECT_EQ(WaitingClient(*server).Head(std::string(1, budget)), head);
    }
  }
}

// One client's commands are decided in the order in which it gave them, also where they are taken
// into a transaction that was waiting for the ledger.
TEST_F(SharedLedgersTest, CommandsOfOneClientKeepTheirOrder) {
  WaitingClient first(*servers_[0]);
  ASSERT_TRUE(first.CreateBudget("hot", 1000).ok());
  std::vector<std::thread> clients;
  for (int i = 0; i < kServers; ++i) {
    clients.emplace_back([&, i] {
      WaitingClient client(*servers_[i]);
      const core::SessionName run = client.CreateSession("hot", "run-" + std::to_string(i));
      ASSERT_EQ(client.OpenAttempt(run), 1);
      ASSERT_TRUE(client.Charge(run, 1, "whose event is known then", PureDp{kStep}).ok());
      std::vector<std::future<absl::StatusOr<core::Outcome>>> answers;
      for (int n = 0; n < 300; ++n) {
        answers.push_back(
            client.Submit(WaitingClient::MakeCharge(run, 1, std::to_string(n), PureDp{kStep})));
        if (n % 100 == 50) std::this_thread::sleep_for(std::chrono::milliseconds(2));
      }
      int64_t last = 0;
      for (auto& answer : answers) {
        const absl::StatusOr<core::Outcome> outcome = answer.get();
        ASSERT_TRUE(outcome.ok()) << outcome.status();
        const int64_t sequence = std::get<core::ChargeOutcome>(*outcome).records[0].sequence;
        EXPECT_GT(sequence, last);
        last = sequence;
      }
    });
  }
  for (std::thread& client : clients) client.join();
}

// With no time at all each transaction decides one command, and the others wait for the next.
TEST_F(SharedLedgersTest, WhatATransactionHasNoTimeForKeepsItsPlace) {
  const auto hasty = Server({.max_deciding = absl::ZeroDuration()});
  WaitingClient client(*hasty);
  ASSERT_TRUE(client.CreateBudget("hot", 51 * kStep).ok());
  const core::SessionName run = client.CreateSession("hot", "run");
  ASSERT_EQ(client.OpenAttempt(run), 1);
  // A command that comes back with its prices is behind those that came meanwhile.
  ASSERT_TRUE(client.Charge(run, 1, "whose event is known then", PureDp{kStep}).ok());
  const int64_t first = client.Head("hot").sequence + 1;
  std::vector<std::future<absl::StatusOr<core::Outcome>>> answers;
  for (int n = 0; n < 100; ++n) {
    answers.push_back(
        client.Submit(WaitingClient::MakeCharge(run, 1, std::to_string(n), PureDp{kStep})));
  }
  for (int n = 0; n < 100; ++n) {
    EXPECT_EQ(Said(answers[n].get()),
              std::to_string(first + n) + (n < 50 ? " accepted" : " refused"));
  }
  EXPECT_EQ(WaitingClient(*servers_[0]).Head("hot"), client.Head("hot"));
}

// A transaction so long that it is sent in parts still knows its own keys.
TEST_F(SharedLedgersTest, ALongTransactionKnowsItsOwnKeys) {
  WaitingClient first(*servers_[0]);
  ASSERT_TRUE(first.CreateBudget("hot", 1000).ok());
  const core::SessionName run = first.CreateSession("hot", "run");
  ASSERT_EQ(first.OpenAttempt(run), 1);
  std::vector<core::Charge> charges;
  for (int copy = 0; copy < 2; ++copy) {
    for (int batch = 11; batch-- > 0;) {  // downwards: none counts up
      core::Charge charge = WaitingClient::MakeCharge(run, 1, "x", PureDp{kStep});
      charge.items.clear();
      for (int i = 0; i < 1000; ++i) {
        charge.items.push_back({std::to_string(batch * 1000 + i), PureDp{kStep / 1024}, 1});
      }
      charges.push_back(std::move(charge));
    }
  }
  // All wait before the first is decided.
  std::vector<std::future<absl::StatusOr<core::Outcome>>> answers;
  for (core::Charge& charge : charges) answers.push_back(first.Submit(std::move(charge)));
  const size_t half = answers.size() / 2;
  std::vector<std::string> said;
  for (auto& answer : answers) said.push_back(Said(answer.get()));
  for (size_t i = 0; i < half; ++i) {
    EXPECT_TRUE(said[i].ends_with("accepted")) << said[i];
    EXPECT_EQ(said[i], said[half + i]);
  }
}

}  // namespace
}  // namespace epsledger::storage
