// Pages of a dashboard in one answer: budgets and sessions with what each was charged.

#include <cstdint>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/server/transport/test_server.h"

namespace epsledger::transport {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class ReadingsRpc : public ::testing::Test {
 protected:
  // Two budgets of a tree and one apart. Sessions by steps: top/one 30, below/two 5, top/three 0.
  ReadingsRpc() {
    EXPECT_TRUE(client()
                    .CreateBudget("top",
                                  "approximate_dp { epsilon: 8 delta: 1e-6 filter: "
                                  "RENYI_ORDERS }")
                    .ok());
    EXPECT_TRUE(client().CreateBudget("below", "zcdp { rho: 1 }", "parent: 'budgets/top'").ok());
    EXPECT_TRUE(client().CreateBudget("apart", "pure_epsilon { epsilon: 1 }").ok());
    Train("top", "one", "group: 'sweep-1'", 30);
    Train("below", "two", "display_name: 'Second Try' labels { key: 'team' value: 'vision' }", 5);
    EXPECT_TRUE(client().CreateSession("top", "three", kAdaptive).ok());
  }
  TestClient& client() { return server_.client; }

  void Train(const std::string& budget, const std::string& session, const std::string& fields,
             int64_t steps) {
    EXPECT_TRUE(client().CreateSession(budget, session, kAdaptive + (" " + fields)).ok());
    const std::string name = "budgets/" + budget + "/sessions/" + session;
    EXPECT_TRUE(client().OpenAttempt(name).ok());
    EXPECT_TRUE(client()
                    .Charge(name + "/attempts/1", "a", "gaussian { noise_multiplier: 20 }", steps)
                    .ok());
  }

  Reply<v1::ListSessionReadingsResponse> Ask(const std::string& request) {
    return TestClient::Call<v1::ListSessionReadingsResponse>(
        *client().sessions, &v1::SessionService::Stub::ListSessionReadings,
        Parse<v1::ListSessionReadingsRequest>(request));
  }
  Reply<v1::ListSessionReadingsResponse> Sessions(const std::string& fields) {
    return Ask("parent: 'budgets/top' delta: 1e-5 " + fields);
  }
  Reply<v1::ListBudgetReadingsResponse> Budgets(const std::string& fields) {
    return TestClient::Call<v1::ListBudgetReadingsResponse>(
        *client().budgets, &v1::BudgetService::Stub::ListBudgetReadings,
        Parse<v1::ListBudgetReadingsRequest>(fields));
  }
  std::vector<std::string> IdsOf(const Reply<v1::ListSessionReadingsResponse>& reply) {
    EXPECT_TRUE(reply.ok()) << reply.status.error_message();
    std::vector<std::string> ids;
    for (const v1::SessionReading& reading : reply.response.sessions()) {
      const std::string& name = reading.session().name();
      ids.push_back(name.substr(name.rfind('/') + 1));
    }
    return ids;
  }
  v1::GetBudgetGuaranteesResponse Guarantees(const std::string& fields) {
    const auto reply = TestClient::Call<v1::GetBudgetGuaranteesResponse>(
        *client().budgets, &v1::BudgetService::Stub::GetBudgetGuarantees,
        Parse<v1::GetBudgetGuaranteesRequest>(fields));
    EXPECT_TRUE(reply.ok()) << reply.status.error_message();
    return reply.response;
  }

  static constexpr char kAdaptive[] = "mode: ADAPTIVE no_own_cap: true";
  TestServer server_;
};

TEST_F(ReadingsRpc, ASessionReadsAsItReadsAlone) {
  const auto reply = Sessions("renyi_order: 8");
  ASSERT_THAT(IdsOf(reply), ElementsAre("one", "three"));
  EXPECT_EQ(reply.response.session_count(), 2);
  const v1::SessionReading& one = reply.response.sessions(0);
  v1::GetSessionGuaranteesRequest alone;
  alone.set_name("budgets/top/sessions/one");
  alone.set_delta(1e-5);
  const auto guarantees = TestClient::Call<v1::GetSessionGuaranteesResponse>(
      *client().sessions, &v1::SessionService::Stub::GetSessionGuarantees, alone);
  ASSERT_TRUE(guarantees.ok());
  EXPECT_EQ(one.reading().guarantee().upper(),
            guarantees.response.readings().rbegin()->guarantee().upper());
  EXPECT_EQ(one.reading().accountant(), v1::Accountant::BEST);
  // The divergence of n Gaussians of multiplier z at an order a is n a / (2 z^2) [Mironov17].
  EXPECT_GE(one.renyi_divergence().upper(), 30 * 8 / (2 * 400.0));
  EXPECT_NEAR(one.renyi_divergence().upper(), 30 * 8 / (2 * 400.0), 1e-12);
  EXPECT_EQ(one.session().step_count(), 30);
  EXPECT_EQ(one.session().group(), "sweep-1");
  EXPECT_TRUE(one.session().events_omitted());
  EXPECT_EQ(one.session().history_size(), 0);
  EXPECT_TRUE(one.session().has_create_time());
  // Nothing was charged: nothing is lost.
  EXPECT_EQ(reply.response.sessions(1).reading().guarantee().upper(), 0);
  EXPECT_FALSE(Sessions("").response.sessions(0).has_renyi_divergence());
}

TEST_F(ReadingsRpc, ANewChargeIsANewReading) {
  const double before = Sessions("").response.sessions(0).reading().guarantee().upper();
  ASSERT_TRUE(client()
                  .Charge("budgets/top/sessions/one/attempts/1", "b",
                          "gaussian { noise_multiplier: 20 }", 1)
                  .ok());
  EXPECT_GT(Sessions("").response.sessions(0).reading().guarantee().upper(), before);
}

TEST_F(ReadingsRpc, SessionsBelowAreOrderedSearchedAndPaged) {
  const std::string all = "include_descendants: true ";
  EXPECT_THAT(IdsOf(Sessions(all)), ElementsAre("two", "one", "three"));  // below, then top
  EXPECT_THAT(IdsOf(Sessions(all + "order: STEP_COUNT")), ElementsAre("three", "two", "one"));
  EXPECT_THAT(IdsOf(Sessions(all + "order: STEP_COUNT descending: true")),
              ElementsAre("one", "two", "three"));
  EXPECT_THAT(IdsOf(Sessions(all + "order: CREATE_TIME")), ElementsAre("one", "two", "three"));
  EXPECT_THAT(IdsOf(Sessions(all + "text: 'TEAM=Vis'")), ElementsAre("two"));
  EXPECT_THAT(IdsOf(Sessions(all + "text: 'second try'")), ElementsAre("two"));
  EXPECT_THAT(IdsOf(Sessions(all + "text: 'SWEEP'")), ElementsAre("one"));
  EXPECT_THAT(IdsOf(Sessions(all + "text: 'nowhere'")), ElementsAre());
  const std::string by_steps = all + "order: STEP_COUNT descending: true page_size: 1 ";
  std::vector<std::string> paged;
  std::string token;
  do {
    const auto page = Sessions(by_steps + "page_token: '" + token + "'");
    ASSERT_EQ(page.response.sessions_size(), 1);
    EXPECT_EQ(page.response.session_count(), 3);
    paged.push_back(IdsOf(page)[0]);
    token = page.response.next_page_token();
  } while (!token.empty());
  EXPECT_THAT(paged, ElementsAre("one", "two", "three"));
  const std::string first = Sessions(by_steps).response.next_page_token();
  EXPECT_THAT(Sessions("page_token: '" + first + "'").status.error_message(),
              HasSubstr("pageToken"));
}

TEST_F(ReadingsRpc, ClosedSessionsComeLastByState) {
  v1::CloseSessionRequest close;
  close.set_name("budgets/top/sessions/one");
  close.set_reason("done");
  ASSERT_TRUE(TestClient::Call<v1::Session>(*client().sessions,
                                            &v1::SessionService::Stub::CloseSession, close)
                  .ok());
  EXPECT_THAT(IdsOf(Sessions("order: STATE")), ElementsAre("three", "one"));
}

TEST_F(ReadingsRpc, ManySessionsArePagedOverSeveralTurns) {
  for (int i = 0; i < 1500; ++i) {
    ASSERT_TRUE(client().CreateSession("apart", "s" + std::to_string(10'000 + i), kAdaptive).ok());
  }
  v1::ListSessionReadingsRequest request;
  request.set_parent("budgets/apart");
  request.set_delta(1e-5);
  request.set_page_size(200);
  request.set_descending(true);
  request.set_order(v1::ListSessionReadingsRequest::CREATE_TIME);
  std::vector<std::string> names;
  do {
    const auto page = TestClient::Call<v1::ListSessionReadingsResponse>(
        *client().sessions, &v1::SessionService::Stub::ListSessionReadings, request);
    ASSERT_TRUE(page.ok()) << page.status.error_message();
    EXPECT_EQ(page.response.session_count(), 1500);
    for (const v1::SessionReading& reading : page.response.sessions()) {
      names.push_back(reading.session().name());
    }
    request.set_page_token(page.response.next_page_token());
  } while (!request.page_token().empty());
  ASSERT_EQ(names.size(), 1500u);
  EXPECT_EQ(names.front(), "budgets/apart/sessions/s11499");
  EXPECT_EQ(names.back(), "budgets/apart/sessions/s10000");
}

TEST_F(ReadingsRpc, WrongFieldsAreNamed) {
  EXPECT_THAT(Sessions("page_size: 201").status.error_message(),
              HasSubstr("pageSize: got 201, want in [0, 200]"));
  EXPECT_THAT(Ask("parent: 'budgets/top' delta: 1").status.error_message(),
              HasSubstr("delta: got 1"));
  EXPECT_THAT(Sessions("renyi_order: 1").status.error_message(), HasSubstr("renyiOrder: got 1"));
  EXPECT_THAT(Ask("parent: 'budgets/none' delta: 1e-5").status.error_message(), HasSubstr("none"));
  EXPECT_THAT(Sessions("text: '" + std::string(257, 'x') + "'").status.error_message(),
              HasSubstr("text"));
  v1::ListSessionReadingsRequest unknown;
  unknown.set_parent("budgets/top");
  unknown.set_delta(1e-5);
  unknown.set_order(static_cast<v1::ListSessionReadingsRequest::Order>(99));
  EXPECT_THAT(TestClient::Call<v1::ListSessionReadingsResponse>(
                  *client().sessions, &v1::SessionService::Stub::ListSessionReadings, unknown)
                  .status.error_message(),
              HasSubstr("order: got 99"));
  EXPECT_THAT(Budgets("").status.error_message(), HasSubstr("delta: got 0"));
  EXPECT_THAT(Budgets("delta: 1e-5 type_one_error: 2").status.error_message(),
              HasSubstr("typeOneError: got 2"));
  EXPECT_THAT(Budgets("delta: 1e-5 window { seconds: 0 }").status.error_message(),
              HasSubstr("window.seconds: got 0"));
}

TEST_F(ReadingsRpc, ABudgetReadsAsItReadsAlone) {
  const auto reply = Budgets("delta: 1e-5 type_one_error: 0.01");
  ASSERT_TRUE(reply.ok()) << reply.status.error_message();
  ASSERT_EQ(reply.response.budgets_size(), 3);
  EXPECT_EQ(reply.response.next_page_token(), "");
  for (const v1::BudgetReading& reading : reply.response.budgets()) {
    const auto alone =
        Guarantees("name: '" + reading.budget().name() + "' delta: 1e-5 type_one_error: 0.01");
    EXPECT_EQ(reading.delta(), 1e-5);
    EXPECT_EQ(reading.reading().guarantee().upper(),
              alone.readings().rbegin()->guarantee().upper());
    EXPECT_EQ(reading.true_positive_rate_upper(), alone.true_positive_rate_upper());
    EXPECT_EQ(reading.session_count(), alone.session_count());
  }
  const v1::BudgetReading& top = reply.response.budgets(2);
  EXPECT_EQ(top.budget().name(), "budgets/top");
  EXPECT_EQ(top.session_count(), 3);
  EXPECT_TRUE(top.activity().has_last_charge_time());
  EXPECT_FALSE(reply.response.budgets(0).activity().has_last_charge_time());
  EXPECT_FALSE(Budgets("delta: 1e-5").response.budgets(0).has_true_positive_rate_upper());
}

TEST_F(ReadingsRpc, BudgetsAreReadAtTheDeltaOfTheirCapsAndPaged) {
  const auto first = Budgets("delta: 1e-5 at_delta_of_cap: true page_size: 2");
  ASSERT_EQ(first.response.budgets_size(), 2);
  EXPECT_EQ(first.response.budgets(0).delta(), 1e-5);  // pure DP has none
  const auto second = Budgets("delta: 1e-5 at_delta_of_cap: true page_size: 2 page_token: '" +
                              first.response.next_page_token() + "'");
  ASSERT_EQ(second.response.budgets_size(), 1);
  EXPECT_EQ(second.response.next_page_token(), "");
  EXPECT_EQ(second.response.budgets(0).delta(), 1e-6);
  EXPECT_EQ(second.response.budgets(0).reading().guarantee().upper(),
            Guarantees("name: 'budgets/top' delta: 1e-6").readings().rbegin()->guarantee().upper());
}

}  // namespace
}  // namespace epsledger::transport
