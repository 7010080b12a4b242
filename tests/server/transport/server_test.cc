// The server as a whole: who may listen where, health, reflection, draining, a ledger that fails.

#include "server/transport/grpc/server.h"

#include <atomic>
#include <deque>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/transport/grpc/health_probe.h"
#include "tests/server/transport/test_server.h"

namespace epsledger::transport {
namespace {

using ::testing::HasSubstr;

// A ledger that keeps what it is asked and never answers, until told.
class SilentLedger : public core::DurableLedger {
 public:
  void Submit(core::Tenant, core::Command, Reply reply) override {
    absl::MutexLock lock(&mutex_);
    replies_.push_back(std::move(reply));
  }
  void Read(core::Tenant, ReadFunction read) override {
    absl::MutexLock lock(&mutex_);
    reads_.push_back(std::move(read));
  }
  std::shared_ptr<const core::TokenTable> Tokens() const override {
    return std::make_shared<core::TokenTable>();
  }
  absl::Status Health() const override {
    return healthy_ ? absl::OkStatus() : absl::UnavailableError("the disk is full");
  }

  void SetHealthy(bool healthy) { healthy_ = healthy; }
  void WaitFor(size_t count) {
    absl::MutexLock lock(&mutex_);
    const auto enough = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
      return replies_.size() + reads_.size() >= count;
    };
    mutex_.Await(absl::Condition(&enough));
  }
  // Answers everything, however late.
  void AnswerAll() {
    std::deque<Reply> replies;
    std::deque<ReadFunction> reads;
    {
      absl::MutexLock lock(&mutex_);
      replies.swap(replies_);
      reads.swap(reads_);
    }
    for (Reply& reply : replies) std::move(reply)(core::AttemptOutcome{7});
    for (ReadFunction& read : reads) std::move(read)(absl::UnavailableError("late"));
  }
  // Forgets everything without an answer, which the port forbids.
  void DropAll() {
    absl::MutexLock lock(&mutex_);
    replies_.clear();
    reads_.clear();
  }

 private:
  std::atomic<bool> healthy_{true};
  absl::Mutex mutex_;
  std::deque<Reply> replies_ ABSL_GUARDED_BY(mutex_);
  std::deque<ReadFunction> reads_ ABSL_GUARDED_BY(mutex_);
};

std::unique_ptr<Server> StartOver(core::DurableLedger& ledger) {
  auto server = Server::Start({.addresses = {"127.0.0.1:0"}}, ledger);
  EXPECT_TRUE(server.ok()) << server.status();
  return *std::move(server);
}

TEST(Server, PlaintextIsForThisMachineOnlyUnlessSaidOtherwise) {
  for (const char* address :
       {"127.0.0.1:0", "127.9.9.9:1", "[::1]:5", "localhost:0", "unix:/run/x.sock", "unix:x"}) {
    EXPECT_TRUE(IsLocalAddress(address)) << address;
  }
  for (const char* address : {"0.0.0.0:0", "[::]:0", "10.0.0.1:1", "example.org:1", ":1", "*:1",
                              "127.example.org:1", "127.0.0.1.example.org:1", "localhost.evil:1"}) {
    EXPECT_FALSE(IsLocalAddress(address)) << address;
  }
  SilentLedger ledger;
  const auto refused = Server::Start({.addresses = {"127.0.0.1:0", "0.0.0.0:0"}}, ledger).status();
  EXPECT_EQ(refused.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(refused.message()),
              HasSubstr("0.0.0.0:0 can be reached from other machines and would speak plaintext"));
  EXPECT_TRUE(Server::Start({.addresses = {"0.0.0.0:0"}, .insecure_plaintext = true}, ledger).ok());
}

TEST(Server, OptionsThatDoNotGoTogetherAreRefused) {
  SilentLedger ledger;
  const auto fails = [&](const ServerOptions& options, absl::StatusCode code) {
    EXPECT_EQ(Server::Start(options, ledger).status().code(), code);
  };
  fails({}, absl::StatusCode::kInvalidArgument);
  fails({.addresses = {"127.0.0.1:0"}, .tls_certificate_file = "c.pem"},
        absl::StatusCode::kInvalidArgument);
  fails({.addresses = {"127.0.0.1:0"}, .tls_client_ca_file = "ca.pem"},
        absl::StatusCode::kInvalidArgument);
  fails({.addresses = {"127.0.0.1:0"},
         .tls_certificate_file = "/nonexistent/c.pem",
         .tls_key_file = "/nonexistent/k.pem"},
        absl::StatusCode::kNotFound);
}

TEST(Server, ASecondOneOnTheSamePortIsRefused) {
  SilentLedger ledger;
  const auto first = StartOver(ledger);
  EXPECT_EQ(Server::Start({.addresses = {first->addresses()[0]}}, ledger).status().code(),
            absl::StatusCode::kUnavailable);
}

TEST(Server, HealthFollowsTheLedger) {
  SilentLedger ledger;
  const auto server = StartOver(ledger);
  const auto eventually = [&](bool serving) {
    for (int i = 0; i < 600; ++i) {
      if (ProbeHealth({.address = server->addresses()[0]}).ok() == serving) return true;
      absl::SleepFor(absl::Milliseconds(50));
    }
    return false;
  };
  EXPECT_TRUE(ProbeHealth({.address = server->addresses()[0]}).ok());
  ledger.SetHealthy(false);
  EXPECT_TRUE(eventually(false));
  EXPECT_THAT(std::string(ProbeHealth({.address = server->addresses()[0]}).message()),
              HasSubstr("says that it is not serving"));
  ledger.SetHealthy(true);
  EXPECT_TRUE(eventually(true));
  const std::string address = server->addresses()[0];
  server->Drain(absl::ZeroDuration());
  EXPECT_THAT(std::string(ProbeHealth({.address = address}).message()),
              HasSubstr("cannot be asked"));
}

// A timer that has run out while its thread was busy is not cancelled any more.
TEST(Server, EndsThoughItsHousekeepingIsDue) {
  SilentLedger ledger;
  auto server = StartOver(ledger);
  server->Drain(absl::ZeroDuration());
  absl::Notification busy;
  absl::Notification ends;
  // On the thread that keeps house, as nothing listens any more.
  server->in_process().probe_wire([&](const absl::Status& status) {
    EXPECT_FALSE(status.ok());
    busy.Notify();
    ends.WaitForNotification();
  });
  busy.WaitForNotification();
  std::thread end([&] { server = nullptr; });
  absl::SleepFor(absl::Milliseconds(600));  // so that the timer runs out, and the end is on its way
  ends.Notify();
  end.join();
}

bool HasReflection(const ServerOptions& options) {
  const TestServer server(options);
  // ServerReflectionRequest{list_services: ""}; the method streams, and one message is enough.
  const grpc::Status status = server.client.CallBytes(
      "grpc.reflection.v1alpha.ServerReflection.ServerReflectionInfo", std::string("\x3a\x00", 2));
  return status.error_code() != grpc::StatusCode::UNIMPLEMENTED;
}

TEST(Server, ReflectionIsThereWhereAccessControlIsOffOrSomebodyWantsIt) {
  const std::vector<std::string> local = {"127.0.0.1:0"};
  EXPECT_TRUE(HasReflection({.addresses = local}));
  EXPECT_FALSE(HasReflection({.addresses = local, .reflection = false}));
  EXPECT_FALSE(HasReflection({.addresses = local, .require_tokens = true}));
  EXPECT_TRUE(HasReflection({.addresses = local, .require_tokens = true, .reflection = true}));
  const std::vector<std::string> open = {"0.0.0.0:0"};
  EXPECT_FALSE(HasReflection({.addresses = open, .insecure_plaintext = true}));
  EXPECT_TRUE(HasReflection(
      {.addresses = open, .insecure_plaintext = true, .insecure_no_access_control = true}));
}

TEST(Server, DrainingEndsAlsoWhenTheLedgerNeverAnswers) {
  SilentLedger ledger;
  auto server = StartOver(ledger);
  TestClient client(ChannelTo(*server));
  Reply<v1::Attempt> open;
  Reply<v1::Budget> get;
  std::thread opener([&] { open = client.OpenAttempt("budgets/b/sessions/s"); });
  std::thread getter([&] { get = client.GetBudget("budgets/b"); });
  ledger.WaitFor(2);
  server->Drain(absl::Milliseconds(100));
  opener.join();
  getter.join();
  // The answer of the server, or the end of the connection if that was faster: never a success.
  EXPECT_EQ(open.code(), grpc::StatusCode::UNAVAILABLE) << open.status.error_message();
  EXPECT_EQ(get.code(), grpc::StatusCode::UNAVAILABLE) << get.status.error_message();
  server.reset();
  ledger.AnswerAll();  // long after the calls and the server are gone
}

TEST(Server, DrainingWaitsForAnswersThatCome) {
  SilentLedger ledger;
  const auto server = StartOver(ledger);
  TestClient client(ChannelTo(*server));
  Reply<v1::Attempt> open;
  std::thread opener([&] { open = client.OpenAttempt("budgets/b/sessions/s"); });
  ledger.WaitFor(1);
  std::thread drainer([&] { server->Drain(absl::Seconds(60)); });
  absl::SleepFor(absl::Milliseconds(50));
  ledger.AnswerAll();
  opener.join();
  drainer.join();
  ASSERT_TRUE(open.ok()) << open.status.error_message();
  EXPECT_EQ(open.response.name(), "budgets/b/sessions/s/attempts/7");
}

TEST(Server, ACallThatTheLedgerLosesIsAnswered) {
  SilentLedger ledger;
  const auto server = StartOver(ledger);
  TestClient client(ChannelTo(*server));
  Reply<v1::Attempt> open;
  std::thread opener([&] { open = client.OpenAttempt("budgets/b/sessions/s"); });
  ledger.WaitFor(1);
  ledger.DropAll();
  opener.join();
  EXPECT_EQ(open.code(), grpc::StatusCode::INTERNAL);
  EXPECT_THAT(open.status.error_message(), HasSubstr("the outcome is unknown and counts as done"));
}

TEST(Server, AnUnavailableLedgerSaysWhenToTryAgain) {
  SilentLedger ledger;
  const auto server = StartOver(ledger);
  TestClient client(ChannelTo(*server));
  Reply<v1::Budget> get;
  std::thread getter([&] { get = client.GetBudget("budgets/b"); });
  ledger.WaitFor(1);
  ledger.AnswerAll();
  getter.join();
  EXPECT_EQ(get.code(), grpc::StatusCode::UNAVAILABLE);
  google::rpc::RetryInfo retry;
  EXPECT_TRUE(FindDetail(get.status, &retry));
}

}  // namespace
}  // namespace epsledger::transport
