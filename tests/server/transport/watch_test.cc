// Watches on a real server: every change once and in order, from any position, whatever others do.

#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/synchronization/mutex.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/transport/grpc/limits.h"
#include "tests/server/transport/test_server.h"

namespace epsledger::transport {
namespace {

using ::testing::HasSubstr;

ServerOptions UnboundedReads() {
  return {.addresses = {"127.0.0.1:0"}, .quotas = {.read_bytes_per_second_of_tenant = 0}};
}

// One watch of a client, which fails after 250 seconds.
class OpenWatch {
 public:
  OpenWatch(TestClient& client, const std::string& name, int64_t after = 0) {
    context_.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(250));
    if (name.find("/sessions/") == name.npos) {
      v1::WatchBudgetRequest request;
      request.set_name(name);
      request.set_after_sequence(after);
      reader_ = client.budgets->WatchBudget(&context_, request);
    } else {
      v1::WatchSessionRequest request;
      request.set_name(name);
      request.set_after_sequence(after);
      reader_ = client.sessions->WatchSession(&context_, request);
    }
  }
  ~OpenWatch() { Cancel(); }

  // The next change, or a bookmark; nothing at the end.
  bool ReadAny(v1::LedgerChange* change) { return reader_->Read(change); }
  // The next change that is one.
  bool Read(v1::LedgerChange* change) {
    while (reader_->Read(change)) {
      if (change->change_case() != v1::LedgerChange::CHANGE_NOT_SET) return true;
    }
    return false;
  }
  // The changes up to the one at `sequence` or the first bookmark there or later.
  std::vector<v1::LedgerChange> ReadUpTo(int64_t sequence) {
    std::vector<v1::LedgerChange> changes;
    v1::LedgerChange change;
    while (reader_->Read(&change)) {
      if (change.change_case() != v1::LedgerChange::CHANGE_NOT_SET) changes.push_back(change);
      if (change.sequence() >= sequence) return changes;
    }
    ADD_FAILURE() << "the watch ended: " << reader_->Finish().error_message();
    return changes;
  }
  grpc::Status End() {
    v1::LedgerChange change;
    while (reader_->Read(&change)) {
    }
    return reader_->Finish();
  }
  void Cancel() { context_.TryCancel(); }

 private:
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientReader<v1::LedgerChange>> reader_;
};

int64_t HeadOf(TestClient& client, const std::string& budget) {
  return TestClient::Call(*client.audit, &v1::AuditService::Stub::GetLedgerHead,
                          Parse<v1::GetLedgerHeadRequest>("budget: '" + budget + "'"))
      .response.sequence();
}

std::vector<int64_t> Sequences(const std::vector<v1::LedgerChange>& changes) {
  std::vector<int64_t> sequences;
  for (const v1::LedgerChange& change : changes) sequences.push_back(change.sequence());
  return sequences;
}

// A tree "b" with children "c" and "d", a session in each, and a few charges in turn.
void MakeTree(TestClient& client) {
  const std::string cap = "pure_epsilon { epsilon: 1000000 }";
  ASSERT_TRUE(client.CreateBudget("b", cap).ok());
  for (const std::string id : {"c", "d"}) {
    ASSERT_TRUE(client.CreateBudget(id, cap, "parent: 'budgets/b'").ok());
    ASSERT_TRUE(client.CreateSession(id, "s").ok());
    ASSERT_TRUE(client.OpenAttempt("budgets/" + id + "/sessions/s").ok());
  }
  for (int i = 0; i < 5; ++i) {
    for (const std::string id : {"c", "d"}) {
      ASSERT_TRUE(client
                      .Charge("budgets/" + id + "/sessions/s/attempts/1", "x" + std::to_string(i),
                              "pure_dp { epsilon: " + std::to_string(1 + i % 2) + " }", 1)
                      .ok());
    }
  }
}

TEST(Watch, TellsEveryKindOfChange) {
  TestServer server;
  TestClient& client = server.client;
  client.MakeSession("pure_epsilon { epsilon: 10 }");
  ASSERT_TRUE(client.Charge(kAttempt, "a", kOneEpsilon, 1).ok());
  ASSERT_EQ(client.Charge(kAttempt, "big", "pure_dp { epsilon: 99 }", 1).code(),
            grpc::StatusCode::FAILED_PRECONDITION);
  const auto lease = TestClient::Call(
      *client.charges, &v1::ChargeService::Stub::AcquireLease,
      Parse<v1::AcquireLeaseRequest>("attempt: '" + std::string(kAttempt) +
                                     "' lease_id: 'l' count: 3 time_to_live { seconds: 60 } event "
                                     "{ pure_dp { epsilon: 1 } }"));
  ASSERT_TRUE(lease.ok()) << lease.status.error_message();
  ASSERT_TRUE(TestClient::Call(*client.charges, &v1::ChargeService::Stub::SettleLease,
                               Parse<v1::SettleLeaseRequest>("name: '" + lease.response.name() +
                                                             "' used_count: 2"))
                  .ok());
  ASSERT_EQ(client
                .CreateSession("b", "refused",
                               "mode: DECLARED plan_delta: 1e-6 plan { events { count: 50 event { "
                               "pure_dp { epsilon: 1 } } } }")
                .code(),
            grpc::StatusCode::FAILED_PRECONDITION);
  ASSERT_TRUE(TestClient::Call(
                  *client.sessions, &v1::SessionService::Stub::CloseSession,
                  Parse<v1::CloseSessionRequest>("name: 'budgets/b/sessions/s' reason: 'over'"))
                  .ok());
  ASSERT_TRUE(TestClient::Call(*client.budgets, &v1::BudgetService::Stub::FreezeBudget,
                               Parse<v1::FreezeBudgetRequest>("name: 'budgets/b' reason: 'why'"))
                  .ok());
  OpenWatch watch(client, "budgets/b");
  std::vector<std::string> kinds;
  v1::LedgerChange change;
  std::map<int, v1::LedgerChange> last;
  for (int i = 0; i < 11 && watch.Read(&change); ++i) {
    kinds.push_back(
        v1::LedgerChange::descriptor()->FindFieldByNumber(change.change_case())->name());
    last[change.change_case()] = change;
    EXPECT_TRUE(change.has_time());
  }
  EXPECT_THAT(kinds,
              ::testing::ElementsAre("budget", "session", "attempt", "charge", "charge", "charge",
                                     "lease", "lease", "refused_session", "session", "budget"));
  EXPECT_EQ(last[v1::LedgerChange::kBudget].budget().state(), v1::Budget::FROZEN);
  EXPECT_EQ(last[v1::LedgerChange::kSession].session().state(), v1::Session::CLOSED);
  EXPECT_EQ(last[v1::LedgerChange::kAttempt].attempt().name(), kAttempt);
  EXPECT_EQ(last[v1::LedgerChange::kLease].lease().used_count(), 2);
  EXPECT_EQ(last[v1::LedgerChange::kLease].lease().wasted_count(), 1);
  EXPECT_EQ(last[v1::LedgerChange::kRefusedSession].refused_session().name(),
            "budgets/b/sessions/refused");
  // A session's watch tells what is its own.
  OpenWatch session(client, "budgets/b/sessions/s");
  std::vector<v1::LedgerChange> of_session = session.ReadUpTo(HeadOf(client, "budgets/b"));
  EXPECT_EQ(of_session.size(), 8u);
}

TEST(Watch, TellsOnlyWhatIsBelowAndABookmarkForTheRest) {
  TestServer server;
  MakeTree(server.client);
  const int64_t head = HeadOf(server.client, "budgets/b");
  std::set<int64_t> of_children;
  for (const std::string id : {"c", "d"}) {
    OpenWatch watch(server.client, "budgets/" + id);
    for (const v1::LedgerChange& change : watch.ReadUpTo(head)) {
      if (change.has_charge()) {
        EXPECT_EQ(change.charge().name().rfind("budgets/" + id + "/", 0), 0u);
      }
      EXPECT_TRUE(of_children.insert(change.sequence()).second) << change.sequence();
    }
    OpenWatch session(server.client, "budgets/" + id + "/sessions/s");
    EXPECT_EQ(session.ReadUpTo(head).size(), 7u);  // created, attempt, five charges
  }
  EXPECT_EQ(of_children.size(), 2u * 8);
  OpenWatch root(server.client, "budgets/b");
  EXPECT_EQ(root.ReadUpTo(head).size(), of_children.size() + 1);
}

TEST(Watch, GoesOnFromEveryPositionWithTheSameChanges) {
  TestServer server;
  MakeTree(server.client);
  const int64_t head = HeadOf(server.client, "budgets/b");
  for (const std::string name : {"budgets/b", "budgets/c", "budgets/d/sessions/s"}) {
    OpenWatch whole(server.client, name);
    const std::vector<int64_t> all = Sequences(whole.ReadUpTo(head));
    for (int64_t after = 0; after < head; ++after) {
      OpenWatch watch(server.client, name, after);
      std::vector<int64_t> want;
      for (const int64_t sequence : all) {
        if (sequence > after) want.push_back(sequence);
      }
      ASSERT_EQ(Sequences(watch.ReadUpTo(head)), want) << name << " after " << after;
    }
  }
}

TEST(Watch, TellsEveryChangeOnceAndInOrderWhileOthersCharge) {
  TestServer server;
  MakeTree(server.client);
  constexpr int kWriters = 4;
  constexpr int kCharges = 150;
  OpenWatch watch(server.client, "budgets/c");
  std::vector<std::thread> writers;
  for (int w = 0; w < kWriters; ++w) {
    writers.emplace_back([&server, w] {
      TestClient client(ChannelTo(*server.server));
      for (int i = 0; i < kCharges; ++i) {
        const std::string id = i % 2 == 0 ? "c" : "d";
        ASSERT_TRUE(client
                        .Charge("budgets/" + id + "/sessions/s/attempts/1",
                                std::to_string(w) + ":" + std::to_string(i), kOneEpsilon, 1)
                        .ok());
      }
    });
  }
  int64_t last = 0;
  std::set<std::string> names;
  v1::LedgerChange change;
  while (names.size() < 5 + kWriters * kCharges / 2 && watch.ReadAny(&change)) {
    ASSERT_GT(change.sequence(), last);
    last = change.sequence();
    if (change.has_charge()) {
      EXPECT_TRUE(names.insert(change.charge().name()).second);
    }
  }
  for (std::thread& writer : writers) writer.join();
  EXPECT_EQ(names.size(), 5u + kWriters * kCharges / 2);
}

TEST(Watch, RefusesWhatIsNotThere) {
  TestServer server;
  MakeTree(server.client);
  const auto code = [&](const std::string& name, int64_t after) {
    const grpc::Status status = OpenWatch(server.client, name, after).End();
    EXPECT_FALSE(status.ok());
    return status;
  };
  EXPECT_EQ(code("budgets/none", 0).error_code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(code("budgets/b/sessions/none", 0).error_code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(code("none", 0).error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(code("budgets/b", -1).error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  const grpc::Status ahead = code("budgets/b", HeadOf(server.client, "budgets/b") + 1);
  EXPECT_EQ(ahead.error_code(), grpc::StatusCode::DATA_LOSS);
  EXPECT_THAT(ahead.error_message(), HasSubstr("afterSequence"));
}

// What 200 watchers are told in a second is more than one tenant's share by default.
TEST(Watch, TwoHundredWatchersAllSeeEverything) {
  TestServer server(UnboundedReads());
  MakeTree(server.client);
  constexpr int kWatchers = 200;
  constexpr int kCharges = 100;
  std::vector<std::unique_ptr<OpenWatch>> watches;
  const int64_t after = HeadOf(server.client, "budgets/b");
  for (int i = 0; i < kWatchers; ++i) {
    watches.push_back(std::make_unique<OpenWatch>(server.client, "budgets/b", after));
  }
  for (int i = 0; i < kCharges; ++i) {
    ASSERT_TRUE(server.client
                    .Charge("budgets/c/sessions/s/attempts/1", "w" + std::to_string(i),
                            "pure_dp { epsilon: 1 }", 1)
                    .ok());
  }
  const int64_t head = HeadOf(server.client, "budgets/b");
  std::vector<int64_t> want;
  for (int64_t sequence = after + 1; sequence <= head; ++sequence) want.push_back(sequence);
  for (const auto& watch : watches) ASSERT_EQ(Sequences(watch->ReadUpTo(head)), want);
}

TEST(Watch, MoreStreamsThanATenantsShareAreUnavailableUntilOthersEnd) {
  TestServer server(UnboundedReads());
  MakeTree(server.client);
  TestClient second(NarrowChannelTo(*server.server));
  std::vector<std::unique_ptr<OpenWatch>> watches;
  v1::LedgerChange change;
  for (size_t i = 0; i < kMaxOpenStreams / 2; ++i) {
    watches.push_back(
        std::make_unique<OpenWatch>(i % 2 == 0 ? server.client : second, "budgets/b"));
    ASSERT_TRUE(watches.back()->ReadAny(&change));
  }
  const grpc::Status status = OpenWatch(server.client, "budgets/b").End();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::UNAVAILABLE) << status.error_message();
  for (const auto& watch : watches) watch->Cancel();
  watches.clear();
  // The ends reach the server one by one.
  grpc::Status again;
  do {
    OpenWatch watch(server.client, "budgets/b");
    if (watch.ReadAny(&change)) return;
    again = watch.End();
  } while (again.error_code() == grpc::StatusCode::UNAVAILABLE);
  FAIL() << again.error_message();
}

// Counts what is read of a ledger.
class CountingLedger : public core::DurableLedger {
 public:
  explicit CountingLedger(core::DurableLedger& ledger) : ledger_(ledger) {}
  void Submit(core::Tenant tenant, core::Command command, Reply reply) override {
    ledger_.Submit(std::move(tenant), std::move(command), std::move(reply));
  }
  void Read(core::Tenant tenant, ReadFunction read) override {
    ++reads_;
    ledger_.Read(std::move(tenant), std::move(read));
  }
  std::shared_ptr<const core::TokenTable> Tokens() const override { return ledger_.Tokens(); }
  absl::Status Health() const override { return ledger_.Health(); }
  int reads() const { return reads_; }

 private:
  core::DurableLedger& ledger_;
  std::atomic<int> reads_ = 0;
};

TEST(Watch, ASlowReaderHoldsUpNoChargeAndCostsOnePage) {
  TestServer inner;
  CountingLedger ledger(*inner.ledger);
  const std::unique_ptr<Server> server = *Server::Start({.addresses = {"127.0.0.1:0"}}, ledger);
  TestClient client(ChannelTo(*server));
  MakeTree(client);
  // Events of 8 kB: a few of them fill the transport's window.
  std::string event = "composed {";
  for (int i = 0; i < 400; ++i) {
    event += " events { count: 1 event { gaussian { noise_multiplier: " + std::to_string(5000 + i) +
             " } } }";
  }
  event += " }";
  ASSERT_TRUE(client.CreateBudget("g", "zcdp { rho: 1000000 }").ok());
  ASSERT_TRUE(client.CreateSession("g", "s").ok());
  ASSERT_TRUE(client.OpenAttempt("budgets/g/sessions/s").ok());
  TestClient reader(NarrowChannelTo(*server));
  OpenWatch slow(reader, "budgets/g");  // reads nothing until the end
  v1::LedgerChange change;
  ASSERT_TRUE(slow.ReadAny(&change));
  const int before = ledger.reads();
  constexpr int kCharges = 400;
  for (int i = 0; i < kCharges; ++i) {
    const auto reply =
        client.Charge("budgets/g/sessions/s/attempts/1", std::to_string(i), event, 1);
    ASSERT_TRUE(reply.ok()) << reply.status.error_message();
  }
  // What it was told before gRPC's buffers were full, and one page: no more is read or held.
  EXPECT_LE(ledger.reads() - before, kCharges / 4);
  std::vector<int64_t> sequences = {change.sequence()};
  for (const v1::LedgerChange& next : slow.ReadUpTo(HeadOf(client, "budgets/g"))) {
    sequences.push_back(next.sequence());
  }
  EXPECT_EQ(sequences.size(), 3u + kCharges);
}

TEST(Watch, DrainEndsWatchesAtOnce) {
  TestServer server;
  MakeTree(server.client);
  OpenWatch watch(server.client, "budgets/b");
  v1::LedgerChange change;
  ASSERT_TRUE(watch.Read(&change));
  std::thread drain([&server] { server.server->Drain(absl::InfiniteDuration()); });
  const grpc::Status status = watch.End();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::UNAVAILABLE) << status.error_message();
  drain.join();
}

TEST(Watch, CancelledWatchesLetTheServerGo) {
  TestServer server;
  MakeTree(server.client);
  for (int i = 0; i < 100; ++i) {
    OpenWatch watch(server.client, i % 2 == 0 ? "budgets/b" : "budgets/c/sessions/s");
    v1::LedgerChange change;
    if (i % 3 != 0) {
      ASSERT_TRUE(watch.ReadAny(&change));
    }
  }
  EXPECT_TRUE(server.client.Charge("budgets/c/sessions/s/attempts/1", "a", kOneEpsilon, 1).ok());
}

// Streams of what is stored give way where the tenant reads more than it may: all of it comes, in
// its time.
TEST(ReadRateOfStreams, AWatchAndAnExportTakeAtLeastTheTimeThatTheirBytesMay) {
  constexpr double kBytesPerSecond = 60'000;
  TestServer server({.addresses = {"127.0.0.1:0"},
                     .quotas = {.read_bytes_per_second_of_tenant = kBytesPerSecond}});
  server.client.MakeSession("zcdp { rho: 1e9 }");
  constexpr int64_t kCharges = 3 * kWatchPageEntries;
  for (int64_t i = 0; i < kCharges; ++i) {
    ASSERT_TRUE(
        server.client
            .Charge(kAttempt, "c" + std::to_string(i), "gaussian { noise_multiplier: 9 }", 1)
            .ok());
  }
  const int64_t head = HeadOf(server.client, "budgets/b");
  const auto begin = std::chrono::steady_clock::now();
  const auto seconds = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  double bytes = 0;
  OpenWatch watch(server.client, "budgets/b");
  for (const v1::LedgerChange& change : watch.ReadUpTo(head)) {
    bytes += static_cast<double>(change.ByteSizeLong());
  }
  watch.Cancel();
  int64_t count = 0;
  double last_page = 0;
  grpc::Status status;
  // Until what the watch was told is paid off it may not begin.
  do {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(60));
    const auto entries = server.client.audit->ExportLedger(
        &context, Parse<v1::ExportLedgerRequest>("budget: 'budgets/b'"));
    v1::AuditEntry entry;
    while (entries->Read(&entry)) {
      bytes += static_cast<double>(entry.ByteSizeLong());
      if (++count > head - kEntriesPerRead) last_page += static_cast<double>(entry.ByteSizeLong());
    }
    status = entries->Finish();
  } while (count == 0 && status.error_code() == grpc::StatusCode::UNAVAILABLE);
  EXPECT_TRUE(status.ok()) << status.error_message();
  EXPECT_EQ(count, head);
  // A second's bytes are free, and those of the last page come before they are paid off.
  EXPECT_GE(seconds(), (bytes - last_page) / kBytesPerSecond - 1);
  EXPECT_GT(bytes, 1.5 * kBytesPerSecond);
}

}  // namespace
}  // namespace epsledger::transport
