// Two servers over one database: together they keep every promise that one alone keeps.

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <algorithm>
#include <atomic>
#include <barrier>
#include <future>
#include <map>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "tests/server/core/random_history.h"
#include "tests/server/storage/postgres/postgres_database.h"

namespace epsledger::storage {
namespace {

using ::testing::HasSubstr;

using accounting::PureDp;
using core::Entry;

class Two {
 public:
  explicit Two(const PostgresDatabase& database) : servers{database.Server(), database.Server()} {}
  // A budget with a session of one attempt, made at the first.
  core::SessionName Session(const std::string& budget, double cap) {
    EXPECT_TRUE(clients[0].CreateBudget(budget, cap).ok());
    const core::SessionName session = clients[0].CreateSession(budget, "run");
    EXPECT_EQ(clients[0].OpenAttempt(session), 1);
    return session;
  }
  std::unique_ptr<GroupCommitLedger> servers[2];
  WaitingClient clients[2] = {WaitingClient(*servers[0]), WaitingClient(*servers[1])};
};

// Runs it for both servers at once.
template <class Function>
void AtBoth(Function run) {
  std::barrier together(2);
  std::vector<std::thread> threads;
  for (int s = 0; s < 2; ++s) {
    threads.emplace_back([&, s] {
      together.arrive_and_wait();
      run(s);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(SharedLedger, BothTogetherAcceptExactlyTheCap) {
  constexpr int kUnits = 100;
  constexpr int kThreads = 16;
  const PostgresDatabase database;
  Two two(database);
  const core::SessionName run = two.Session("b", kUnits * kStep);
  std::atomic<int> accepted{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 20; ++i) {
        const std::string id = absl::StrCat(t, "-", i);
        const auto record = two.clients[t % 2].Charge(run, 1, id, PureDp{kStep});
        ASSERT_TRUE(record.ok()) << record.status();
        accepted += Accepted(record);
        // What was acknowledged here is seen there at once.
        const auto seen = two.clients[(t + 1) % 2].Read(
            [&](core::LedgerReader& reader) { return reader.FindCharge(run, 1, id).value(); });
        ASSERT_TRUE(seen.ok()) << seen.status();
        ASSERT_TRUE(seen->has_value()) << id;
        EXPECT_EQ((*seen)->sequence, record->sequence);
        EXPECT_LE(record->sequence, two.clients[(t + 1) % 2].Head("b").sequence);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(accepted, kUnits);
  for (int s = 0; s < 2; ++s) {
    EXPECT_EQ(two.clients[s].Spent("b"), core::Cost::RoundUp(kUnits * kStep));
    ExpectMemoryIsWhatIsStored(*two.servers[s], "b");
    EXPECT_TRUE(two.servers[s]->Health().ok());
  }
  EXPECT_EQ(database.Sql("SELECT count(*) FROM charges"), absl::StrCat(kThreads * 20));
}

TEST(SharedLedger, ABudgetIdIsGivenOnceWhereverItIsAskedFor) {
  const PostgresDatabase database;
  Two two(database);
  for (const char* root : {"r0", "r1"}) {
    ASSERT_TRUE(two.clients[0].CreateBudget(root, 1).ok());
  }
  const auto budget = [](const std::string& id, const std::string& parent, double cap) {
    return core::CreateBudget{{.id = id,
                               .parent_id = parent,
                               .cap = core::PureEpsilonCap{cap},
                               .privacy_unit = "person"}};
  };
  for (int round = 0; round < 20; ++round) {
    const std::string n = std::to_string(round);
    // Another cap, another parent, a root and a child; and the very same one.
    const std::vector<std::pair<core::CreateBudget, core::CreateBudget>> pairs = {
        {budget("root-" + n, "", 1), budget("root-" + n, "", 0.5)},
        {budget("child-" + n, "r0", 1), budget("child-" + n, "r1", 1)},
        {budget("mixed-" + n, "", 1), budget("mixed-" + n, "r1", 1)},
        {budget("same-" + n, "", 1), budget("same-" + n, "", 1)},
    };
    for (const auto& pair : pairs) {
      absl::StatusOr<core::Outcome> outcomes[2];
      AtBoth([&](int s) { outcomes[s] = two.clients[s].Run(s == 0 ? pair.first : pair.second); });
      int created = 0;
      int refused = 0;
      for (const auto& outcome : outcomes) {
        if (outcome.ok()) {
          created += std::get<core::BudgetOutcome>(*outcome).created;
        } else {
          EXPECT_EQ(outcome.status().code(), absl::StatusCode::kAlreadyExists) << outcome.status();
          ++refused;
        }
      }
      EXPECT_EQ(created, 1) << pair.first.spec.id;
      EXPECT_EQ(refused, &pair == &pairs.back() ? 0 : 1) << pair.first.spec.id;
    }
  }
  const auto ids = [](core::LedgerReader& reader) { return reader.BudgetIds("", 1000); };
  EXPECT_EQ(two.clients[0].Read(ids)->size(), 82u);
  EXPECT_EQ(*two.clients[0].Read(ids), *two.clients[1].Read(ids));
  EXPECT_EQ(database.Sql("SELECT count(*) FROM budgets"), "82");
  for (const auto& server : two.servers) {
    for (const char* root : {"r0", "r1"}) ExpectMemoryIsWhatIsStored(*server, root);
  }
}

// The head that its client has seen is of another ledger.
TEST(SharedLedger, ANewRootIsMadeByAClientThatHasSeenAnother) {
  const PostgresDatabase database;
  Two two(database);
  ASSERT_TRUE(two.clients[0].CreateBudget("seen", 1).ok());
  const core::LedgerHead head = two.clients[0].Head("seen");
  for (int round = 0; round < 10; ++round) {
    const std::string id = absl::StrCat("new-", round);
    AtBoth([&](int s) {
      std::promise<absl::StatusOr<core::Outcome>> reply;
      core::Command command{
          .last_seen = core::SeenHead{.root_budget_id = "seen",
                                      .sequence = head.sequence,
                                      .hash = std::string(head.hash.begin(), head.hash.end()),
                                      .is_authentic = true},
          .body = core::CreateBudget{
              {.id = id, .cap = core::PureEpsilonCap{1}, .privacy_unit = "person"}}};
      two.servers[s]->Submit({}, std::move(command), [&](absl::StatusOr<core::Outcome> outcome) {
        reply.set_value(std::move(outcome));
      });
      const auto outcome = reply.get_future().get();
      EXPECT_TRUE(outcome.ok()) << outcome.status();
      ExpectMemoryIsWhatIsStored(*two.servers[s], id);
    });
  }
}

TEST(SharedLedger, AKeyIsDecidedOnceAndAnAttemptFencesEverywhere) {
  const PostgresDatabase database;
  Two two(database);
  const core::SessionName run = two.Session("b", 25 * kStep);
  for (int i = 0; i < 50; ++i) {
    absl::StatusOr<core::ChargeRecord> told[2];
    AtBoth([&](int s) {
      told[s] = two.clients[s].Charge(run, 1, absl::StrCat("step-", i), PureDp{kStep});
    });
    ASSERT_TRUE(told[0].ok() && told[1].ok()) << told[0].status() << told[1].status();
    EXPECT_EQ(told[0]->sequence, told[1]->sequence);
    EXPECT_EQ(told[0]->hash, told[1]->hash);
    EXPECT_EQ(Accepted(told[0]), Accepted(told[1]));
    EXPECT_EQ(Accepted(told[0]), i < 25);
  }
  EXPECT_EQ(database.Sql("SELECT count(*) FROM charges"), "50");
  EXPECT_EQ(two.clients[0].Spent("b"), core::Cost::RoundUp(25 * kStep));
  // Attempts: each number once, and each fences those before it, at both.
  std::set<int64_t> numbers;
  for (int round = 0; round < 20; ++round) {
    int64_t opened[2];
    AtBoth([&](int s) { opened[s] = two.clients[s].OpenAttempt(run); });
    EXPECT_TRUE(numbers.insert(opened[0]).second && numbers.insert(opened[1]).second);
    const int64_t newest = std::max(opened[0], opened[1]);
    EXPECT_EQ(newest, 3 + 2 * round);
    AtBoth([&](int s) {
      const auto fenced =
          two.clients[s].Charge(run, newest - 1, absl::StrCat("z", s), PureDp{kStep});
      ASSERT_TRUE(fenced.ok()) << fenced.status();
      EXPECT_FALSE(Accepted(fenced));
      ASSERT_TRUE(fenced->row.refusal.has_value());
      EXPECT_EQ(fenced->row.refusal->reason, core::RefusalReason::kAttemptFenced);
    });
  }
  for (const auto& server : two.servers) ExpectMemoryIsWhatIsStored(*server, "b");
}

class CountingListener : public core::CommitListener {
 public:
  void OnCommit() override { ++calls; }
  std::atomic<int> calls{0};
};

// By an idle server, too: within its interval of catching up.
TEST(SharedLedger, WhatHappensAtOneServerIsNoticedAtTheOther) {
  const PostgresDatabase database;
  Two two(database);
  const core::SessionName run = two.Session("b", 1);
  ASSERT_TRUE(two.clients[0].CreateBudget("quiet", 1).ok());
  const std::string secret_hash(32, 'x');
  const auto create = core::AccessCommand{core::CreateToken{
      {.id = "t", .tenant = "acme", .role = core::Role::kTrainer, .secret_hash = secret_hash}}};
  const auto known = [&](int s, bool revoked) {
    const auto tokens = two.servers[s]->Tokens();
    const auto it = tokens->find(secret_hash);
    return it != tokens->end() && it->second.revoked == revoked;
  };
  ASSERT_TRUE(two.clients[0].Run(create).ok());
  EXPECT_TRUE(known(0, false));
  EXPECT_TRUE(Until([&] { return known(1, false); }));
  ASSERT_TRUE(two.clients[1].Run(core::AccessCommand{core::RevokeToken{{"acme"}, "t"}}).ok());
  EXPECT_TRUE(known(1, true));
  EXPECT_TRUE(Until([&] { return known(0, true); }));
  EXPECT_EQ(two.clients[1].Run(create).status().code(), absl::StatusCode::kAlreadyExists);

  const auto listener = std::make_shared<CountingListener>();
  const auto quiet = std::make_shared<CountingListener>();
  for (int round = 1; round <= 5; ++round) {
    ASSERT_TRUE(two.clients[1]
                    .Read([&](core::LedgerReader& reader) {
                      reader.NotifyOfNextCommit(*reader.LedgerOf("b"), listener);
                      reader.NotifyOfNextCommit(*reader.LedgerOf("quiet"), quiet);
                      return true;
                    })
                    .ok());
    EXPECT_EQ(listener->calls, round - 1);
    ASSERT_TRUE(two.clients[0].Charge(run, 1, std::to_string(round), PureDp{kStep}).ok());
    EXPECT_TRUE(Until([&] { return listener->calls == round; }));
  }
  EXPECT_EQ(quiet->calls, 0);

  const auto budgets = std::make_shared<CountingListener>();
  ASSERT_TRUE(two.clients[1]
                  .Read([&](core::LedgerReader& reader) {
                    reader.NotifyOfNextBudget(budgets);
                    return true;
                  })
                  .ok());
  ASSERT_TRUE(two.clients[0].CreateBudget("later", 1).ok());
  EXPECT_TRUE(Until([&] { return budgets->calls == 1; }));
}

// The invariants of the design, by their numbers, of a ledger that two servers wrote in turns: it
// is the one of a single ledger without any store, which tests/server/core holds to all of them.
void TakeTurns(Two& two, const core::Tenant& tenant, uint64_t seed) {
  core::RandomHistory history(seed, seed % 2 == 0 ? accounting::NeighboringRelation::kAddOrRemoveOne
                                                  : accounting::NeighboringRelation::kReplaceOne);
  std::mt19937_64 random(seed);
  std::map<core::Hash, int64_t> told;
  for (int i = 0; i < 80; ++i) {
    const core::RandomHistory::Step& step = history.Take();
    const auto* charge = std::get_if<core::Charge>(&step.command.body);
    // Often both are asked: the second answer to a key is the first (I5, I6).
    const int times = charge != nullptr && random() % 3 == 0 ? 2 : 1;
    for (int time = 0; time < times; ++time) {
      std::promise<absl::StatusOr<core::Outcome>> reply;
      two.servers[(random() + static_cast<uint64_t>(time)) % 2]->Submit(
          tenant, step.command,
          [&](absl::StatusOr<core::Outcome> outcome) { reply.set_value(std::move(outcome)); });
      const auto outcome = reply.get_future().get();
      ASSERT_EQ(outcome.status().code(), step.outcome.status().code()) << outcome.status();
      if (!outcome.ok() || charge == nullptr) continue;
      const auto& records = std::get<core::ChargeOutcome>(*outcome).records;
      const auto& want = std::get<core::ChargeOutcome>(*step.outcome).records;
      ASSERT_EQ(records.size(), want.size());
      for (size_t r = 0; r < records.size(); ++r) {
        EXPECT_EQ(records[r].row.decision, want[r].row.decision);
        EXPECT_EQ(records[r].sequence, want[r].sequence);
        EXPECT_EQ(records[r].hash, want[r].hash);
        told[records[r].hash] = records[r].sequence;
      }
    }
  }
  for (const auto& server : two.servers) {
    const auto entries = *WaitingClient(*server, 0, tenant).Read([](core::LedgerReader& reader) {
      const core::Ledger* root = reader.LedgerOf("b0");
      return root == nullptr ? std::vector<Entry>()
                             : reader.ListEntries(*root, 0, root->head().sequence).value();
    });
    ASSERT_EQ(entries.size(), history.entries().size());  // I16
    core::Ledger replayed;
    for (size_t i = 0; i < entries.size(); ++i) {
      EXPECT_EQ(entries[i].hash, history.entries()[i].hash);  // I17
      EXPECT_EQ(entries[i].content, history.entries()[i].content);
      EXPECT_EQ(entries[i].sequence, static_cast<int64_t>(i) + 1);  // I8
      ASSERT_TRUE(replayed.Apply(entries[i]).ok());                 // I1, I9, I11
    }
    EXPECT_EQ(replayed.head().hash, history.ledger().head().hash);  // I18
    for (const auto& [id, budget] : history.ledger().budgets()) {   // I2, I3, I4
      EXPECT_EQ(replayed.FindBudget(id)->balance.spent(), budget.balance.spent());
    }
    for (const auto& [hash, sequence] : told) {  // I7
      EXPECT_EQ(entries.at(static_cast<size_t>(sequence) - 1).hash, hash);
    }
  }
}

TEST(SharedLedger, TwoServersThatTakeTurnsWriteTheLedgerOfOne) {
  const PostgresDatabase database;
  Two two(database);
  for (uint64_t seed = 1; seed <= 24 && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    // Ledgers are of one tenant each, so that one database is enough.
    TakeTurns(two, {absl::StrCat("tenant-", seed)}, seed);
  }
}

}  // namespace
}  // namespace epsledger::storage
