// Heads that clients bring back: only one that a server of this ledger gave out can stop it.

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <filesystem>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "absl/synchronization/notification.h"
#include "server/storage/sqlite/sqlite_store.h"
#include "server/transport/grpc/head_key.h"
#include "tests/server/storage/scratch_folder.h"
#include "tests/server/transport/test_server.h"

namespace epsledger::transport {
namespace {

using ::testing::HasSubstr;

// A server whose key is that of others with the same file.
struct KeyedServer {
  explicit KeyedServer(const std::string& key_file, std::unique_ptr<storage::LedgerStore> store =
                                                        std::make_unique<storage::MemoryStore>())
      : ledger(*storage::GroupCommitLedger::Open(std::move(store), {})),
        server(*Server::Start({.addresses = {"127.0.0.1:0"}, .statement_key_file = key_file},
                              *ledger)),
        client(ChannelTo(*server)) {}
  const std::unique_ptr<core::DurableLedger> ledger;
  const std::unique_ptr<Server> server;
  TestClient client;
};

v1::LedgerHead HeadOf(const v1::Charge& charge, const std::string& budget = "budgets/b") {
  v1::LedgerHead head;
  head.set_root_budget(budget);
  head.set_sequence(charge.sequence());
  head.set_hash(charge.hash());
  head.set_tag(charge.head_tag());
  return head;
}

class HeadsRpc : public testing::Test {
 protected:
  HeadsRpc() { server_->client.MakeSession("pure_epsilon { epsilon: 100000 }"); }

  static Reply<v1::Charge> ChargeHaving(TestClient& client, const v1::LedgerHead& seen,
                                        const std::string& id, bool validate_only = false) {
    v1::ChargeRequest request =
        Parse<v1::ChargeRequest>(std::string("attempt: '") + kAttempt + "' charge_id: '" + id +
                                 "' event { " + kOneEpsilon + " } count: 1");
    *request.mutable_last_seen_head() = seen;
    request.set_validate_only(validate_only);
    return TestClient::Call<v1::Charge>(*client.charges, &v1::ChargeService::Stub::Charge, request);
  }

  ScratchFolder folder_;
  const std::string key_file_ = folder_.path() + "/statement.key";
  std::unique_ptr<KeyedServer> server_ = std::make_unique<KeyedServer>(key_file_);
  TestClient& client_ = server_->client;
};

TEST_F(HeadsRpc, EveryHeadThatAServerGivesOutIsGoodWhenItComesBackAtAnyDistance) {
  std::vector<v1::LedgerHead> heads;
  heads.push_back(HeadOf(client_.Charge(kAttempt, "one", kOneEpsilon, 1).response));
  const auto attempt = client_.OpenAttempt("budgets/b/sessions/s");
  v1::Charge as_charge;
  as_charge.set_sequence(attempt.response.sequence());
  as_charge.set_hash(attempt.response.hash());
  as_charge.set_head_tag(attempt.response.head_tag());
  heads.push_back(HeadOf(as_charge));
  const std::string newest = "budgets/b/sessions/s/attempts/2";
  const auto lease = TestClient::Call<v1::Lease>(
      *client_.charges, &v1::ChargeService::Stub::AcquireLease,
      Parse<v1::AcquireLeaseRequest>("attempt: '" + newest + "' lease_id: 'l' event { " +
                                     kOneEpsilon + " } count: 2 time_to_live { seconds: 60 }"));
  as_charge.set_sequence(lease.response.sequence());
  as_charge.set_hash(lease.response.hash());
  as_charge.set_head_tag(lease.response.head_tag());
  heads.push_back(HeadOf(as_charge));
  const auto head =
      TestClient::Call<v1::LedgerHead>(*client_.audit, &v1::AuditService::Stub::GetLedgerHead,
                                       Parse<v1::GetLedgerHeadRequest>("budget: 'budgets/b'"));
  ASSERT_TRUE(head.ok());
  heads.push_back(head.response);
  heads.back().clear_merkle_root();
  for (const v1::LedgerHead& given : heads) EXPECT_EQ(given.tag().size(), 16u);
  for (int round = 0; round < 2; ++round) {
    for (size_t i = 0; i < heads.size(); ++i) {
      v1::ChargeRequest request = Parse<v1::ChargeRequest>(
          "attempt: '" + newest + "' charge_id: 'back-" + std::to_string(round) + "-" +
          std::to_string(i) + "' event { " + kOneEpsilon + " } count: 1");
      *request.mutable_last_seen_head() = heads[i];
      const auto charged =
          TestClient::Call<v1::Charge>(*client_.charges, &v1::ChargeService::Stub::Charge, request);
      EXPECT_TRUE(charged.ok()) << i << ": " << charged.status.error_message();
    }
    // Beyond what the server remembers.
    for (int i = 0; i < 300 && round == 0; ++i) {
      ASSERT_TRUE(client_.Charge(newest, "more-" + std::to_string(i), kOneEpsilon, 1).ok());
    }
  }
  // Also without its tag, as clients of release 0.1 send it: the ledger holds it.
  heads[0].clear_tag();
  v1::ChargeRequest old = Parse<v1::ChargeRequest>(
      "attempt: '" + newest + "' charge_id: 'old' event { " + kOneEpsilon + " } count: 1");
  *old.mutable_last_seen_head() = heads[0];
  EXPECT_TRUE(
      TestClient::Call<v1::Charge>(*client_.charges, &v1::ChargeService::Stub::Charge, old).ok());
}

TEST_F(HeadsRpc, NoForgedHeadStopsALedger) {
  const v1::LedgerHead good = HeadOf(client_.Charge(kAttempt, "one", kOneEpsilon, 1).response);
  std::mt19937_64 random(3);
  const auto bytes = [&](size_t size) {
    std::string text(size, '\0');
    for (char& byte : text) byte = static_cast<char>(random());
    return text;
  };
  for (int i = 0; i < 10'000; ++i) {
    v1::LedgerHead forged = good;
    const uint64_t kind = random() % 6;
    if (kind == 0) forged.set_sequence(1'000'000'000);
    if (kind == 1) forged.set_hash(bytes(32));
    if (kind == 2) {
      forged.set_sequence(static_cast<int64_t>(random() >> 1) | 1024);
      forged.set_hash(bytes(32));
      forged.set_tag(bytes(16));
    }
    if (kind == 3) {
      forged.set_sequence(good.sequence() + 1 + static_cast<int64_t>(random() % 100));
      forged.clear_hash();
      forged.clear_tag();
    }
    if (kind == 4) {
      forged.mutable_hash()->at(random() % 32) ^= static_cast<char>(1 << random() % 8);
    }
    if (kind == 5) {
      forged.set_sequence(good.sequence() + 1);
      forged.set_tag(bytes(random() % 40));
    }
    const auto refused = ChargeHaving(client_, forged, "forged", random() % 2 == 0);
    ASSERT_EQ(refused.code(), grpc::StatusCode::INVALID_ARGUMENT)
        << forged.DebugString() << refused.status.error_message();
    ASSERT_THAT(refused.status.error_message(), HasSubstr("lastSeenHead: got entry "));
  }
  EXPECT_TRUE(ChargeHaving(client_, good, "after").ok());
}

// A head of one ledger says nothing of another one, on this server or elsewhere.
TEST_F(HeadsRpc, AHeadOfAnotherLedgerStopsNothing) {
  ASSERT_TRUE(client_.CreateBudget("long", "pure_epsilon { epsilon: 100000 }").ok());
  ASSERT_TRUE(client_.CreateSession("long", "s").ok());
  ASSERT_TRUE(client_.OpenAttempt("budgets/long/sessions/s").ok());
  v1::Charge far;
  for (int i = 0; i < 50; ++i) {
    far = client_
              .Charge("budgets/long/sessions/s/attempts/1", "c" + std::to_string(i), kOneEpsilon, 1)
              .response;
  }
  EXPECT_EQ(ChargeHaving(client_, HeadOf(far), "replayed").code(),
            grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_TRUE(ChargeHaving(client_, HeadOf(far, "budgets/long"), "of-its-own").ok());

  // The server for trying things out has the same names and another key.
  KeyedServer staging(folder_.path() + "/staging.key");
  staging.client.MakeSession("pure_epsilon { epsilon: 100000 }");
  for (int i = 0; i < 20; ++i) {
    far = staging.client.Charge(kAttempt, "c" + std::to_string(i), kOneEpsilon, 1).response;
  }
  const auto foreign = ChargeHaving(client_, HeadOf(far), "foreign");
  EXPECT_EQ(foreign.code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_THAT(foreign.status.error_message(), HasSubstr("of another server or ledger"));
  EXPECT_TRUE(client_.Charge(kAttempt, "goes-on", kOneEpsilon, 1).ok());
}

// A copy of yesterday, on which others have charged since.
TEST_F(HeadsRpc, AnAuthenticHeadOfALostFutureStopsItsLedgerAtAnyDistance) {
  ASSERT_TRUE(client_.CreateBudget("healthy", "pure_epsilon { epsilon: 100 }").ok());
  ASSERT_TRUE(client_.CreateSession("healthy", "s").ok());
  ASSERT_TRUE(client_.OpenAttempt("budgets/healthy/sessions/s").ok());
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(client_.Charge(kAttempt, "c" + std::to_string(i), kOneEpsilon, 1).ok());
  }
  std::vector<core::Entry> entries;
  std::vector<core::Entry> healthy;
  absl::Notification read;
  server_->ledger->Read({}, [&](absl::StatusOr<core::LedgerReader*> reader) {
    entries = *(*reader)->ListEntries(*(*reader)->LedgerOf("b"), 0, 1000);
    healthy = *(*reader)->ListEntries(*(*reader)->LedgerOf("healthy"), 0, 1000);
    read.Notify();
  });
  read.WaitForNotification();
  // What was acknowledged after the copy was made.
  const v1::LedgerHead lost = HeadOf(client_.Charge(kAttempt, "lost", kOneEpsilon, 1).response);

  for (const int since : {0, 1, 300, 5000}) {
    SCOPED_TRACE(since);
    auto store = std::make_unique<storage::MemoryStore>();
    ASSERT_TRUE(store->Begin().ok());
    for (const core::Entry& entry : entries) ASSERT_TRUE(store->Append("b", entry).ok());
    for (const core::Entry& entry : healthy) ASSERT_TRUE(store->Append("healthy", entry).ok());
    ASSERT_TRUE(store->Commit().ok());
    KeyedServer restored(key_file_, std::move(store));
    for (int i = 0; i < since; ++i) {
      ASSERT_TRUE(restored.client.Charge(kAttempt, "s" + std::to_string(i), kOneEpsilon, 1).ok());
    }
    v1::LedgerHead without_tag = lost;
    without_tag.clear_tag();
    EXPECT_EQ(ChargeHaving(restored.client, without_tag, "x").code(),
              grpc::StatusCode::INVALID_ARGUMENT)
        << "what cannot be proved stops nobody else";
    EXPECT_TRUE(restored.client.Charge(kAttempt, "y", kOneEpsilon, 1).ok());
    const auto stopped = ChargeHaving(restored.client, lost, "x", /*validate_only=*/true);
    EXPECT_EQ(stopped.code(), grpc::StatusCode::DATA_LOSS) << stopped.status.error_message();
    EXPECT_EQ(restored.client.Charge(kAttempt, "z", kOneEpsilon, 1).code(),
              grpc::StatusCode::DATA_LOSS);
    EXPECT_TRUE(
        restored.client.Charge("budgets/healthy/sessions/s/attempts/1", "h", kOneEpsilon, 1).ok());
    EXPECT_TRUE(restored.client.GetBudget("budgets/b").ok()) << "it may be read";
  }
}

TEST_F(HeadsRpc, ATagIsSixteenBytesOfOneHeadOfOneTenant) {
  const HeadKey key(std::string(32, 'k'), {});
  const std::string hash(32, 'h');
  const std::string tag = key.TagOf({"t"}, "b", 7, hash);
  EXPECT_EQ(tag.size(), 16u);
  EXPECT_EQ(tag, key.TagOf({"t"}, "b", 7, hash));
  EXPECT_NE(tag, key.TagOf({"u"}, "b", 7, hash));
  EXPECT_NE(tag, key.TagOf({"t"}, "c", 7, hash));
  EXPECT_NE(tag, key.TagOf({"t"}, "b", 8, hash));
  EXPECT_NE(tag, key.TagOf({"t"}, "b", 7, std::string(32, 'i')));
  EXPECT_NE(key.TagOf({"tb"}, "", 7, hash), key.TagOf({"t"}, "b", 7, hash));
  EXPECT_NE(tag, HeadKey(std::string(32, 'l'), {}).TagOf({"t"}, "b", 7, hash));
  // After another secret came in its place it is good still, and no new one is made with it.
  const HeadKey next(std::string(32, 'l'), {}, {std::string(32, 'k')});
  core::SeenHead seen{.root_budget_id = "b", .sequence = 7, .hash = hash};
  next.Check({"t"}, tag, &seen);
  EXPECT_TRUE(seen.is_authentic);
  next.Check({"u"}, tag, &seen);
  EXPECT_FALSE(seen.is_authentic);
  EXPECT_EQ(next.TagOf({"t"}, "b", 7, hash),
            HeadKey(std::string(32, 'l'), {}).TagOf({"t"}, "b", 7, hash));
  HeadKey(std::string(32, 'l'), {}).Check({"t"}, tag, &seen);
  EXPECT_FALSE(seen.is_authentic);
  // It is HMAC, as OpenSSL has it, of what is written out here.
  const std::string secret(32, 'k');
  std::string written;
  for (const std::string& part : {std::string("t"), std::string("b"), std::string(), hash}) {
    written += std::string(7, '\0') + static_cast<char>(part.empty() ? 7 : part.size()) + part;
  }
  unsigned char mac[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  ASSERT_NE(
      HMAC(EVP_sha256(), secret.data(), static_cast<int>(secret.size()),
           reinterpret_cast<const unsigned char*>(written.data()), written.size(), mac, &size),
      nullptr);
  EXPECT_EQ(tag, std::string(reinterpret_cast<const char*>(mac), 16));
  core::SeenHead head{"b", 7, hash};
  key.Check({"t"}, tag, &head);
  EXPECT_TRUE(head.is_authentic);
  key.Check({"t"}, tag.substr(0, 15), &head);
  EXPECT_FALSE(head.is_authentic);
  core::SeenHead bare{"b", 7, ""};
  key.Check({"t"}, key.TagOf({"t"}, "b", 7, ""), &bare);
  EXPECT_FALSE(bare.is_authentic);
}

TEST_F(HeadsRpc, ATagNamesTheIncarnationThatGaveItOut) {
  const core::Incarnation first{
      .id = {1, 2, 3, 4, 5, 6, 7, 8, 9}, .begin_seconds = 0, .reason = "first served"};
  const core::Incarnation second{.id = {9}, .begin_seconds = 86400, .reason = "copied"};
  const std::string secret(32, 'k');
  const std::string hash(32, 'h');
  const HeadKey before(secret, {first});
  const HeadKey after(secret, {first, second});
  const std::string tag = before.TagOf({"t"}, "b", 7, hash);
  EXPECT_EQ(tag.size(), 24u);
  core::SeenHead head{"b", 7, hash};
  before.Check({"t"}, tag, &head);
  EXPECT_TRUE(head.is_authentic);
  EXPECT_EQ(head.other_incarnation, "");
  after.Check({"t"}, tag, &head);
  EXPECT_TRUE(head.is_authentic);
  EXPECT_EQ(
      head.other_incarnation,
      "incarnation 0102030405060708 of the ledger, and this server has 0900000000000000, since "
      "1970-01-02 00:00:00 UTC: copied");
  // Another key does not know it, and says the same of it.
  const HeadKey stranger(std::string(32, 'l'), {second});
  stranger.Check({"t"}, tag, &head);
  EXPECT_FALSE(head.is_authentic);
  EXPECT_THAT(head.other_incarnation, HasSubstr("incarnation 0102030405060708"));
  // Nobody turns one into the other, or makes one that names none.
  for (size_t i = 0; i < tag.size(); ++i) {
    std::string other = tag;
    other[i] = static_cast<char>(other[i] ^ 1);
    before.Check({"t"}, other, &head);
    EXPECT_FALSE(head.is_authentic) << i;
  }
  before.Check({"t"}, tag.substr(0, 16), &head);
  EXPECT_FALSE(head.is_authentic);
  // Servers of before gave out tags without one.
  after.Check({"t"}, HeadKey(secret, {}).TagOf({"t"}, "b", 7, hash), &head);
  EXPECT_TRUE(head.is_authentic);
  EXPECT_EQ(head.other_incarnation, "");
}

TEST_F(HeadsRpc, AClientOfAnotherIncarnationIsToldBeforeItCharges) {
  const std::string path = folder_.path() + "/ledger.sqlite";
  const auto open = [&](const std::string& why) {
    return *storage::SqliteStore::Open(path, {.anchored = true, .begin_because = why});
  };
  v1::LedgerHead seen;
  {
    KeyedServer server(key_file_, open(""));
    server.client.MakeSession("pure_epsilon { epsilon: 100 }");
    seen = HeadOf(server.client.Charge(kAttempt, "first", kOneEpsilon, 1).response);
    EXPECT_TRUE(ChargeHaving(server.client, seen, "second").ok());
  }
  KeyedServer server(key_file_, open("restored by a test"));
  const auto told = ChargeHaving(server.client, seen, "third");
  EXPECT_EQ(told.code(), grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_THAT(told.status.error_message(), HasSubstr("restored by a test"));
  EXPECT_THAT(told.status.error_message(), HasSubstr("taken in two places"));
  // Nobody else is stopped, and who comes without a head goes on.
  const auto charged = server.client.Charge(kAttempt, "third", kOneEpsilon, 1);
  ASSERT_TRUE(charged.ok()) << charged.status.error_message();
  EXPECT_TRUE(ChargeHaving(server.client, HeadOf(charged.response), "fourth").ok());
  ASSERT_EQ(server.ledger->Incarnations().size(), 2u);
}

// A copy has the same key, and goes on by itself: what it gives out is no loss of the original's.
TEST_F(HeadsRpc, AHeadOfACopyStopsNobody) {
  const std::string path = folder_.path() + "/ledger.sqlite";
  const std::string copied = folder_.path() + "/copy.sqlite";
  {
    KeyedServer server(key_file_, *storage::SqliteStore::Open(path, {.anchored = true}));
    server.client.MakeSession("pure_epsilon { epsilon: 100 }");
  }
  for (const char* ending : {"", "-anchor"}) {
    std::filesystem::copy_file(path + ending, copied + ending);
  }
  std::vector<v1::LedgerHead> heads;
  {
    std::filesystem::create_directory(folder_.path() + "/copy");
    for (const char* ending : {"", "-anchor"}) {
      std::filesystem::copy_file(copied + ending, folder_.path() + "/copy/ledger.sqlite" + ending);
    }
    KeyedServer copy(key_file_, *storage::SqliteStore::Open(folder_.path() + "/copy/ledger.sqlite",
                                                            {.anchored = true}));
    ASSERT_EQ(copy.ledger->Incarnations().size(), 2u);
    for (int i = 0; i < 5; ++i) {
      heads.push_back(
          HeadOf(copy.client.Charge(kAttempt, "c" + std::to_string(i), kOneEpsilon, 1).response));
    }
    ASSERT_TRUE(copy.client.CreateBudget("staging", "pure_epsilon { epsilon: 100 }").ok());
    ASSERT_TRUE(copy.client.CreateSession("staging", "s").ok());
    ASSERT_TRUE(copy.client.OpenAttempt("budgets/staging/sessions/s").ok());
    heads.push_back(HeadOf(
        copy.client.Charge("budgets/staging/sessions/s/attempts/1", "s", kOneEpsilon, 1).response,
        "budgets/staging"));
  }
  KeyedServer original(key_file_, *storage::SqliteStore::Open(path, {.anchored = true}));
  ASSERT_TRUE(original.client.Charge(kAttempt, "its-own", kOneEpsilon, 1).ok());
  for (const v1::LedgerHead& head : heads) {
    const auto told = ChargeHaving(original.client, head, "x");
    EXPECT_EQ(told.code(), grpc::StatusCode::FAILED_PRECONDITION) << told.status.error_message();
    EXPECT_THAT(told.status.error_message(), HasSubstr("It is of a copy of this ledger"));
    EXPECT_TRUE(
        original.client.Charge(kAttempt, "y" + std::to_string(head.sequence()), kOneEpsilon, 1)
            .ok());
  }
}

// What an incarnation lost that has ended was lost together: an admin says so once.
TEST_F(HeadsRpc, OneLiftIsOfAllThatAnEarlierIncarnationLost) {
  const std::string path = folder_.path() + "/ledger.sqlite";
  std::vector<v1::LedgerHead> heads;
  {
    KeyedServer server(key_file_, *storage::SqliteStore::Open(path, {.anchored = true}));
    server.client.MakeSession("pure_epsilon { epsilon: 100 }");
  }
  std::filesystem::create_directory(folder_.path() + "/early");
  for (const char* ending : {"", "-anchor"}) {
    std::filesystem::copy_file(path + ending, folder_.path() + "/early/ledger.sqlite" + ending);
  }
  {
    KeyedServer server(key_file_, *storage::SqliteStore::Open(path, {.anchored = true}));
    for (int i = 0; i < 20; ++i) {
      heads.push_back(
          HeadOf(server.client.Charge(kAttempt, "c" + std::to_string(i), kOneEpsilon, 1).response));
    }
  }
  KeyedServer restored(key_file_, *storage::SqliteStore::Open(
                                      folder_.path() + "/early/ledger.sqlite", {.anchored = true}));
  EXPECT_EQ(ChargeHaving(restored.client, heads[3], "x").code(), grpc::StatusCode::DATA_LOSS);
  EXPECT_EQ(restored.client.Charge(kAttempt, "x", kOneEpsilon, 1).code(),
            grpc::StatusCode::DATA_LOSS);
  absl::Notification lifted;
  restored.ledger->Submit(
      {}, {.body = core::AccessCommand{core::LiftQuarantine{"b", {"an admin", {}}, "a test"}}},
      [&](const absl::StatusOr<core::Outcome>& outcome) {
        EXPECT_TRUE(outcome.ok()) << outcome.status();
        lifted.Notify();
      });
  lifted.WaitForNotification();
  for (size_t i = heads.size(); i-- > 0;) {
    const auto told = ChargeHaving(restored.client, heads[i], "y");
    EXPECT_EQ(told.code(), grpc::StatusCode::DATA_LOSS) << i;
    EXPECT_THAT(told.status.error_message(), HasSubstr("known to be lost"));
    EXPECT_TRUE(restored.client.Charge(kAttempt, "z" + std::to_string(i), kOneEpsilon, 1).ok())
        << "nobody else is stopped";
  }
}

}  // namespace
}  // namespace epsledger::transport
