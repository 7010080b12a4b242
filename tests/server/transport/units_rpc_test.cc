// Caps in units of a reference over the wire: who fixes the reference, what is computed once, and
// what a preview promises.

#include <atomic>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/server/transport/test_server.h"

namespace epsledger::transport {
namespace {

using ::testing::HasSubstr;

constexpr char kCap[] = "approximate_dp { epsilon: 2 delta: 1e-5 filter: RESIDUE }";
constexpr char kStep[] =
    "poisson_sampled { sampling_probability: .05 event { gaussian { noise_multiplier: 2 } } }";

class UnitsRpc : public testing::Test {
 protected:
  TestClient& client() { return server_.client; }

  Reply<v1::PreviewChargeResponse> Preview(const std::string& of, const std::string& event,
                                           int64_t count) {
    return TestClient::Call<v1::PreviewChargeResponse>(
        *client().charges, &v1::ChargeService::Stub::PreviewCharge,
        Parse<v1::PreviewChargeRequest>(of + " event { " + event +
                                        " } count: " + std::to_string(count)));
  }
  double SpentUnits() { return client().GetBudget("budgets/b").response.cells(0).spent(); }
  double CapUnits() { return client().GetBudget("budgets/b").response.cells(0).cap(); }

  TestServer server_;
};

TEST_F(UnitsRpc, ConcurrentFirstChargesMakeOneReference) {
  constexpr int kClients = 24;
  client().MakeSession(kCap);
  std::atomic<int> accepted = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < kClients; ++i) {
    threads.emplace_back([&, i] {
      const TestClient own(ChannelTo(*server_.server));
      const std::string session = "s" + std::to_string(i);
      TestClient& any = const_cast<TestClient&>(own);
      ASSERT_TRUE(any.CreateSession("b", session).ok());
      ASSERT_TRUE(any.OpenAttempt("budgets/b/sessions/" + session).ok());
      const auto charge =
          any.Charge("budgets/b/sessions/" + session + "/attempts/1", "first", kStep, 2);
      accepted += charge.ok() ? 1 : 0;
      EXPECT_TRUE(charge.ok()) << charge.status.error_message();
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(accepted, kClients);
  EXPECT_EQ(SpentUnits(), 2 * kClients);
  // One entry fixed the reference, before any charge.
  int fixed = 0;
  grpc::ClientContext context;
  v1::ExportLedgerRequest request;
  request.set_budget("budgets/b");
  const auto stream = client().audit->ExportLedger(&context, request);
  v1::AuditEntry entry;
  while (stream->Read(&entry))
    fixed += entry.description().find("counts units of") != std::string::npos;
  EXPECT_TRUE(stream->Finish().ok());
  EXPECT_EQ(fixed, 1);
}

TEST_F(UnitsRpc, APreviewOfABudgetSaysWhatASessionThatExpectsTheEventGets) {
  ASSERT_TRUE(client().CreateBudget("b", kCap).ok());
  const std::string of_budget = "budget: 'budgets/b' expects_event: true";
  const auto before = Preview(of_budget, kStep, 100);
  ASSERT_TRUE(before.ok()) << before.status.error_message();
  EXPECT_EQ(before.response.decision(), v1::Charge::ACCEPTED);
  const int64_t fits = before.response.steps_that_fit();
  EXPECT_GE(fits, 316);  // PLD proves 321
  EXPECT_LE(fits, 321);
  // It changed nothing: another session may still expect something else.
  EXPECT_EQ(client().GetBudget("budgets/b").response.cells(0).cap(), 0);

  v1::CreateSessionRequest create = Parse<v1::CreateSessionRequest>(
      "parent: 'budgets/b' session_id: 's' session { neighboring_relation: ADD_OR_REMOVE_ONE mode: "
      "ADAPTIVE no_own_cap: true } expects { " +
      std::string(kStep) + " }");
  ASSERT_TRUE(TestClient::Call<v1::Session>(*client().sessions,
                                            &v1::SessionService::Stub::CreateSession, create)
                  .ok());
  ASSERT_TRUE(client().OpenAttempt("budgets/b/sessions/s").ok());
  EXPECT_EQ(CapUnits(), static_cast<double>(fits));
  EXPECT_EQ(Preview("session: 'budgets/b/sessions/s'", kStep, 1).response.steps_that_fit(), fits);
  EXPECT_TRUE(client().Charge(kAttempt, "all", kStep, fits).ok());
  EXPECT_FALSE(client().Charge(kAttempt, "more", kStep, 1).ok());
}

// Prices rise as units run out: what a preview says fits is what can be charged one by one.
TEST_F(UnitsRpc, ThePreviewedNumberOfSingleStepsFits) {
  constexpr char kOther[] =
      "poisson_sampled { sampling_probability: .1 event { gaussian { noise_multiplier: 2 } } }";
  client().MakeSession(kCap);
  ASSERT_TRUE(client().Charge(kAttempt, "first", kStep, 1).ok());
  const auto preview = Preview("session: 'budgets/b/sessions/s'", kOther, 100'000);
  ASSERT_TRUE(preview.ok());
  EXPECT_EQ(preview.response.decision(), v1::Charge::REFUSED);
  const int64_t fits = preview.response.steps_that_fit();
  EXPECT_GT(fits, 20);
  int64_t charged = 0;
  while (client().Charge(kAttempt, "o" + std::to_string(charged), kOther, 1).ok()) ++charged;
  EXPECT_GE(charged, fits);
  EXPECT_LE(charged, fits + fits / 5 + 2) << "the preview says much too little";
}

// An own cap in units below a cap in units: each round of asking finds a price at both.
TEST_F(UnitsRpc, ManyStepsArePreviewedBelowTwoCapsInUnits) {
  ASSERT_TRUE(client().CreateBudget("b", kCap).ok());
  v1::CreateSessionRequest create = Parse<v1::CreateSessionRequest>(
      "parent: 'budgets/b' session_id: 's' session { neighboring_relation: ADD_OR_REMOVE_ONE mode: "
      "ADAPTIVE own_cap { approximate_dp { epsilon: 1 delta: 1e-5 filter: RESIDUE } } } expects "
      "{ " +
      std::string(kStep) + " }");
  ASSERT_TRUE(TestClient::Call<v1::Session>(*client().sessions,
                                            &v1::SessionService::Stub::CreateSession, create)
                  .ok());
  for (const char* event : {"pure_dp { epsilon: .005 }", "gaussian { noise_multiplier: 100 }",
                            "laplace { noise_multiplier: 100 }"}) {
    const auto preview = Preview("session: 'budgets/b/sessions/s'", event, 5000);
    EXPECT_TRUE(preview.ok()) << event << ": " << preview.status.error_message();
    EXPECT_GT(preview.response.steps_that_fit(), 10) << event;
  }
}

// A batch goes down many levels of prices at once, alone with the ledger.
TEST_F(UnitsRpc, ABatchThatGoesDownManyLevelsIsDecided) {
  client().MakeSession(kCap);
  ASSERT_TRUE(client().Charge(kAttempt, "first", kStep, 1).ok());
  v1::BatchChargeRequest batch;
  batch.set_attempt(kAttempt);
  batch.set_mode(v1::BatchChargeRequest::PER_ITEM);
  for (int i = 0; i < 100; ++i) {
    *batch.add_items() =
        Parse<v1::BatchChargeItem>("charge_id: 'b" + std::to_string(i) +
                                   "' event { poisson_sampled { sampling_probability: .1 event { "
                                   "gaussian { noise_multiplier: 2 "
                                   "} } } } count: 1");
  }
  const auto decided = TestClient::Call<v1::BatchChargeResponse>(
      *client().charges, &v1::ChargeService::Stub::BatchCharge, batch);
  ASSERT_TRUE(decided.ok()) << decided.status.error_message();
  int accepted = 0;
  for (const v1::ChargeResult& result : decided.response.results())
    accepted += result.has_accepted();
  EXPECT_GT(accepted, 40);
  EXPECT_LT(accepted, 100);
  EXPECT_LE(SpentUnits(), CapUnits());
}

// What has a price and no room is spent, and not an event that cannot be counted.
TEST_F(UnitsRpc, AFullCapIsSpentWhateverIsAsked) {
  client().MakeSession(kCap);
  ASSERT_TRUE(client().Charge(kAttempt, "first", kStep, 1).ok());
  const auto large =
      Preview("session: 'budgets/b/sessions/s'", "gaussian { noise_multiplier: 1 }", 10);
  EXPECT_EQ(large.response.refusal().reason(), v1::Refusal::BUDGET_EXHAUSTED);
  const auto units = static_cast<int64_t>(CapUnits());
  ASSERT_TRUE(client().Charge(kAttempt, "rest", kStep, units - 1).ok());
  for (const char* event : {"gaussian { noise_multiplier: 50 }", "pure_dp { epsilon: 1 }", kStep}) {
    const auto full = Preview("session: 'budgets/b/sessions/s'", event, 1);
    EXPECT_EQ(full.response.refusal().reason(), v1::Refusal::BUDGET_EXHAUSTED) << event;
    EXPECT_EQ(full.response.refusal().cell().quantity(), v1::CellBalance::UNITS) << event;
    EXPECT_EQ(full.response.refusal().requested(), 1) << event;
  }
  EXPECT_EQ(Preview("session: 'budgets/b/sessions/s'", "non_private { reason: 'x' }", 1)
                .response.refusal()
                .reason(),
            v1::Refusal::EVENT_NOT_CHARGEABLE);
}

TEST_F(UnitsRpc, ARefusalForWantOfReserveSaysSo) {
  client().MakeSession(kCap);
  ASSERT_TRUE(client().Charge(kAttempt, "first", kStep, 1).ok());
  ASSERT_TRUE(
      client().Charge(kAttempt, "some", "approximate_dp { epsilon: 0 delta: 1e-8 }", 1).ok());
  const auto refused =
      Preview("session: 'budgets/b/sessions/s'", "approximate_dp { epsilon: 0 delta: 4.5e-8 }", 1);
  EXPECT_EQ(refused.response.refusal().reason(), v1::Refusal::BUDGET_EXHAUSTED);
  EXPECT_EQ(refused.response.refusal().cell().quantity(), v1::CellBalance::RESERVE);
  EXPECT_GE(refused.response.refusal().requested(), 4.5e-8);
}

// A reference for an epsilon that promises nothing would be hours of work.
TEST_F(UnitsRpc, AnEpsilonBeyondAllReasonHasNoUnits) {
  const auto refused = client().CreateBudget(
      "b", std::string("approximate_dp { epsilon: 1e300 delta: 1e-5 filter: RESIDUE reference { ") +
               kStep + " } }");
  EXPECT_EQ(refused.code(), grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_THAT(refused.status.error_message(), HasSubstr("units count up to an epsilon of 100"));
  client().MakeSession("approximate_dp { epsilon: 1e6 delta: 1e-5 }");
  const auto charge = client().Charge(kAttempt, "by-others", kStep, 1);
  EXPECT_TRUE(charge.ok()) << charge.status.error_message();
}

// The series of a session draws no step ahead that would be refused.
TEST_F(UnitsRpc, WhatIsAheadFitsStepByStep) {
  client().MakeSession("approximate_dp { epsilon: 2 delta: 1e-5 filter: PORTFOLIO }");
  ASSERT_TRUE(client().Charge(kAttempt, "a", kStep, 250).ok());
  v1::GetSessionSeriesRequest request;
  request.set_name("budgets/b/sessions/s");
  request.set_delta(1e-5);
  request.set_point_count(30);
  const auto series = TestClient::Call<v1::GetSessionSeriesResponse>(
      *client().sessions, &v1::SessionService::Stub::GetSessionSeries, request);
  ASSERT_TRUE(series.ok());
  ASSERT_GE(series.response.ahead_size(), 2);
  const v1::SeriesPoint& last = series.response.ahead(series.response.ahead_size() - 1);
  EXPECT_LE(last.epsilon().upper(), 2);
  EXPECT_GT(last.steps(), 300);
  for (int64_t step = 250; step < last.steps(); ++step) {
    ASSERT_TRUE(client().Charge(kAttempt, "s" + std::to_string(step), kStep, 1).ok()) << step;
  }
}

TEST_F(UnitsRpc, APreviewSaysWhatIsWrong) {
  client().MakeSession(kCap);
  EXPECT_THAT(Preview("session: 'budgets/b/sessions/s' budget: 'budgets/b'", kStep, 1)
                  .status.error_message(),
              HasSubstr("budget: got it beside `session`"));
  EXPECT_THAT(Preview("session: 'budgets/b/sessions/s' expects_event: true", kStep, 1)
                  .status.error_message(),
              HasSubstr("expectsEvent: got true"));
  EXPECT_EQ(Preview("budget: 'budgets/none'", kStep, 1).code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_THAT(Preview("budget: 'none'", kStep, 1).status.error_message(), HasSubstr("budget: "));
}

// A cap in units promises a curve, which the server computes and every answer shows.
TEST_F(UnitsRpc, ACapInUnitsShowsTheCurveThatItPromises) {
  const std::string cap =
      std::string("units { count: 300 delta: 1e-5 reference { ") + kStep + " } }";
  const auto created = client().CreateBudget("b", cap);
  ASSERT_TRUE(created.ok()) << created.status.error_message();
  const v1::UnitsCap& units = created.response.cap().units();
  EXPECT_EQ(units.count(), 300);
  EXPECT_EQ(units.delta(), 1e-5);
  EXPECT_TRUE(units.reference().has_poisson_sampled());
  ASSERT_EQ(units.guarantee_size(), 5);
  EXPECT_EQ(units.guarantee(4).delta(), 1e-5);
  // PLD of 300 such steps at 1e-5 is between 1.92844 and 1.92868.
  EXPECT_GE(units.guarantee(4).epsilon(), 1.92844);
  EXPECT_LE(units.guarantee(4).epsilon(), 1.935);
  EXPECT_EQ(CapUnits(), 300);
  EXPECT_TRUE(client().CreateBudget("b", cap).ok()) << "the same again";
  EXPECT_EQ(client().GetBudget("budgets/b").response.cap().DebugString(),
            created.response.cap().DebugString());
  const auto forged =
      client().CreateBudget("c", std::string("units { count: 300 delta: 1e-5 reference { ") +
                                     kStep + " } guarantee { epsilon: .1 delta: 1e-5 } }");
  EXPECT_THAT(forged.status.error_message(),
              HasSubstr("budget.cap.units.guarantee: got a value, want unset"));
  EXPECT_THAT(client().CreateBudget("c", "units { count: 300 delta: 1e-5 }").status.error_message(),
              HasSubstr("budget.cap.units.reference: unset, want the event"));

  ASSERT_TRUE(client().CreateSession("b", "s").ok());
  ASSERT_TRUE(client().OpenAttempt("budgets/b/sessions/s").ok());
  EXPECT_EQ(Preview("session: 'budgets/b/sessions/s'", kStep, 1).response.steps_that_fit(), 300);
  EXPECT_TRUE(client().Charge(kAttempt, "all", kStep, 300).ok());
  EXPECT_FALSE(client().Charge(kAttempt, "more", kStep, 1).ok());
}

TEST_F(UnitsRpc, ASessionHasNoCapOfItsOwnInUnits) {
  ASSERT_TRUE(client().CreateBudget("b", kCap).ok());
  const auto refused = TestClient::Call<v1::Session>(
      *client().sessions, &v1::SessionService::Stub::CreateSession,
      Parse<v1::CreateSessionRequest>(
          "parent: 'budgets/b' session_id: 's' session { neighboring_relation: ADD_OR_REMOVE_ONE "
          "mode: ADAPTIVE own_cap { units { count: 3 delta: 1e-5 reference { " +
          std::string(kStep) + " } } } }"));
  EXPECT_EQ(refused.code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_THAT(refused.status.error_message(),
              HasSubstr("session.ownCap: got units, want another currency"));
}

// Every way to charge pays the same units: one by one, as a batch, over a stream, by a lease.
TEST_F(UnitsRpc, EveryWayToChargePaysTheSameUnits) {
  client().MakeSession(kCap);
  ASSERT_TRUE(client().Charge(kAttempt, "one", kStep, 1).ok());
  EXPECT_EQ(SpentUnits(), 1);
  const auto batch = TestClient::Call<v1::BatchChargeResponse>(
      *client().charges, &v1::ChargeService::Stub::BatchCharge,
      Parse<v1::BatchChargeRequest>(std::string("attempt: '") + kAttempt +
                                    "' mode: ALL_OR_NOTHING items { charge_id: 'b1' event { " +
                                    kStep + " } count: 2 } items { charge_id: 'b2' event { " +
                                    kStep + " } count: 3 }"));
  ASSERT_TRUE(batch.ok()) << batch.status.error_message();
  EXPECT_EQ(SpentUnits(), 6);
  const auto lease = TestClient::Call<v1::Lease>(
      *client().charges, &v1::ChargeService::Stub::AcquireLease,
      Parse<v1::AcquireLeaseRequest>(std::string("attempt: '") + kAttempt +
                                     "' lease_id: 'l' event { " + kStep +
                                     " } count: 10 time_to_live { seconds: 60 }"));
  ASSERT_TRUE(lease.ok()) << lease.status.error_message();
  EXPECT_EQ(SpentUnits(), 16);
  grpc::ClientContext context;
  const auto stream = client().charges->StreamCharges(&context);
  for (int i = 0; i < 4; ++i) {
    v1::ChargeRequest request =
        Parse<v1::ChargeRequest>(std::string("attempt: '") + kAttempt + "' charge_id: 'st" +
                                 std::to_string(i) + "' event { " + kStep + " } count: 1");
    ASSERT_TRUE(stream->Write(request));
    v1::ChargeResult result;
    ASSERT_TRUE(stream->Read(&result));
    EXPECT_TRUE(result.has_accepted()) << result.DebugString();
  }
  stream->WritesDone();
  EXPECT_TRUE(stream->Finish().ok());
  EXPECT_EQ(SpentUnits(), 20);
  // What a lease did not use is not given back.
  ASSERT_TRUE(
      TestClient::Call<v1::Lease>(*client().charges, &v1::ChargeService::Stub::SettleLease,
                                  Parse<v1::SettleLeaseRequest>(std::string("name: '") + kAttempt +
                                                                "/leases/l' used_count: 1"))
          .ok());
  EXPECT_EQ(SpentUnits(), 20);
}

}  // namespace
}  // namespace epsledger::transport
