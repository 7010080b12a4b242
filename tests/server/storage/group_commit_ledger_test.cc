#include "server/storage/group_commit_ledger.h"

#include "gtest/gtest.h"

#include <atomic>
#include <thread>

#include "absl/synchronization/notification.h"
#include "server/core/unavailable.h"
#include "tests/server/storage/memory_store.h"
#include "tests/server/storage/waiting_client.h"

namespace epsledger::storage {
namespace {

using accounting::PureDp;

// A memory store whose commits can be held up or made to fail.
class ScriptedStore : public MemoryStore {
 public:
  struct Script {
    std::atomic<int> commits{0};
    std::atomic<bool> fail_commit{false};
    std::atomic<bool> fail_append{false};
    // When set, the next commit signals `reached` and waits for `release`.
    std::atomic<bool> hold_next{false};
    absl::Notification reached;
    absl::Notification release;
  };
  explicit ScriptedStore(Script& script) : script_(script) {}

  absl::Status Append(const std::string& root_id, const core::Entry& entry) override {
    if (script_.fail_append) return absl::UnavailableError("disk full");
    return MemoryStore::Append(root_id, entry);
  }
  absl::Status Commit() override {
    if (script_.hold_next.exchange(false)) {
      script_.reached.Notify();
      script_.release.WaitForNotification();
    }
    if (script_.fail_commit) return absl::UnavailableError("fsync failed");
    ++script_.commits;
    return MemoryStore::Commit();
  }

 private:
  Script& script_;
};

class GroupCommitLedgerTest : public ::testing::Test {
 protected:
  void Open(GroupCommitLedger::Options options = {}) {
    ledger_ = *GroupCommitLedger::Open(std::make_unique<ScriptedStore>(script_), options);
    client_.emplace(*ledger_);
    ASSERT_TRUE(client_->CreateBudget("adult", 100 * kStep).ok());
    run_ = client_->CreateSession("adult", "run");
    ASSERT_EQ(client_->OpenAttempt(run_), 1);
  }
  auto Submit(const std::string& id) {
    return client_->Submit(WaitingClient::MakeCharge(run_, 1, id, PureDp{kStep}));
  }

  ScriptedStore::Script script_;
  std::unique_ptr<GroupCommitLedger> ledger_;
  std::optional<WaitingClient> client_;
  core::SessionName run_;
};

// I7. The reply cannot have come: the commit that it waits for is held up.
TEST_F(GroupCommitLedgerTest, AcknowledgesOnlyAfterTheCommit) {
  Open();
  script_.hold_next = true;
  auto reply = Submit("a");
  script_.reached.WaitForNotification();
  EXPECT_EQ(reply.wait_for(std::chrono::seconds(0)), std::future_status::timeout);
  script_.release.Notify();
  EXPECT_TRUE(reply.get().ok());
}

TEST_F(GroupCommitLedgerTest, WhatArrivesDuringACommitSharesTheNextOne) {
  Open();
  script_.hold_next = true;
  auto first = Submit("first");
  script_.reached.WaitForNotification();
  const int commits_before = script_.commits;
  std::vector<std::future<absl::StatusOr<core::Outcome>>> replies;
  for (int i = 0; i < 50; ++i) replies.push_back(Submit(std::to_string(i)));
  script_.release.Notify();
  for (auto& reply : replies) EXPECT_TRUE(reply.get().ok());
  EXPECT_EQ(script_.commits - commits_before, 2);  // the first, and one for all fifty
}

TEST_F(GroupCommitLedgerTest, ReadsSeeDurableStateOnly) {
  Open();
  script_.hold_next = true;
  auto charge = Submit("a");
  script_.reached.WaitForNotification();
  auto read = std::async(std::launch::async, [&] { return client_->Spent("adult"); });
  EXPECT_EQ(charge.wait_for(std::chrono::seconds(0)), std::future_status::timeout);
  script_.release.Notify();
  EXPECT_EQ(read.get(), core::Cost::RoundUp(kStep));
}

TEST_F(GroupCommitLedgerTest, AFailedCommitStopsEveryAcknowledgement) {
  Open();
  script_.fail_commit = true;
  EXPECT_EQ(Submit("a").get().status().code(), absl::StatusCode::kUnavailable);
  script_.fail_commit = false;
  EXPECT_EQ(Submit("b").get().status().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(ledger_->Health().code(), absl::StatusCode::kUnavailable);
  EXPECT_FALSE(client_->Read([](core::LedgerReader&) { return 0; }).ok());
}

TEST_F(GroupCommitLedgerTest, AFailedAppendStopsEveryAcknowledgement) {
  Open();
  script_.fail_append = true;
  EXPECT_EQ(Submit("a").get().status().code(), absl::StatusCode::kUnavailable);
  script_.fail_append = false;
  EXPECT_EQ(Submit("b").get().status().code(), absl::StatusCode::kUnavailable);
}

TEST_F(GroupCommitLedgerTest, AFullQueueRefusesAtOnceAndChargesNothing) {
  Open({.max_batch = 1, .max_queue = 2});
  script_.hold_next = true;
  auto held = Submit("held");
  script_.reached.WaitForNotification();
  auto second = Submit("second");
  auto third = Submit("third");
  EXPECT_TRUE(core::IsOverload(Submit("fourth").get().status()));
  script_.release.Notify();
  EXPECT_TRUE(held.get().ok() && second.get().ok() && third.get().ok());
  EXPECT_EQ(client_->Spent("adult"), core::Cost::RoundUp(3 * kStep));
}

// A handler reads the state to tell of a command that was done: "nothing was done" would be a lie.
TEST_F(GroupCommitLedgerTest, AFullQueueTakesWhatAReplyAsksFor) {
  Open({.max_batch = 1, .max_queue = 2});
  ASSERT_TRUE(Submit("whose event is known then").get().ok());
  script_.hold_next = true;
  std::promise<absl::Status> read;
  ledger_->Submit(core::Tenant{}, {.body = WaitingClient::MakeCharge(run_, 1, "a", PureDp{kStep})},
                  [&](const absl::StatusOr<core::Outcome>&) {
                    ledger_->Read(core::Tenant{}, [&](absl::StatusOr<core::LedgerReader*> reader) {
                      read.set_value(reader.status());
                    });
                  });
  script_.reached.WaitForNotification();
  auto second = Submit("second");
  auto third = Submit("third");
  EXPECT_TRUE(core::IsOverload(Submit("fourth").get().status()));  // the queue is full
  script_.release.Notify();
  EXPECT_TRUE(read.get_future().get().ok());
  EXPECT_TRUE(second.get().ok() && third.get().ok());
}

// One tenant fills its part of the queue, and waits behind itself alone.
TEST_F(GroupCommitLedgerTest, TenantsTakeTurns) {
  Open({.max_batch = 1, .max_queue = 4});
  ASSERT_TRUE(Submit("whose event is known then").get().ok());
  WaitingClient other(*ledger_, 0, {"other"});
  ASSERT_TRUE(other.CreateBudget("b", 1).ok());
  script_.hold_next = true;
  auto held = Submit("held");
  script_.reached.WaitForNotification();
  std::string order;  // of the ledger's threads, one at a time
  const auto note = [&](const core::Tenant& tenant, char who) {
    ledger_->Read(tenant, [&order, who](absl::StatusOr<core::LedgerReader*> reader) {
      order.push_back(reader.ok() ? who : '-');
    });
  };
  for (int i = 0; i < 5; ++i) note({}, 'h');  // the fifth is refused
  for (int i = 0; i < 2; ++i) note({"other"}, 'o');
  script_.release.Notify();
  ASSERT_TRUE(held.get().ok());
  EXPECT_EQ(other.Head("b").sequence, 1);  // comes after theirs
  client_->Head("adult");
  EXPECT_EQ(order, "-hohohh");
}

TEST_F(GroupCommitLedgerTest, ReadsThatTakeLongLetChargesIn) {
  Open({.max_reading = absl::ZeroDuration()});
  ASSERT_TRUE(Submit("whose event is known then").get().ok());
  script_.hold_next = true;
  auto held = Submit("held");
  script_.reached.WaitForNotification();
  std::vector<size_t> seen;  // how many ledgers there are
  for (int i = 0; i < 3; ++i) {
    ledger_->Read(core::Tenant{}, [&](absl::StatusOr<core::LedgerReader*> reader) {
      seen.push_back((*reader)->AllLedgers().size());
      if (seen.size() > 1) return;
      // A command of another tenant, whose turn comes before the next read.
      ledger_->Submit({"other"},
                      {.body = core::CreateBudget{{.id = "b",
                                                   .cap = core::PureEpsilonCap{1},
                                                   .privacy_unit = "person"}}},
                      [](const absl::StatusOr<core::Outcome>&) {});
    });
  }
  script_.release.Notify();
  ASSERT_TRUE(held.get().ok());
  client_->Head("adult");
  EXPECT_EQ(seen, (std::vector<size_t>{1, 2, 2}));
}

TEST_F(GroupCommitLedgerTest, DestructionFinishesWhatIsQueued) {
  Open();
  ASSERT_TRUE(Submit("whose event is known then").get().ok());
  std::vector<std::future<absl::StatusOr<core::Outcome>>> replies;
  for (int i = 0; i < 50; ++i) replies.push_back(Submit(std::to_string(i)));
  ledger_.reset();
  for (auto& reply : replies) EXPECT_TRUE(reply.get().ok());
}

TEST_F(GroupCommitLedgerTest, UnknownBudgetsAreNotFound) {
  Open();
  const core::SessionName nowhere{.budget_id = "nowhere", .session_id = "run"};
  EXPECT_EQ(client_->Run(core::OpenAttempt{nowhere, ""}).status().code(),
            absl::StatusCode::kNotFound);
  EXPECT_EQ(client_->Run(core::CreateSession{{.budget_id = "nowhere", .id = "x"}}).status().code(),
            absl::StatusCode::kNotFound);
  EXPECT_EQ(client_
                ->Run(core::CreateBudget{{.id = "child",
                                          .parent_id = "nowhere",
                                          .cap = core::PureEpsilonCap{1},
                                          .privacy_unit = "person"}})
                .status()
                .code(),
            absl::StatusCode::kNotFound);
}

// Must show 4: 32 clients on a cap of exactly 100 units accept exactly 100.
TEST_F(GroupCommitLedgerTest, ContendingClientsAcceptExactlyTheCap) {
  Open();
  std::atomic<int> accepted{0};
  std::vector<std::thread> clients;
  for (int c = 0; c < 32; ++c) {
    clients.emplace_back([&, c] {
      WaitingClient client(*ledger_);
      for (int i = 0; i < 10; ++i) {
        const auto record =
            client.Charge(run_, 1, std::to_string(c) + "-" + std::to_string(i), PureDp{kStep});
        accepted += record.ok() && record->row.decision == core::ChargeDecision::kAccepted;
      }
    });
  }
  for (std::thread& client : clients) client.join();
  EXPECT_EQ(accepted, 100);
  EXPECT_EQ(client_->Spent("adult"), core::Cost::RoundUp(100 * kStep));
}

class CountingListener : public core::CommitListener {
 public:
  void OnCommit() override { ++calls; }
  std::atomic<int> calls{0};
};

TEST_F(GroupCommitLedgerTest, AListenerIsCalledOnceAfterTheNextCommitOfItsLedger) {
  Open();
  const auto listener = std::make_shared<CountingListener>();
  const auto listen = [&] {
    ASSERT_TRUE(client_
                    ->Read([&](core::LedgerReader& reader) {
                      reader.NotifyOfNextCommit(*reader.LedgerOf("adult"), listener);
                      return true;
                    })
                    .ok());
  };
  listen();
  ASSERT_TRUE(client_->CreateBudget("other", 1).ok());  // another ledger
  EXPECT_EQ(listener->calls, 0);
  // Replies come before listeners are called; the next read comes after.
  ASSERT_TRUE(client_->Charge(run_, 1, "a", PureDp{kStep}).ok());
  client_->Head("adult");
  EXPECT_EQ(listener->calls, 1);
  ASSERT_TRUE(client_->Charge(run_, 1, "b", PureDp{kStep}).ok());
  client_->Head("adult");
  EXPECT_EQ(listener->calls, 1);
  listen();
  ASSERT_TRUE(client_->Charge(run_, 1, "b", PureDp{kStep}).ok());  // a repetition: no entry
  client_->Head("adult");
  EXPECT_EQ(listener->calls, 1);
  script_.fail_commit = true;
  EXPECT_FALSE(client_->Charge(run_, 1, "c", PureDp{kStep}).ok());
  ledger_.reset();
  EXPECT_EQ(listener->calls, 2);
}

TEST_F(GroupCommitLedgerTest, AListenerIsCalledOnceWhenItsTenantGetsABudget) {
  Open();
  WaitingClient stranger(*ledger_, 0, {.name = "stranger"});
  const auto listener = std::make_shared<CountingListener>();
  const auto strangers = std::make_shared<CountingListener>();
  const auto listen = [](WaitingClient& client, const std::shared_ptr<CountingListener>& to) {
    ASSERT_TRUE(client
                    .Read([&](core::LedgerReader& reader) {
                      reader.NotifyOfNextBudget(to);
                      return true;
                    })
                    .ok());
  };
  // A read comes after the listeners of the commits before it.
  const auto calls = [&] {
    client_->Head("adult");
    return std::pair(listener->calls.load(), strangers->calls.load());
  };
  listen(*client_, listener);
  listen(stranger, strangers);  // has no budget yet
  ASSERT_TRUE(client_->Charge(run_, 1, "a", PureDp{kStep}).ok());
  EXPECT_EQ(calls(), std::pair(0, 0));
  ASSERT_TRUE(stranger.CreateBudget("theirs", 1).ok());
  EXPECT_EQ(calls(), std::pair(0, 1));
  ASSERT_TRUE(client_->CreateBudget("other", 1).ok());
  EXPECT_EQ(calls(), std::pair(1, 1));
  ASSERT_TRUE(client_->CreateBudget("third", 1).ok());  // nobody listens
  EXPECT_EQ(calls(), std::pair(1, 1));
  listen(*client_, listener);
  const core::CreateBudget child{{.id = "child",
                                  .parent_id = "adult",
                                  .cap = core::PureEpsilonCap{kStep},
                                  .privacy_unit = "person"}};
  ASSERT_TRUE(client_->Run(child).ok());
  EXPECT_EQ(calls(), std::pair(2, 1));
  listen(*client_, listener);
  ASSERT_TRUE(client_->Run(child).ok());  // a repetition: no budget
  EXPECT_EQ(calls(), std::pair(2, 1));
  script_.fail_commit = true;
  EXPECT_FALSE(client_->CreateBudget("fourth", 1).ok());  // unknown, so it may be there
  ledger_.reset();
  EXPECT_EQ(listener->calls, 3);
}

TEST_F(GroupCommitLedgerTest, AListenerThatHasGoneIsForgotten) {
  Open();
  for (int i = 0; i < 1000; ++i) {
    client_
        ->Read([](core::LedgerReader& reader) {
          reader.NotifyOfNextCommit(*reader.LedgerOf("adult"),
                                    std::make_shared<CountingListener>());
          return true;
        })
        .status()
        .IgnoreError();
  }
  EXPECT_TRUE(client_->Charge(run_, 1, "a", PureDp{kStep}).ok());
}

// A copy of before the child was made: its name is gone with what was charged to it.
TEST_F(GroupCommitLedgerTest, ALostFutureOfABudgetThatIsGoneStopsTheLedgersOfItsTenant) {
  Open();
  WaitingClient other(*ledger_, 0, {.name = "other"});
  ASSERT_TRUE(other.CreateBudget("theirs", 1).ok());
  const auto charge_having = [&](bool is_authentic, const std::string& id) {
    std::promise<absl::StatusOr<core::Outcome>> reply;
    core::Command command{.last_seen = core::SeenHead{.root_budget_id = "gone",
                                                      .sequence = 7,
                                                      .hash = std::string(32, 'h'),
                                                      .is_authentic = is_authentic},
                          .body = WaitingClient::MakeCharge(run_, 1, id, PureDp{kStep})};
    ledger_->Submit({}, std::move(command), [&](absl::StatusOr<core::Outcome> outcome) {
      reply.set_value(std::move(outcome));
    });
    return reply.get_future().get().status().code();
  };
  EXPECT_EQ(charge_having(false, "a"), absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(client_->Charge(run_, 1, "b", PureDp{kStep}).ok());
  EXPECT_EQ(charge_having(true, "c"), kDataLoss);
  EXPECT_EQ(client_->Charge(run_, 1, "d", PureDp{kStep}).status().code(), kDataLoss);
  EXPECT_TRUE(other.CreateBudget("more", 1).ok());
}

}  // namespace
}  // namespace epsledger::storage
