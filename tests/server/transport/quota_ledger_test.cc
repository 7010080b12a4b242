// What one tenant may have, and how fast.

#include "server/transport/grpc/calls/quota_ledger.h"

#include <chrono>
#include <string>

#include "epsledger/v1/server_service.pb.h"
#include "gmock/gmock.h"
#include "google/rpc/error_details.pb.h"
#include "gtest/gtest.h"
#include "server/transport/grpc/limits.h"
#include "tests/server/transport/test_server.h"
#include "tests/server/transport/token_caller.h"

namespace epsledger::transport {
namespace {

using ::testing::HasSubstr;

std::string ReasonIn(const grpc::Status& status) {
  google::rpc::ErrorInfo info;
  return FindDetail(status, &info) ? info.reason() : "";
}

TEST(QuotaLedger, ATenantHasSoManySessionsAndBudgets) {
  TestServer server(
      {.addresses = {"127.0.0.1:0"}, .quotas = {.sessions_of_tenant = 2, .budgets_of_tenant = 2}});
  TestClient& client = server.client;
  ASSERT_TRUE(client.CreateBudget("a", "zcdp { rho: 9 }").ok());
  ASSERT_TRUE(client.CreateBudget("b", "zcdp { rho: 9 }").ok());
  const auto third = client.CreateBudget("c", "zcdp { rho: 9 }");
  EXPECT_EQ(third.code(), grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_EQ(ReasonIn(third.status), "QUOTA_EXCEEDED");
  EXPECT_THAT(third.status.error_message(), HasSubstr("2 budgets"));
  EXPECT_EQ(client.GetBudget("budgets/c").code(), grpc::StatusCode::NOT_FOUND);
  // What is there already is answered, and differences are told.
  EXPECT_TRUE(client.CreateBudget("a", "zcdp { rho: 9 }").ok());
  EXPECT_EQ(client.CreateBudget("a", "zcdp { rho: 8 }").code(), grpc::StatusCode::ALREADY_EXISTS);

  ASSERT_TRUE(client.CreateSession("a", "s").ok());
  ASSERT_TRUE(client.CreateSession("b", "s").ok());
  const auto session = client.CreateSession("a", "t");
  EXPECT_EQ(session.code(), grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_EQ(ReasonIn(session.status), "QUOTA_EXCEEDED");
  EXPECT_TRUE(client.CreateSession("a", "s").ok());
  EXPECT_TRUE(client.OpenAttempt("budgets/a/sessions/s").ok());
  EXPECT_TRUE(
      client.Charge("budgets/a/sessions/s/attempts/1", "c", "gaussian { noise_multiplier: 9 }", 1)
          .ok());
}

class Rates : public TokenServer {
 protected:
  Rates()
      : TokenServer(
            {.addresses = {"127.0.0.1:0"},
             .quotas = {.changes_per_second_of_tenant = 1, .changes_per_second_of_caller = 0.5}}) {}

  // How many of so many changes of a budget are done at once, and what the first refused one says.
  int Changes(const Caller& caller, grpc::Status* refused) {
    int done = 0;
    for (int i = 0; i < 30; ++i) {
      const auto reply = caller.Call<v1::Budget>("BudgetService.UpdateBudget",
                                                 "budget { name: 'budgets/b' display_name: '" +
                                                     std::to_string(++number_) +
                                                     "' } update_mask { paths: 'display_name' }");
      done += reply.ok();
      if (!reply.ok() && refused->ok()) *refused = reply.status;
    }
    return done;
  }

  int number_ = 0;
};

TEST_F(Rates, ATenantAndEachOfItsCallersChangeSoMuch) {
  const Caller first = As(MakeToken("acme", core::Role::kAdmin));
  const Caller second = As(MakeToken("acme", core::Role::kAdmin));
  const Caller third = As(MakeToken("acme", core::Role::kAdmin));
  const Caller other = As(MakeToken("other", core::Role::kAdmin));
  MakeBudget(first, "b");
  MakeBudget(other, "b");
  // A burst of five of a caller and ten of the tenant, and some more while the test runs.
  grpc::Status refused;
  EXPECT_THAT(Changes(first, &refused), ::testing::AllOf(::testing::Ge(4), ::testing::Le(15)));
  EXPECT_EQ(refused.error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_EQ(ReasonIn(refused), "OVERLOADED");
  EXPECT_THAT(refused.error_message(), HasSubstr("this caller"));
  google::rpc::RetryInfo retry;
  EXPECT_TRUE(FindDetail(refused, &retry));
  // The tenant's other callers have their own, until the tenant has had enough.
  refused = grpc::Status::OK;
  EXPECT_GE(Changes(second, &refused), 4);
  grpc::Status of_tenant;
  Changes(third, &of_tenant);
  EXPECT_THAT(of_tenant.error_message(), HasSubstr("the tenant"));
  // Who stops charges waits for nobody.
  const auto frozen = third.Call<v1::Budget>("BudgetService.FreezeBudget",
                                             "name: 'budgets/b' reason: 'something is wrong'");
  EXPECT_TRUE(frozen.ok()) << frozen.status.error_message();
  // Another tenant, and reading, are as free as ever.
  grpc::Status ignored;
  EXPECT_GE(Changes(other, &ignored), 4);
  for (int i = 0; i < 50; ++i) {
    ASSERT_TRUE(first.Call<v1::Budget>("BudgetService.GetBudget", "name: 'budgets/b'").ok());
  }
  const auto info = first.Call<v1::ServerInfo>("ServerService.GetServerInfo", "");
  EXPECT_EQ(info.response.quotas().changes_per_second(), 1);
  EXPECT_EQ(info.response.quotas().changes_per_second_of_caller(), 0.5);
  EXPECT_EQ(info.response.quotas().sessions(), 1'000'000);
  EXPECT_EQ(info.response.quotas().open_streams(), 1024);
}

// What could never be paid off in time is refused as a whole, and owed by nobody.
TEST_F(Rates, ABatchOfMoreThanMayBeDoneAtOnceIsRefused) {
  const Caller trainer = As(MakeToken("acme", core::Role::kAdmin));
  MakeBudget(trainer, "b", "", "zcdp { rho: 9 }");
  MakeSession(trainer, "b");
  std::string batch = "attempt: 'budgets/b/sessions/s/attempts/1' mode: PER_ITEM";
  for (int i = 0; i < 6; ++i) {
    batch += " items { charge_id: 'c" + std::to_string(i) +
             "' event { gaussian { noise_multiplier: 900 } } count: 1 }";
  }
  const auto refused = trainer.Call<v1::BatchChargeResponse>("ChargeService.BatchCharge", batch);
  EXPECT_EQ(refused.code(), grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_EQ(ReasonIn(refused.status), "QUOTA_EXCEEDED");
  EXPECT_THAT(refused.status.error_message(),
              HasSubstr("items: got 6, want at most the 5 changes that one caller"));
}

// A byte a second: what was read once is not paid off while the test runs.
class SlowReads : public TokenServer {
 protected:
  SlowReads()
      : TokenServer(
            {.addresses = {"127.0.0.1:0"}, .quotas = {.read_bytes_per_second_of_tenant = 1}}) {}
};

TEST_F(SlowReads, ATenantThatReadTooMuchIsToldWhenToReadAgainAndStillCharges) {
  const Caller reader = As(MakeToken("acme", core::Role::kViewer));
  const Caller trainer = As(MakeToken("acme", core::Role::kAdmin));
  const Caller other = As(MakeToken("other", core::Role::kAdmin));
  MakeBudget(trainer, "b", "", "zcdp { rho: 9 }");
  MakeSession(trainer, "b");
  MakeBudget(other, "b");
  const std::string budget = "name: 'budgets/b'";
  ASSERT_TRUE(reader.Call<v1::Budget>("BudgetService.GetBudget", budget).ok());
  for (const Caller& caller : {reader, trainer}) {  // whoever of the tenant
    const auto refused = caller.Call<v1::Budget>("BudgetService.GetBudget", budget);
    EXPECT_EQ(refused.code(), grpc::StatusCode::UNAVAILABLE);
    EXPECT_EQ(ReasonIn(refused.status), "OVERLOADED");
    EXPECT_THAT(refused.status.error_message(), HasSubstr("reads more bytes a second"));
    google::rpc::RetryInfo retry;
    EXPECT_TRUE(FindDetail(refused.status, &retry));
  }
  // Charges, what is known of one, changes, and who one is are no reads.
  for (const char* id : {"c1", "c2"}) {
    const auto charge = trainer.Call<v1::Charge>(
        "ChargeService.Charge",
        std::string("attempt: 'budgets/b/sessions/s/attempts/1' charge_id: '") + id +
            "' event { gaussian { noise_multiplier: 9 } } count: 1");
    EXPECT_TRUE(charge.ok()) << charge.status.error_message();
  }
  EXPECT_TRUE(trainer
                  .Call<v1::Charge>("ChargeService.GetCharge",
                                    "name: 'budgets/b/sessions/s/attempts/1/charges/c1'")
                  .ok());
  EXPECT_TRUE(trainer.Call<v1::Budget>("BudgetService.FreezeBudget", budget + " reason: 'x'").ok());
  const auto info = reader.Call<v1::ServerInfo>("ServerService.GetServerInfo", "");
  ASSERT_TRUE(info.ok()) << info.status.error_message();
  EXPECT_EQ(info.response.quotas().read_bytes_per_second(), 1);
  // Another tenant has its own.
  EXPECT_TRUE(other.Call<v1::Budget>("BudgetService.GetBudget", budget).ok());
}

// Who asks again at once, for ever, waits on its connection; others do not.
TEST_F(SlowReads, AConnectionWithManyRefusalsIsReadAsFastAsTheyMayCome) {
  const Caller reader = As(MakeToken("acme", core::Role::kAdmin));
  MakeBudget(reader, "b");
  const std::string budget = "name: 'budgets/b'";
  ASSERT_TRUE(reader.Call<v1::Budget>("BudgetService.GetBudget", budget).ok());
  constexpr int kRefused = 1'800;
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < kRefused; ++i) {
    ASSERT_EQ(reader.Call<v1::Budget>("BudgetService.GetBudget", budget).code(),
              grpc::StatusCode::UNAVAILABLE);
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  // The last one was sent once the one before was answered, and is read when those before it are
  // paid off.
  EXPECT_GE(seconds.count(), (kRefused - 2 - kMaxRefusalsAtOnce) / kRefusalsPerSecond);
  EXPECT_TRUE(reader.Call<v1::Budget>("BudgetService.FreezeBudget", budget + " reason: 'x'").ok());
}

TEST(ReadRate, NoBoundIsNoBound) {
  ReadRate rate(0);
  rate.Count({"a"}, size_t{1} << 40);
  EXPECT_TRUE(rate.MayRead({"a"}));
}

}  // namespace
}  // namespace epsledger::transport
