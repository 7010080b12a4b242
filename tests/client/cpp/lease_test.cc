// Leases, batches, heads and watches of the client library against the real server.

#include "epsledger/lease.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <atomic>
#include <chrono>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/synchronization/mutex.h"
#include "epsledger/client.h"
#include "tests/server/storage/scratch_folder.h"
#include "tests/server/transport/test_server.h"

namespace epsledger {
namespace {

using ::testing::HasSubstr;

constexpr std::chrono::seconds kHour{3600};

class LeaseTest : public ::testing::Test {
 protected:
  LeaseTest() {
    EXPECT_TRUE(server_.client.CreateBudget("b", "pure_epsilon { epsilon: 100 }").ok());
    auto client = Client::Connect({.address = server_.server->addresses()[0]});
    EXPECT_TRUE(client.ok()) << client.status();
    client_.emplace(*std::move(client));
  }

  Session Open() {
    auto session = client_->OpenSession(
        {.budget = "b",
         .session = "s",
         .create = NewSession{.neighboring_relation = NeighboringRelation::kAddOrRemoveOne,
                              .no_own_cap = true,
                              .group = "sweep",
                              .labels = {{"team", "vision"}},
                              .claim = Claim{.status = Claim::Status::kProven,
                                             .epsilon = 1,
                                             .delta = 1e-5,
                                             .source = "Theorem 3"}},
         .provenance = {.sampler = Sampler::kPoisson,
                        .clip_norm = 0.5,
                        .library = "test",
                        .library_version = "1"}});
    EXPECT_TRUE(session.ok()) << session.status();
    return *std::move(session);
  }

  v1::Session Read() { return server_.client.GetSession("budgets/b/sessions/s").response; }
  v1::Lease ReadSettled(const Lease& lease, int64_t used_count) {
    // Settling again with the same count only answers.
    v1::SettleLeaseRequest request;
    request.set_name(lease.name());
    request.set_used_count(used_count);
    const auto reply = transport::TestClient::Call(*server_.client.charges,
                                                   &v1::ChargeService::Stub::SettleLease, request);
    EXPECT_TRUE(reply.ok()) << reply.status.error_message();
    return reply.response;
  }

  transport::TestServer server_;
  std::optional<Client> client_;
  const Mechanism step_ = Mechanism::PureDp(1);
};

TEST_F(LeaseTest, GivesExactlyWhatItGrantsAndSettlesWhatWasUsed) {
  Session session = Open();
  absl::StatusOr<Lease> lease = session.AcquireLease(step_, 5, kHour);
  ASSERT_TRUE(lease.ok()) << lease.status();
  EXPECT_EQ(lease->name(), "budgets/b/sessions/s/attempts/1/leases/lease-1");
  for (int i = 0; i < 3; ++i) {
    absl::StatusOr<Permit> permit = lease->Take();
    ASSERT_TRUE(permit.ok()) << permit.status();
    EXPECT_EQ(permit->uses_left(), 1);
    EXPECT_EQ(permit->charge_name(), "budgets/b/sessions/s/attempts/1/charges/lease-1");
    EXPECT_EQ(permit->mechanism(), step_);
  }
  EXPECT_EQ(Read().open_leases_size(), 1);
  ASSERT_TRUE(lease->Settle().ok());
  ASSERT_TRUE(lease->Settle().ok());
  EXPECT_EQ(lease->Take().status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(Read().open_leases_size(), 0);
  const v1::Lease settled = ReadSettled(*lease, 3);
  EXPECT_EQ(settled.used_count() + settled.wasted_count(), settled.granted_count());
  EXPECT_EQ(settled.wasted_count(), 2);
  // Nothing returns.
  EXPECT_EQ(server_.client.GetBudget("budgets/b").response.cells(0).spent(), 5);
}

TEST_F(LeaseTest, PermitsNeverExceedTheGrantAmongThreads) {
  Session session = Open();
  absl::StatusOr<Lease> lease = session.AcquireLease(step_, 60, kHour);
  ASSERT_TRUE(lease.ok()) << lease.status();
  std::atomic<int> taken = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 20; ++i) {
        const absl::StatusOr<Permit> permit = lease->Take();
        if (permit.ok()) {
          ++taken;
        } else {
          EXPECT_EQ(permit.status().code(), absl::StatusCode::kOutOfRange);
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(taken, 60);
  EXPECT_EQ(lease->used_count(), 60);
}

TEST_F(LeaseTest, SettlesWhenItIsDroppedAndOnlyOnceWhenMoved) {
  Session session = Open();
  {
    absl::StatusOr<Lease> lease = session.AcquireLease(step_, 4, kHour);
    ASSERT_TRUE(lease.ok());
    EXPECT_TRUE(lease->Take().ok());
    Lease moved = *std::move(lease);
    EXPECT_EQ(lease->Take().status().code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_EQ(lease->granted_count(), 0);
    EXPECT_TRUE(moved.Take().ok());
    EXPECT_EQ(Read().open_leases_size(), 1);
    absl::StatusOr<Lease> other = session.AcquireLease(step_, 4, kHour);
    ASSERT_TRUE(other.ok());
    moved = *std::move(other);  // settles the first
    EXPECT_EQ(Read().open_leases_size(), 1);
    EXPECT_EQ(Read().open_leases(0).name(), moved.name());
  }
  EXPECT_EQ(Read().open_leases_size(), 0);
}

TEST_F(LeaseTest, ARefusedLeaseSaysHowManyFit) {
  Session session = Open();
  const absl::StatusOr<Lease> lease = session.AcquireLease(step_, 101, kHour);
  const auto refusal = RefusalOf(lease.status());
  ASSERT_TRUE(refusal.has_value()) << lease.status();
  EXPECT_EQ(refusal->steps_that_fit, 100);
  EXPECT_EQ(session.AcquireLease(step_, 1, std::chrono::seconds(0)).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST_F(LeaseTest, ALeaseThatNobodySettlesBeforeTheServerDiesIsSpentInFull) {
  Session session = Open();
  absl::StatusOr<Lease> lease = session.AcquireLease(step_, 5, kHour);
  ASSERT_TRUE(lease.ok());
  ASSERT_TRUE(lease->Take().ok());
  server_.server->Drain(absl::ZeroDuration());
  EXPECT_TRUE(lease->Take().ok());  // local
  { const Lease dropped = *std::move(lease); }
}

TEST_F(LeaseTest, BatchesGiveAPermitOrARefusalForEveryItem) {
  Session session = Open();
  const auto permits = session.ChargeBatch({{step_, 2}, {Mechanism::PureDp(1000), 1}, {step_, 3}},
                                           BatchMode::kPerItem);
  ASSERT_TRUE(permits.ok()) << permits.status();
  ASSERT_EQ(permits->size(), 3u);
  EXPECT_EQ((*permits)[0]->uses_left(), 2);
  EXPECT_EQ(RefusalOf((*permits)[1].status())->reason, RefusalReason::kBudgetExhausted);
  EXPECT_EQ((*permits)[2]->uses_left(), 3);
  EXPECT_THAT(session.unknown_charges(), ::testing::IsEmpty());
  EXPECT_EQ(session.ChargeBatch({}, BatchMode::kPerItem).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST_F(LeaseTest, OpeningSaysWhatTheProgramSaysOfItself) {
  const Session session = Open();
  const v1::Session read = Read();
  EXPECT_EQ(read.group(), "sweep");
  EXPECT_EQ(read.labels().at("team"), "vision");
  EXPECT_EQ(read.claim().status(), v1::Claim::PROVEN);
  EXPECT_EQ(read.claim().label(), "proven");
  EXPECT_EQ(read.provenance().sampler(), v1::Provenance::POISSON);
  EXPECT_EQ(read.provenance().clip_norm(), 0.5);
}

SessionOptions RunInB() {
  return {.budget = "b",
          .session = "s",
          .create = NewSession{.neighboring_relation = NeighboringRelation::kAddOrRemoveOne,
                               .no_own_cap = true}};
}

// A ledger that lost what a client was told of, as one restored from an old backup.
TEST(SeenHead, AServerThatIsBehindItIsCaught) {
  const ScratchFolder folder;
  const std::string key_file = folder.path() + "/statement.key";
  transport::TestServer old({.addresses = {"127.0.0.1:0"}, .statement_key_file = key_file});
  ASSERT_TRUE(old.client.CreateBudget("b", "pure_epsilon { epsilon: 100 }").ok());
  const std::string address = old.server->addresses()[0];
  auto client = Client::Connect({.address = address});
  ASSERT_TRUE(client.ok());
  const SessionOptions options = RunInB();
  auto session = client->OpenSession(options);
  ASSERT_TRUE(session.ok()) << session.status();
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(session->Charge(Mechanism::PureDp(1)).ok());
  old.server->Drain(absl::ZeroDuration());

  const auto restored = *storage::GroupCommitLedger::Open(std::make_unique<storage::MemoryStore>(),
                                                          storage::GroupCommitLedger::Options());
  const auto server = *transport::Server::Start(
      {.addresses = {address}, .statement_key_file = key_file}, *restored);
  transport::TestClient direct(transport::ChannelTo(*server));
  ASSERT_TRUE(direct.CreateBudget("b", "pure_epsilon { epsilon: 100 }").ok());
  ASSERT_TRUE(direct.CreateSession("b", "s").ok());
  ASSERT_TRUE(direct.OpenAttempt("budgets/b/sessions/s").ok());
  const absl::StatusOr<Permit> permit = session->Charge(Mechanism::PureDp(1));
  EXPECT_EQ(permit.status().code(), absl::StatusCode::kDataLoss) << permit.status();
  EXPECT_EQ(client->OpenSession(options).status().code(), absl::StatusCode::kDataLoss);
}

// One with another key cannot know the head again: nothing is charged for this client, and others
// go on.
TEST(SeenHead, AServerOfAnotherLedgerRefusesItAndGoesOn) {
  auto old = std::make_unique<transport::TestServer>();
  ASSERT_TRUE(old->client.CreateBudget("b", "pure_epsilon { epsilon: 100 }").ok());
  const std::string address = old->server->addresses()[0];
  auto client = Client::Connect({.address = address});
  ASSERT_TRUE(client.ok());
  const SessionOptions options = RunInB();
  auto session = client->OpenSession(options);
  ASSERT_TRUE(session.ok()) << session.status();
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(session->Charge(Mechanism::PureDp(1)).ok());
  old->server->Drain(absl::ZeroDuration());

  transport::TestServer other({.addresses = {address}});
  ASSERT_TRUE(other.client.CreateBudget("b", "pure_epsilon { epsilon: 100 }").ok());
  ASSERT_TRUE(other.client.CreateSession("b", "s").ok());
  ASSERT_TRUE(other.client.OpenAttempt("budgets/b/sessions/s").ok());
  const absl::StatusOr<Permit> permit = session->Charge(Mechanism::PureDp(1));
  EXPECT_EQ(permit.status().code(), absl::StatusCode::kInvalidArgument) << permit.status();
  EXPECT_EQ(other.client.GetBudget("budgets/b").response.cells(0).spent(), 0);
  EXPECT_TRUE(
      other.client.Charge("budgets/b/sessions/s/attempts/1", "goes-on", transport::kOneEpsilon, 1)
          .ok());
}

// What a watch was told of, safe to wait for.
class Told {
 public:
  ChangeCallback Callback() {
    return [this](const LedgerChange& change) {
      absl::MutexLock lock(&mutex_);
      sequences_.push_back(change.sequence);
      if (change.kind == ChangeKind::kCharge) names_.push_back(change.name);
    };
  }
  std::vector<std::string> AwaitCharges(size_t count) {
    absl::MutexLock lock(&mutex_);
    const auto reached = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
      return names_.size() >= count;
    };
    EXPECT_TRUE(mutex_.AwaitWithTimeout(absl::Condition(&reached), absl::Seconds(60)));
    return names_;
  }
  std::vector<int64_t> sequences() {
    absl::MutexLock lock(&mutex_);
    return sequences_;
  }

 private:
  absl::Mutex mutex_;
  std::vector<int64_t> sequences_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::string> names_ ABSL_GUARDED_BY(mutex_);
};

TEST(ClientWatch, GoesOnByItselfWhenTheServerIsReplaced) {
  const auto ledger = *storage::GroupCommitLedger::Open(std::make_unique<storage::MemoryStore>(),
                                                        storage::GroupCommitLedger::Options());
  auto server = *transport::Server::Start({.addresses = {"127.0.0.1:0"}}, *ledger);
  const std::string address = server->addresses()[0];
  auto client = Client::Connect({.address = address});
  ASSERT_TRUE(client.ok());
  {
    transport::TestClient direct(transport::ChannelTo(*server));
    direct.MakeSession("pure_epsilon { epsilon: 100 }");
  }
  auto session = client->OpenSession({.budget = "b", .session = "s"});
  ASSERT_TRUE(session.ok()) << session.status();
  Told told;
  Watch watch = client->WatchBudget("b", 0, told.Callback());
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 5; ++i) ASSERT_TRUE(session->Charge(Mechanism::PureDp(1)).ok());
    told.AwaitCharges(5 * (round + 1));
    server->Drain(absl::ZeroDuration());
    server.reset();
    server = *transport::Server::Start({.addresses = {address}}, *ledger);
  }
  ASSERT_TRUE(session->Charge(Mechanism::PureDp(1)).ok());
  const std::vector<std::string> names = told.AwaitCharges(16);
  watch.Cancel();
  EXPECT_EQ(watch.Wait().code(), absl::StatusCode::kCancelled);
  EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), 16u);
  const std::vector<int64_t> sequences = told.sequences();
  for (size_t i = 1; i < sequences.size(); ++i) EXPECT_LT(sequences[i - 1], sequences[i]);
}

TEST(ClientWatch, EndsWithWhatTheServerSays) {
  transport::TestServer server;
  auto client = Client::Connect({.address = server.server->addresses()[0]});
  ASSERT_TRUE(client.ok());
  Told told;
  EXPECT_EQ(client->WatchBudget("none", 0, told.Callback()).Wait().code(),
            absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace epsledger
