// Two servers whose database is killed, loses its standby, or is replaced by an older copy.

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <atomic>
#include <future>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "tests/server/storage/postgres/postgres_database.h"

namespace epsledger::storage {
namespace {

using ::testing::HasSubstr;

using accounting::PureDp;

constexpr auto kUnavailable = absl::StatusCode::kUnavailable;

core::SessionName MakeSession(WaitingClient& client, const std::string& budget, double cap) {
  EXPECT_TRUE(client.CreateBudget(budget, cap).ok());
  const core::SessionName session = client.CreateSession(budget, "run");
  EXPECT_EQ(client.OpenAttempt(session), 1);
  return session;
}

TEST(SharedFailure, BothServersGoOnByThemselvesWhenTheDatabaseIsBack) {
  const auto cluster = PostgresCluster::Start();
  ASSERT_TRUE(cluster.ok()) << cluster.status();
  const PostgresDatabase database(cluster->get());
  const std::unique_ptr<GroupCommitLedger> servers[] = {database.Server(), database.Server()};
  WaitingClient first(*servers[0]);
  constexpr int kUnits = 500;
  const core::SessionName run = MakeSession(first, "b", kUnits * kStep);

  std::atomic<bool> stop{false};
  std::atomic<int64_t> progress{0};
  constexpr int kThreads = 8;
  std::vector<std::map<std::string, core::ChargeRecord>> told(kThreads);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      WaitingClient client(*servers[t % 2]);
      for (int i = 0; !stop; ++i) {
        const std::string id = absl::StrCat(t, "-", i);
        auto record = ChargeUntilKnown(client, run, 1, id, PureDp{kStep});
        ASSERT_TRUE(record.ok()) << record.status();
        told[t].emplace(id, *std::move(record));
        ++progress;
      }
    });
  }
  for (int kill = 0; kill < 3; ++kill) {
    const int64_t before = progress;
    EXPECT_TRUE(Until([&] { return progress >= before + 40; }));
    ASSERT_TRUE((*cluster)->Kill9().ok());
    for (const auto& server : servers) {
      EXPECT_TRUE(Until([&] { return !server->Health().ok(); }));
      const std::string why(server->Health().message());
      EXPECT_THAT(why, HasSubstr("cannot use its database"));
      EXPECT_THAT(why, HasSubstr("ledger database: "));
    }
    ASSERT_TRUE((*cluster)->Restart().ok()) << (*cluster)->Log();
  }
  const int64_t before = progress;
  EXPECT_TRUE(Until([&] { return progress >= before + 40; }));
  stop = true;
  for (std::thread& thread : threads) thread.join();

  int accepted = 0;
  size_t all = 0;
  auto third = database.Server();
  for (core::DurableLedger* server : std::initializer_list<core::DurableLedger*>{
           servers[0].get(), servers[1].get(), third.get()}) {
    EXPECT_TRUE(server->Health().ok()) << server->Health();
    ExpectMemoryIsWhatIsStored(*server, "b");
  }
  const std::vector<core::Entry> entries = EntriesAt(*third, "b");
  for (const auto& of_thread : told) {
    for (const auto& [id, record] : of_thread) {
      accepted += Accepted(record);
      ASSERT_LE(record.sequence, static_cast<int64_t>(entries.size()));
      EXPECT_EQ(entries[static_cast<size_t>(record.sequence) - 1].hash, record.hash) << id;
    }
    all += of_thread.size();
  }
  EXPECT_LE(accepted, kUnits);
  EXPECT_EQ(WaitingClient(*third).Spent("b"), core::Cost::RoundUp(kStep).Times(accepted));
  EXPECT_EQ(database.Sql("SELECT count(*) FROM charges"), absl::StrCat(all));
}

// A standby that lagged is made the primary, at the address of the one before.
TEST(SharedFailure, AnOlderCopyIsFoundByTheServersThatWereThereAndByClientsThatWere) {
  const auto primary = PostgresCluster::Start();
  ASSERT_TRUE(primary.ok()) << primary.status();
  const PostgresDatabase database(primary->get());
  auto standby = (*primary)->StartStandby();
  ASSERT_TRUE(standby.ok()) << standby.status();
  PostgresStore::Options both = database.options();
  both.conninfo = absl::StrCat("host=127.0.0.1,127.0.0.1 port=", (*primary)->port(), ",",
                               (*standby)->port(), " user=postgres dbname=", database.name());
  const auto open = [&] {
    auto store = PostgresStore::Open(both);
    EXPECT_TRUE(store.ok()) << store.status();
    return GroupCommitLedger::Open(*std::move(store), {}).value();
  };
  auto there = open();
  WaitingClient client(*there);
  const core::SessionName forgetful = MakeSession(client, "forgetful", 1);
  const core::SessionName faithful = MakeSession(client, "faithful", 1);
  ASSERT_TRUE(Accepted(client.Charge(forgetful, 1, "kept", PureDp{kStep})));
  ASSERT_TRUE((*standby)->WaitForReplayOf(**primary).ok());
  ASSERT_TRUE((*standby)->Stop().ok());
  ASSERT_TRUE(Accepted(client.Charge(forgetful, 1, "lost", PureDp{kStep})));
  ASSERT_TRUE(client.CreateBudget("vanished", 1).ok());
  const core::LedgerHead seen = client.Head("forgetful");
  ASSERT_TRUE((*primary)->Kill9().ok());
  ASSERT_TRUE((*standby)->Restart().ok()) << (*standby)->Log();
  ASSERT_TRUE((*standby)->Promote().ok());

  // Who was there before. Also through a repeated key that the copy has, and in a new budget.
  EXPECT_TRUE(Until([&] { return there->Health().ok(); }));
  for (const char* id : {"lost", "kept", "new"}) {
    const auto charged = ChargeUntilKnown(client, forgetful, 1, id, PureDp{kStep});
    EXPECT_EQ(charged.status().code(), kDataLoss) << id << ": " << charged.status();
  }
  EXPECT_EQ(client.CreateBudget("vanished", 1).code(), kDataLoss);
  EXPECT_EQ(client.Run(core::CreateSession{{.budget_id = "vanished", .id = "s"}}).status().code(),
            kDataLoss);
  EXPECT_TRUE(Accepted(ChargeUntilKnown(client, faithful, 1, "a", PureDp{kStep})));

  // A server that knows nothing of before: by what a client has seen.
  auto fresh = open();
  WaitingClient newcomer(*fresh);
  const auto charge_having_seen = [&](const core::SessionName& session, const std::string& id) {
    std::promise<absl::StatusOr<core::Outcome>> reply;
    fresh->Submit(
        {},
        {.last_seen = core::SeenHead{.root_budget_id = "forgetful",
                                     .sequence = seen.sequence,
                                     .hash = std::string(seen.hash.begin(), seen.hash.end()),
                                     .is_authentic = true},
         .body = WaitingClient::MakeCharge(session, 1, id, PureDp{kStep})},
        [&](absl::StatusOr<core::Outcome> outcome) { reply.set_value(std::move(outcome)); });
    return reply.get_future().get().status();
  };
  EXPECT_EQ(charge_having_seen(forgetful, "new").code(), kDataLoss);
  EXPECT_EQ(newcomer.Charge(forgetful, 1, "new", PureDp{kStep}).status().code(), kDataLoss);
  EXPECT_TRUE(Accepted(newcomer.Charge(faithful, 1, "b", PureDp{kStep})));
  EXPECT_TRUE(Accepted(client.Charge(faithful, 1, "c", PureDp{kStep})));

  // One more server that nobody has warned reads of it in the database.
  auto ignorant = open();
  WaitingClient stranger(*ignorant);
  EXPECT_EQ(stranger.Charge(forgetful, 1, "other", PureDp{kStep}).status().code(), kDataLoss);
  EXPECT_TRUE(Accepted(stranger.Charge(faithful, 1, "d", PureDp{kStep})));
  const auto quarantined = [](WaitingClient& of) {
    return *of.Read([](core::LedgerReader& reader) { return reader.QuarantinedLedgerCount(); });
  };
  EXPECT_EQ(quarantined(client), 2);  // "vanished" too
  EXPECT_EQ(quarantined(newcomer), 1);
  EXPECT_EQ(quarantined(stranger), 1);

  // Lifted at one server it is lifted at all that do not hold the other history themselves.
  const core::AccessCommand lift{
      core::LiftQuarantine{"forgetful", {"an admin", {}}, "charged by hand"}};
  EXPECT_EQ(client.Run(lift).status().code(), kRefused);
  EXPECT_TRUE(newcomer.Run(lift).ok());
  EXPECT_EQ(newcomer.Run(lift).status().code(), kRefused) << "it is lifted";
  EXPECT_EQ(charge_having_seen(forgetful, "new").code(), kDataLoss) << "who saw it stays refused";
  EXPECT_EQ(quarantined(stranger), 0);  // a read catches up, a charge with its own ledger alone
  for (int i = 0; i < 5; ++i) {
    EXPECT_TRUE(Accepted(stranger.Charge(forgetful, 1, absl::StrCat("other-", i), PureDp{kStep})));
  }
  EXPECT_TRUE(Accepted(newcomer.Charge(forgetful, 1, "other-0", PureDp{kStep})));
  EXPECT_EQ(client.Charge(forgetful, 1, "other-0", PureDp{kStep}).status().code(), kDataLoss);
  // Who was there shows what it knows.
  EXPECT_EQ(newcomer.Spent("forgetful"), core::Cost::RoundUp(6 * kStep));
  EXPECT_EQ(client.Spent("forgetful"), core::Cost::RoundUp(2 * kStep));
  EXPECT_EQ(quarantined(newcomer), 0);
  EXPECT_EQ(quarantined(stranger), 0);
  there = nullptr;
  there = open();
  WaitingClient again(*there);
  EXPECT_EQ(quarantined(again), 0);
  EXPECT_EQ(again.Spent("forgetful"), core::Cost::RoundUp(6 * kStep));
}

// The wait for the standby is cut short: the charge is in the ledger, on this machine only. Nobody
// may be told so before the standby has it.
TEST(SharedFailure, WhatTheStandbyLacksIsNotAcknowledgedByARepetition) {
  const auto primary = PostgresCluster::Start();
  ASSERT_TRUE(primary.ok()) << primary.status();
  const PostgresDatabase database(primary->get());
  auto standby = (*primary)->StartStandby({.application_name = "second"});
  ASSERT_TRUE(standby.ok()) << standby.status();
  ASSERT_TRUE((*primary)->Configure({"synchronous_standby_names=second"}).ok());
  PostgresStore::Options strict = database.options();
  strict.without_standby = false;
  const auto open = [&] {
    auto store = PostgresStore::Open(strict);
    EXPECT_TRUE(store.ok()) << store.status();
    return GroupCommitLedger::Open(*std::move(store), {}).value();
  };
  auto one = open();
  auto other = open();
  WaitingClient client(*one);
  WaitingClient elsewhere(*other);
  const core::SessionName run = MakeSession(client, "b", 1);
  {
    // A server with little patience says why nothing is acknowledged, and goes on by itself.
    strict.patience = absl::Seconds(5);
    auto hasty = open();
    WaitingClient third(*hasty);
    const core::SessionName session = MakeSession(third, "h", 1);
    ASSERT_TRUE((*standby)->Stop().ok());
    EXPECT_EQ(third.Charge(session, 1, "a", PureDp{kStep}).status().code(), kUnavailable);
    EXPECT_TRUE(Until([&] { return !hasty->Health().ok(); }));
    EXPECT_THAT(std::string(hasty->Health().message()), HasSubstr("has not answered for 5s"));
    ASSERT_TRUE((*standby)->Restart().ok()) << (*standby)->Log();
    EXPECT_TRUE(Accepted(ChargeUntilKnown(third, session, 1, "a", PureDp{kStep})));
    EXPECT_TRUE(Accepted(ChargeUntilKnown(third, session, 1, "b", PureDp{kStep})));
    EXPECT_EQ(third.Spent("h"), core::Cost::RoundUp(2 * kStep));
    ExpectMemoryIsWhatIsStored(*hasty, "h");
  }
  ASSERT_TRUE(Accepted(elsewhere.Charge(run, 1, "a", PureDp{kStep})));
  // Both know everything and that the standby has it, so that they wait for nothing else below.
  EXPECT_EQ(client.Spent("b"), core::Cost::RoundUp(kStep));
  EXPECT_EQ(elsewhere.Spent("h"), core::Cost::RoundUp(2 * kStep));

  ASSERT_TRUE((*standby)->Stop().ok());
  auto waiting = client.Submit(WaitingClient::MakeCharge(run, 1, "b", PureDp{kStep}));
  const std::string waiters = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'";
  ASSERT_TRUE(database.WaitFor(waiters, "1"));
  // Until then the others do not see it.
  EXPECT_EQ(database.Sql("SELECT count(*) FROM charges"), "3");
  database.Sql("SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'");
  EXPECT_EQ(waiting.get().status().code(), kUnavailable);
  EXPECT_EQ(database.Sql("SELECT count(*) FROM charges"), "4");

  // The same key, at the server whose session goes on and at the one that was told.
  auto repeated = elsewhere.Submit(WaitingClient::MakeCharge(run, 1, "b", PureDp{kStep}));
  const auto answered = [&] {
    return repeated.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
  };
  EXPECT_TRUE(Until([&] { return answered() || database.Sql(waiters) != "0"; }));
  EXPECT_FALSE(answered());
  // Nor does anybody who reads learn of it before.
  auto read = std::async(std::launch::async, [&] {
    const core::Cost spent = elsewhere.Spent("b");
    EXPECT_TRUE((*standby)->Sql(database.name(), "SELECT 1").ok());
    return spent;
  });
  ASSERT_TRUE((*standby)->Restart().ok()) << (*standby)->Log();
  const auto outcome = repeated.get();
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_EQ((*standby)->Sql(database.name(), "SELECT count(*) FROM charges").value(), "4");
  EXPECT_EQ(read.get(), core::Cost::RoundUp(2 * kStep));
  EXPECT_TRUE(Accepted(ChargeUntilKnown(client, run, 1, "b", PureDp{kStep})));
  EXPECT_EQ(client.Spent("b"), core::Cost::RoundUp(2 * kStep));
}

// Commits wait for a standby that is away, and somebody takes the standby out of the settings. The
// database lets them go then, without a warning.
TEST(SharedFailure, WhoUnsetsTheStandbyHasNothingAcknowledged) {
  const auto primary = PostgresCluster::Start();
  ASSERT_TRUE(primary.ok()) << primary.status();
  const PostgresDatabase database(primary->get());
  auto standby = (*primary)->StartStandby({.application_name = "second"});
  ASSERT_TRUE(standby.ok()) << standby.status();
  const std::string wanted = "synchronous_standby_names=second";
  ASSERT_TRUE((*primary)->Configure({wanted}).ok());
  PostgresStore::Options strict = database.options();
  strict.without_standby = false;
  auto store = PostgresStore::Open(strict);
  ASSERT_TRUE(store.ok()) << store.status();
  auto server = GroupCommitLedger::Open(*std::move(store), {}).value();
  WaitingClient client(*server);
  const core::SessionName run = MakeSession(client, "b", 1);

  ASSERT_TRUE((*standby)->Stop().ok());
  auto waiting = client.Submit(WaitingClient::MakeCharge(run, 1, "a", PureDp{kStep}));
  ASSERT_TRUE(
      database.WaitFor("SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'", "1"));
  ASSERT_TRUE((*primary)->Configure({"synchronous_standby_names="}).ok());
  EXPECT_EQ(waiting.get().status().code(), kUnavailable);
  EXPECT_TRUE(Until([&] { return !server->Health().ok(); }));
  EXPECT_THAT(std::string(server->Health().message()), HasSubstr("synchronous_standby_names"));
  EXPECT_EQ(client.Charge(run, 1, "b", PureDp{kStep}).status().code(), kUnavailable);

  ASSERT_TRUE((*primary)->Configure({wanted}).ok());
  ASSERT_TRUE((*standby)->Restart().ok()) << (*standby)->Log();
  EXPECT_TRUE(Accepted(ChargeUntilKnown(client, run, 1, "a", PureDp{kStep})));
  EXPECT_EQ(client.Spent("b"), core::Cost::RoundUp(kStep));
  // Also where nobody charges, it is noticed.
  ASSERT_TRUE((*primary)->Configure({"synchronous_standby_names="}).ok());
  EXPECT_TRUE(Until([&] { return !server->Health().ok(); }));
}

// A server that stopped in the middle of a transaction holds one ledger. Only who asks for that one
// waits.
TEST(SharedFailure, AServerThatHoldsALedgerHoldsUpNoOther) {
  const PostgresDatabase database;
  auto server =
      GroupCommitLedger::Open(database.Store(), {.hold_patience = absl::Seconds(10)}).value();
  WaitingClient client(*server);
  const core::SessionName held = MakeSession(client, "held", 1);
  const core::SessionName free = MakeSession(client, "free", 1);
  const auto submit = [&](const core::SessionName& session, const std::string& id) {
    return client.Submit(WaitingClient::MakeCharge(session, 1, id, PureDp{kStep}));
  };
  const auto is_answered = [](const std::future<absl::StatusOr<core::Outcome>>& reply) {
    return reply.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
  };
  const auto hold = [&](PostgresStore& stopped) {
    ASSERT_TRUE(stopped.Begin().ok());
    ASSERT_TRUE(
        stopped
            .Hold({"held"}, [](const std::string&, const core::Entry&) { return absl::OkStatus(); })
            .ok());
  };
  auto stopped = database.Store();
  hold(*stopped);
  std::vector<std::future<absl::StatusOr<core::Outcome>>> waiting;
  waiting.push_back(submit(held, "a"));
  for (int i = 0; i < 20; ++i) {
    // Each with another one that waits, in one batch or two.
    waiting.push_back(submit(held, absl::StrCat("b-", i)));
    EXPECT_TRUE(submit(free, absl::StrCat("f-", i)).get().ok());
    EXPECT_EQ(client.Spent("held"), core::Cost());  // and reads go on
    if (i == 5) {
      EXPECT_FALSE(is_answered(waiting.front()));
      EXPECT_TRUE(server->Health().ok());
    }
    if (i == 7) {
      EXPECT_TRUE(stopped->Rollback().ok());
    }
  }
  std::vector<int64_t> sequences;
  for (auto& reply : waiting) {
    const auto outcome = reply.get();
    ASSERT_TRUE(outcome.ok()) << outcome.status();
    sequences.push_back(std::get<core::ChargeOutcome>(*outcome).records[0].sequence);
  }
  EXPECT_TRUE(std::is_sorted(sequences.begin(), sequences.end())) << "in the order of their coming";
  EXPECT_EQ(client.Spent("held"), core::Cost::RoundUp(21 * kStep));

  // Nobody waits for ever, and nothing was charged.
  hold(*stopped);
  auto given_up = submit(held, "given-up");
  const absl::Status status = given_up.get().status();
  EXPECT_EQ(status.code(), kUnavailable);
  EXPECT_THAT(std::string(status.message()), HasSubstr("another server holds the ledger"));
  EXPECT_TRUE(stopped->Rollback().ok());
  EXPECT_EQ(client.Spent("held"), core::Cost::RoundUp(21 * kStep));
  EXPECT_TRUE(submit(held, "given-up").get().ok());
  EXPECT_EQ(client.Spent("held"), core::Cost::RoundUp(22 * kStep));
  ExpectMemoryIsWhatIsStored(*server, "held");
}

}  // namespace
}  // namespace epsledger::storage
