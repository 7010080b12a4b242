// What dashboards ask: the series of a session, the activity of a budget, its refusals.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/server/transport/test_server.h"

namespace epsledger::transport {
namespace {

using ::testing::HasSubstr;

constexpr char kSession[] = "budgets/b/sessions/s";
constexpr char kGaussian[] = "gaussian { noise_multiplier: 20 }";

class ActivityRpc : public ::testing::Test {
 protected:
  ActivityRpc() {
    EXPECT_TRUE(
        client()
            .CreateBudget("b", "approximate_dp { epsilon: 8 delta: 1e-5 filter: RENYI_ORDERS }")
            .ok());
    EXPECT_TRUE(client().CreateSession("b", "s", "mode: ADAPTIVE no_own_cap: true").ok());
    EXPECT_TRUE(client().OpenAttempt(kSession).ok());
  }
  TestClient& client() { return server_.client; }

  Reply<v1::GetSessionSeriesResponse> Series(int point_count, double delta = 1e-5) {
    v1::GetSessionSeriesRequest request;
    request.set_name(kSession);
    request.set_delta(delta);
    request.set_point_count(point_count);
    return TestClient::Call<v1::GetSessionSeriesResponse>(
        *client().sessions, &v1::SessionService::Stub::GetSessionSeries, request);
  }
  Reply<v1::BudgetActivity> Activity(int64_t window_seconds = 0) {
    v1::GetBudgetActivityRequest request;
    request.set_name("budgets/b");
    if (window_seconds != 0) request.mutable_window()->set_seconds(window_seconds);
    return TestClient::Call<v1::BudgetActivity>(
        *client().budgets, &v1::BudgetService::Stub::GetBudgetActivity, request);
  }
  Reply<v1::ListRefusalsResponse> Refusals(int page_size = 0, const std::string& token = "") {
    v1::ListRefusalsRequest request;
    request.set_parent("budgets/b");
    request.set_page_size(page_size);
    request.set_page_token(token);
    return TestClient::Call<v1::ListRefusalsResponse>(
        *client().charges, &v1::ChargeService::Stub::ListRefusals, request);
  }
  double Epsilon() {
    v1::GetSessionGuaranteesRequest request;
    request.set_name(kSession);
    request.set_delta(1e-5);
    const auto answer = TestClient::Call<v1::GetSessionGuaranteesResponse>(
        *client().sessions, &v1::SessionService::Stub::GetSessionGuarantees, request);
    return answer.response.readings().rbegin()->guarantee().upper();
  }

  TestServer server_;
};

TEST_F(ActivityRpc, ASeriesGoesThroughEveryCompositionFromNothingToAllThatWasCharged) {
  ASSERT_TRUE(client().Charge(kAttempt, "a", kGaussian, 30).ok());
  ASSERT_TRUE(client().Charge(kAttempt, "b", "gaussian { noise_multiplier: 40 }", 5).ok());
  ASSERT_TRUE(client().OpenAttempt(kSession).ok());
  const std::string second = std::string(kSession) + "/attempts/2";
  ASSERT_TRUE(client().Charge(second, "c", kGaussian, 7).ok());
  const auto series = Series(500);
  ASSERT_TRUE(series.ok()) << series.status.error_message();
  const v1::GetSessionSeriesResponse& got = series.response;
  EXPECT_EQ(got.steps(), 42);
  EXPECT_EQ(got.leased_steps(), 0);
  EXPECT_EQ(got.epsilon_cap(), 8);
  EXPECT_EQ(got.epsilon_cap_resource(), "budgets/b");
  ASSERT_EQ(got.points_size(), 43);
  for (int i = 0; i < got.points_size(); ++i) {
    EXPECT_EQ(got.points(i).steps(), i);
    if (i == 0) continue;
    EXPECT_GT(got.points(i).epsilon().upper(), got.points(i - 1).epsilon().upper());
  }
  EXPECT_EQ(got.points(0).epsilon().upper(), 0);
  // Gaussians compose by mu^2 (Dong, Roth and Su 2022, corollary 3.3): 4 at 40 are 1 at 20, so the
  // curve has grown by 4 steps at 40 as much as it would have by one at 20, and by 5 more than
  // that.
  EXPECT_LT(got.points(35).epsilon().upper() - got.points(30).epsilon().upper(),
            2 * (got.points(30).epsilon().upper() - got.points(29).epsilon().upper()));
  EXPECT_EQ(got.points(42).epsilon().upper(), Epsilon());
  EXPECT_EQ(got.points(1).sequence(), got.points(30).sequence());
  EXPECT_LT(got.points(30).sequence(), got.points(31).sequence());
  ASSERT_EQ(got.attempts_size(), 2);
  EXPECT_EQ(got.attempts(0).steps_before(), 0);
  EXPECT_EQ(got.attempts(1).number(), 2);
  EXPECT_EQ(got.attempts(1).steps_before(), 35);
  EXPECT_EQ(got.attempts(1).sequence(), got.points(36).sequence());
}

// With a cap without units: there a block costs what its steps cost one by one.
TEST_F(ActivityRpc, WhatIsAheadEndsWhereTheLedgerRefuses) {
  ASSERT_TRUE(client().Charge(kAttempt, "a", kGaussian, 10).ok());
  const v1::GetSessionSeriesResponse got = Series(30).response;
  ASSERT_GE(got.ahead_size(), 2);
  EXPECT_EQ(got.ahead(0).steps(), 10);
  const v1::SeriesPoint& last = got.ahead(got.ahead_size() - 1);
  EXPECT_LE(last.epsilon().upper(), got.epsilon_cap());
  const int64_t fits = last.steps() - got.steps();
  EXPECT_EQ(client().Charge(kAttempt, "b", kGaussian, fits + 1).code(),
            grpc::StatusCode::FAILED_PRECONDITION);
  ASSERT_TRUE(client().Charge(kAttempt, "c", kGaussian, fits).ok());
  EXPECT_EQ(Epsilon(), last.epsilon().upper());
  EXPECT_EQ(Series(30).response.ahead_size(), 0);
}

TEST_F(ActivityRpc, APointCountIsKeptByRoundDistances) {
  ASSERT_TRUE(client().Charge(kAttempt, "a", "gaussian { noise_multiplier: 100 }", 1234).ok());
  for (const int count : {2, 3, 10, 500}) {
    const v1::GetSessionSeriesResponse got = Series(count).response;
    EXPECT_LE(got.points_size(), count);
    EXPECT_GE(got.points_size(), count == 2 ? 2 : count / 3);
    EXPECT_EQ(got.points(got.points_size() - 1).steps(), 1234);
  }
  const v1::GetSessionSeriesResponse usual = Series(0).response;
  const int64_t begins[] = {0, 1, 2, 5, 10, 20, 40, 60};
  for (int i = 0; i < 8; ++i) EXPECT_EQ(usual.points(i).steps(), begins[i]);
  EXPECT_THAT(Series(1).status.error_message(), HasSubstr("pointCount: got 1, want in [2, 500]"));
  EXPECT_THAT(Series(9, 0).status.error_message(), HasSubstr("delta: got 0"));
  // Another delta than the cap's: no line to draw.
  EXPECT_FALSE(Series(2, 1e-6).response.has_epsilon_cap());
}

TEST_F(ActivityRpc, NothingChargedIsOnePointAtZero) {
  const v1::GetSessionSeriesResponse got = Series(10).response;
  ASSERT_EQ(got.points_size(), 1);
  EXPECT_EQ(got.points(0).epsilon().upper(), 0);
  EXPECT_EQ(got.ahead_size(), 0);
  EXPECT_FALSE(Activity().response.has_last_charge_time());
}

TEST_F(ActivityRpc, TheNewestDayOfSpendingHasWhatIsSpentNow) {
  EXPECT_TRUE(Activity().response.spent_by_day().empty());
  ASSERT_TRUE(client().Charge(kAttempt, "a", kGaussian, 30).ok());
  ASSERT_TRUE(client().Charge(kAttempt, "b", kGaussian, 30).ok());
  const v1::BudgetActivity activity = Activity().response;
  const auto& days = activity.spent_by_day();
  ASSERT_FALSE(days.empty());
  double newest = 0;
  for (const auto& [date, spent] : days) {
    EXPECT_THAT(date, ::testing::MatchesRegex("20[0-9][0-9]-[01][0-9]-[0-3][0-9]"));
    newest = std::max(newest, spent);
  }
  EXPECT_GT(newest, 0);
  EXPECT_EQ(newest, client().GetBudget("budgets/b").response.spent_fraction());
}

TEST_F(ActivityRpc, RefusalsAreCountedListedNewestFirstAndPaged) {
  ASSERT_TRUE(client().Charge(kAttempt, "a", kGaussian, 1).ok());
  for (int i = 0; i < 5; ++i) {
    EXPECT_FALSE(client().Charge(kAttempt, "r" + std::to_string(i), kGaussian, 1'000'000).ok());
  }
  EXPECT_FALSE(client()
                   .CreateSession("b", "plan",
                                  "mode: DECLARED plan_delta: 1e-6 plan { events { count: 1000000 "
                                  "event { gaussian { noise_multiplier: 1 } } } }")
                   .ok());
  const v1::BudgetActivity activity = Activity(3600).response;
  EXPECT_EQ(activity.refused_charge_count(), 6);
  EXPECT_EQ(activity.window().seconds(), 3600);
  EXPECT_TRUE(activity.has_last_charge_time());
  EXPECT_THAT(Activity(-1).status.error_message(), HasSubstr("window.seconds: got -1"));

  const v1::ListRefusalsResponse first = Refusals(4).response;
  ASSERT_EQ(first.refused_sessions_size(), 1);
  EXPECT_EQ(first.refused_sessions(0).refused_session().name(), "budgets/b/sessions/plan");
  ASSERT_EQ(first.charges_size(), 3);
  EXPECT_THAT(first.charges(0).name(), HasSubstr("/charges/r4"));
  EXPECT_EQ(first.charges(0).refusal().reason(), v1::Refusal::BUDGET_EXHAUSTED);
  EXPECT_GT(first.charges(0).sequence(), first.charges(1).sequence());
  const v1::ListRefusalsResponse second = Refusals(4, first.next_page_token()).response;
  ASSERT_EQ(second.charges_size(), 2);
  EXPECT_THAT(second.charges(1).name(), HasSubstr("/charges/r0"));
  EXPECT_EQ(second.next_page_token(), "");
}

TEST_F(ActivityRpc, TheTruePositiveRateIsThatOfTheGaussianTradeOffFunction) {
  v1::GetBudgetGuaranteesRequest request;
  request.set_name("budgets/b");
  request.set_delta(1e-5);
  request.set_type_one_error(0.5);
  const auto ask = [&] {
    return TestClient::Call<v1::GetBudgetGuaranteesResponse>(
        *client().budgets, &v1::BudgetService::Stub::GetBudgetGuarantees, request);
  };
  EXPECT_EQ(ask().response.true_positive_rate_upper(), 0.5);
  // One Gaussian of multiplier 2 is 1/2-GDP: TPR = Phi(Phi^-1(FPR) + mu).
  ASSERT_TRUE(client().Charge(kAttempt, "a", "gaussian { noise_multiplier: 2 }", 1).ok());
  const auto answer = ask();
  ASSERT_TRUE(answer.ok()) << answer.status.error_message();
  const double exact = 0.5 * std::erfc(-0.5 / std::sqrt(2.0));
  EXPECT_GE(answer.response.true_positive_rate_upper(), exact);
  EXPECT_NEAR(answer.response.true_positive_rate_upper(), exact, 1e-3);
}

}  // namespace
}  // namespace epsledger::transport
