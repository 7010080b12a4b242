// Sessions over the wire.

#include <cmath>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/server/transport/test_server.h"

namespace epsledger::transport {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr char kPlan[] =
    "mode: DECLARED plan_delta: 1e-6 plan { events { count: 100 event { poisson_sampled { "
    "sampling_probability: 0.01 event { gaussian { noise_multiplier: 1 } } } } } events { count: 2 "
    "event { gaussian { noise_multiplier: 10 } } } }";

class SessionRpc : public ::testing::Test {
 protected:
  SessionRpc() {
    EXPECT_TRUE(client().CreateBudget("b", "approximate_dp { epsilon: 8 delta: 1e-5 }").ok());
  }
  TestClient& client() { return server_.client; }
  TestServer server_;
};

TEST_F(SessionRpc, AnAdaptiveSessionShowsItsCapItsHistoryAndItsAttempt) {
  const auto created =
      client().CreateSession("b", "s", "mode: ADAPTIVE own_cap { pure_epsilon { epsilon: 2 } }");
  ASSERT_TRUE(created.ok()) << created.status.error_message();
  EXPECT_EQ(created.response.name(), "budgets/b/sessions/s");
  EXPECT_EQ(created.response.current_attempt(), 0);
  EXPECT_EQ(created.response.cells(0).cap(), 2);
  const auto attempt = client().OpenAttempt("budgets/b/sessions/s");
  ASSERT_TRUE(attempt.ok());
  EXPECT_EQ(attempt.response.name(), kAttempt);
  ASSERT_TRUE(client().Charge(kAttempt, "a", "pure_dp { epsilon: 0.5 }", 1).ok());
  ASSERT_TRUE(client().Charge(kAttempt, "b", "pure_dp { epsilon: 0.25 }", 2).ok());
  ASSERT_TRUE(client().Charge(kAttempt, "c", "pure_dp { epsilon: 0.5 }", 1).ok());
  const auto refused = client().Charge(kAttempt, "d", "pure_dp { epsilon: 0.5 }", 2);
  EXPECT_EQ(refused.code(), grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_THAT(refused.status.error_message(), HasSubstr("the cap of budgets/b/sessions/s"));
  const v1::Session session = client().GetSession("budgets/b/sessions/s").response;
  EXPECT_EQ(session.current_attempt(), 1);
  ASSERT_EQ(session.history_size(), 2);
  EXPECT_EQ(session.history(0).count(), 2);
  EXPECT_EQ(session.history(1).count(), 2);
  EXPECT_EQ(session.cells(0).spent(), 1.5);
  EXPECT_EQ(session.accepted_charge_count(), 3);
  EXPECT_EQ(session.refused_charge_count(), 1);
}

TEST_F(SessionRpc, ADeclaredSessionShowsItsPlanItsGuaranteeAndItsTickets) {
  const auto created = client().CreateSession("b", "s", kPlan);
  ASSERT_TRUE(created.ok()) << created.status.error_message();
  EXPECT_EQ(created.response.plan().events_size(), 2);
  EXPECT_EQ(created.response.plan_guarantee().kind(), v1::Guarantee::UPPER_BOUND);
  EXPECT_GT(created.response.plan_guarantee().upper(), 0);
  EXPECT_FALSE(created.response.plan_guarantee().theorem().empty());
  EXPECT_GT(client().GetBudget("budgets/b").response.spent_fraction(), 0);
  ASSERT_TRUE(client().OpenAttempt("budgets/b/sessions/s").ok());
  ASSERT_TRUE(client().Charge(kAttempt, "a", "gaussian { noise_multiplier: 10 }", 1).ok());
  const auto outside = client().Charge(kAttempt, "b", "gaussian { noise_multiplier: 9 }", 1);
  EXPECT_EQ(ReasonOf(outside.status), "NOT_IN_PLAN");
  const auto too_many = client().Charge(kAttempt, "c", "gaussian { noise_multiplier: 10 }", 2);
  EXPECT_EQ(ReasonOf(too_many.status), "NOT_IN_PLAN");
  EXPECT_THAT(too_many.status.error_message(), HasSubstr("1 uses of this event are left"));
  const v1::Session session = client().GetSession("budgets/b/sessions/s").response;
  ASSERT_EQ(session.tickets_left_size(), 2);
  EXPECT_EQ(session.tickets_left(0), 100);
  EXPECT_EQ(session.tickets_left(1), 1);
  ASSERT_EQ(session.history_size(), 1);
}

TEST_F(SessionRpc, APlanThatDoesNotFitIsRefusedWithTheCapThatSaidNo) {
  const std::string plan =
      "mode: DECLARED plan_delta: 1e-6 plan { events { count: 100000 event { gaussian { "
      "noise_multiplier: 1 } } } }";
  const auto refused = client().CreateSession("b", "s", plan);
  EXPECT_EQ(refused.code(), grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_EQ(ReasonOf(refused.status), "BUDGET_EXHAUSTED");
  EXPECT_THAT(refused.status.error_message(), StartsWith("the plan of budgets/b/sessions/s was"));
  v1::Refusal refusal;
  ASSERT_TRUE(FindDetail(refused.status, &refusal));
  EXPECT_EQ(refusal.limiting_resource(), "budgets/b");
  EXPECT_EQ(client().GetSession("budgets/b/sessions/s").code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(client().GetBudget("budgets/b").response.spent_fraction(), 0);
}

TEST_F(SessionRpc, RepeatingACreationGivesTheSessionAsItIsNowAndChargesNothing) {
  ASSERT_TRUE(client().CreateSession("b", "s", kPlan).ok());
  const double spent = client().GetBudget("budgets/b").response.spent_fraction();
  ASSERT_TRUE(client().OpenAttempt("budgets/b/sessions/s").ok());
  const auto again = client().CreateSession("b", "s", kPlan);
  ASSERT_TRUE(again.ok()) << again.status.error_message();
  EXPECT_EQ(again.response.current_attempt(), 1);
  EXPECT_EQ(client().GetBudget("budgets/b").response.spent_fraction(), spent);
  EXPECT_EQ(client().CreateSession("b", "s").code(), grpc::StatusCode::ALREADY_EXISTS);
}

TEST_F(SessionRpc, WhatIsWrongIsNamed) {
  const auto fails = [&](const std::string& session, const std::string& want) {
    const auto reply = client().CreateSession("b", "s", session);
    EXPECT_EQ(reply.code(), grpc::StatusCode::INVALID_ARGUMENT) << session;
    EXPECT_THAT(reply.status.error_message(), StartsWith(want)) << session;
  };
  const std::string event = "{ event { gaussian { noise_multiplier: 1 } } count: 1 }";
  fails("", "session.mode: got MODE_UNSPECIFIED, want one of DECLARED, ADAPTIVE");
  fails("mode: ADAPTIVE", "session.ownCap: got neither");
  fails("mode: ADAPTIVE no_own_cap: true own_cap { zcdp { rho: 1 } }", "session.ownCap: got a cap");
  fails("mode: ADAPTIVE no_own_cap: true plan {}", "session.plan: got a plan, want unset");
  fails("mode: ADAPTIVE no_own_cap: true plan_delta: 0.1",
        "session.planDelta: got 0.1, want unset");
  fails("mode: ADAPTIVE no_own_cap: true plan_delta: nan",
        "session.planDelta: got NaN, want unset");
  fails("mode: ADAPTIVE own_cap {}", "session.ownCap: unset, want one of pureEpsilon");
  fails("mode: ADAPTIVE no_own_cap: true state: ACTIVE", "session.state: got a value");
  fails("mode: ADAPTIVE no_own_cap: true current_attempt: 1", "session.currentAttempt: got a");
  fails("mode: DECLARED plan_delta: 0.1", "session.plan.events: got 0 events, want 1 to 10000");
  fails("mode: DECLARED plan_delta: 0.1 no_own_cap: true plan { events " + event + " }",
        "session.noOwnCap: got true");
  fails("mode: DECLARED plan_delta: 0.1 own_cap { zcdp { rho: 1 } } plan { events " + event + " }",
        "session.ownCap: got another currency, want approximateDp");
  fails("mode: DECLARED plan { events " + event + " }", "session.planDelta: got 0, want in (0, 1)");
  fails(
      "mode: DECLARED plan_delta: 0.1 plan { events { event { laplace { noise_multiplier: -1 } } "
      "count: 1 } }",
      "session.plan.events[0].event.laplace.noiseMultiplier: got -1");
  fails(
      "mode: DECLARED plan_delta: 0.1 plan { events { event { gaussian { noise_multiplier: 1 } } "
      "} }",
      "session.plan.events[0].count: got 0");
  fails("mode: DECLARED plan_delta: 0.1 plan { events " + event + " events " + event + " }",
        "session.plan.events[1].event: got the event of events[0] again");
  EXPECT_EQ(client().GetSession("budgets/b/sessions/s").code(), grpc::StatusCode::NOT_FOUND);
}

TEST_F(SessionRpc, GuaranteesGiveEveryAccountantANumberOrAReason) {
  ASSERT_TRUE(client().CreateSession("b", "s").ok());
  ASSERT_TRUE(client().OpenAttempt("budgets/b/sessions/s").ok());
  ASSERT_TRUE(client().Charge(kAttempt, "a", "gaussian { noise_multiplier: 4 }", 5).ok());
  const auto reply = TestClient::Call(
      *client().sessions, &v1::SessionService::Stub::GetSessionGuarantees,
      Parse<v1::GetSessionGuaranteesRequest>("name: 'budgets/b/sessions/s' delta: 1e-6"));
  ASSERT_TRUE(reply.ok()) << reply.status.error_message();
  ASSERT_EQ(reply.response.readings_size(), 11);
  EXPECT_GT(reply.response.sequence(), 0);
  bool gaussian = false;
  for (const v1::AccountantReading& reading : reply.response.readings()) {
    EXPECT_NE(reading.has_guarantee(), !reading.reason_unavailable().empty());
    gaussian = gaussian || (reading.accountant() == v1::Accountant::GAUSSIAN &&
                            reading.guarantee().upper() > 0);
  }
  EXPECT_TRUE(gaussian);
  EXPECT_EQ(reply.response.readings(10).accountant(), v1::Accountant::BEST);
}

TEST_F(SessionRpc, TheListIsOfOneBudget) {
  ASSERT_TRUE(client().CreateBudget("c", "zcdp { rho: 1 }").ok());
  for (const char* id : {"z", "x", "y"}) ASSERT_TRUE(client().CreateSession("b", id).ok());
  ASSERT_TRUE(client().CreateSession("c", "other").ok());
  const auto list = [&](const std::string& budget, const std::string& token) {
    return TestClient::Call(
        *client().sessions, &v1::SessionService::Stub::ListSessions,
        Parse<v1::ListSessionsRequest>("parent: 'budgets/" + budget +
                                       "' page_size: 2 page_token: '" + token + "'"));
  };
  const auto first = list("b", "");
  ASSERT_EQ(first.response.sessions_size(), 2);
  EXPECT_EQ(first.response.sessions(0).name(), "budgets/b/sessions/x");
  const auto second = list("b", first.response.next_page_token());
  ASSERT_EQ(second.response.sessions_size(), 1);
  EXPECT_EQ(second.response.next_page_token(), "");
  EXPECT_EQ(list("c", first.response.next_page_token()).code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(list("none", "").code(), grpc::StatusCode::NOT_FOUND);
}

TEST_F(SessionRpc, ARunAsPublishedIsLabelledAndHasNoFiniteEpsilon) {
  ASSERT_TRUE(client().CreateBudget("published", "no_guarantee {}").ok());
  const auto budget = client().GetBudget("budgets/published").response;
  EXPECT_TRUE(budget.cap().has_no_guarantee());
  ASSERT_EQ(budget.cells_size(), 1);
  EXPECT_EQ(budget.cells(0).quantity(), v1::CellBalance::NO_GUARANTEE);
  EXPECT_EQ(budget.spent_fraction(), 0);
  const auto created = client().CreateSession(
      "published", "s",
      "mode: ADAPTIVE no_own_cap: true claim { status: NOT_PROVEN epsilon: 1 delta: 1e-5 }");
  ASSERT_TRUE(created.ok()) << created.status.error_message();
  EXPECT_EQ(created.response.claim().label(), "as published; claimed guarantee not proven");
  EXPECT_FALSE(created.response.claim().counterexample_known());
  ASSERT_TRUE(client().OpenAttempt("budgets/published/sessions/s").ok());
  const std::string attempt = "budgets/published/sessions/s/attempts/1";
  const auto early = client().Charge(attempt, "a", "gaussian { noise_multiplier: 10 }", 1);
  EXPECT_EQ(ReasonOf(early.status), "POLICY_VIOLATION");
  ASSERT_TRUE(client().Charge(attempt, "b", "non_private { reason: 'as published' }", 1).ok());
  ASSERT_TRUE(client().Charge(attempt, "c", "gaussian { noise_multiplier: 10 }", 1).ok());
  const auto guarantees = TestClient::Call(
      *server_.client.sessions, &v1::SessionService::Stub::GetSessionGuarantees,
      Parse<v1::GetSessionGuaranteesRequest>("name: 'budgets/published/sessions/s' delta: 1e-5"));
  ASSERT_TRUE(guarantees.ok()) << guarantees.status.error_message();
  for (const v1::AccountantReading& reading : guarantees.response.readings()) {
    if (reading.guarantee().has_upper()) {
      EXPECT_TRUE(std::isinf(reading.guarantee().upper()))
          << v1::Accountant::Kind_Name(reading.accountant());
    }
  }
  // The label is the server's to give.
  const auto labelled = client().CreateSession(
      "published", "t", "mode: ADAPTIVE no_own_cap: true claim { status: PROVEN label: 'proven' }");
  EXPECT_EQ(labelled.code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_THAT(labelled.status.error_message(), HasSubstr("session.claim.label"));
}

TEST_F(SessionRpc, AuditsAreRecordedCheckedAndShown) {
  ASSERT_TRUE(client().CreateSession("b", "s", "mode: ADAPTIVE no_own_cap: true").ok());
  const auto record = [&](const std::string& audit, const std::string& change) {
    auto request =
        Parse<v1::RecordAuditRequest>("session: 'budgets/b/sessions/s' audit { " + audit + " }");
    request.MergeFrom(Parse<v1::RecordAuditRequest>("audit { " + change + " }"));
    return TestClient::Call(*server_.client.sessions, &v1::SessionService::Stub::RecordAudit,
                            request);
  };
  const std::string good =
      "method: ONE_RUN hypothesis: NONE epsilon_lower_bound: 1.5 delta: 1e-5 confidence: 0.95 "
      "trials: 1000 ";
  const auto recorded = record(good, "claimed_epsilon: 1 source: 'x'");
  ASSERT_TRUE(recorded.ok()) << recorded.status.error_message();
  EXPECT_EQ(recorded.response.audit_count(), 1);
  EXPECT_TRUE(recorded.response.audits(0).exceeds_claim());
  EXPECT_GT(recorded.response.audits(0).sequence(), 0);
  EXPECT_TRUE(recorded.response.audits(0).has_create_time());
  EXPECT_FALSE(recorded.response.audits(0).has_mu_lower_bound());
  const auto error = [&](const std::string& audit, const std::string& change) {
    const auto reply = record(audit, change);
    EXPECT_EQ(reply.code(), grpc::StatusCode::INVALID_ARGUMENT) << audit << change;
    return reply.status.error_message();
  };
  EXPECT_THAT(error("hypothesis: NONE confidence: 0.95 trials: 1", ""),
              StartsWith("audit.method: "));
  EXPECT_THAT(error("method: ONE_RUN confidence: 0.95 trials: 1", ""),
              StartsWith("audit.hypothesis: "));
  EXPECT_EQ(error(good, "epsilon_lower_bound: inf"),
            "audit.epsilonLowerBound: got Infinity, want in [0, inf)");
  EXPECT_THAT(error(good, "delta: 1"), StartsWith("audit.delta: got 1"));
  EXPECT_THAT(error(good, "confidence: nan"), StartsWith("audit.confidence: got NaN"));
  EXPECT_THAT(error(good, "trials: -1"), StartsWith("audit.trials: got -1"));
  EXPECT_THAT(error(good, "mu_lower_bound: -1"), StartsWith("audit.muLowerBound: got -1"));
  EXPECT_THAT(error(good, "sequence: 3"), StartsWith("audit.sequence: "));
  EXPECT_THAT(error(good, "source: '" + std::string(257, 'x') + "'"), StartsWith("audit.source"));
  EXPECT_EQ(client().GetSession("budgets/b/sessions/s").response.audit_count(), 1);
}

}  // namespace
}  // namespace epsledger::transport
