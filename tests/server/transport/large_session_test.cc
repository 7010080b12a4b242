// A session with events of megabytes: what is said of it can be read, in full and in pages, and no
// answer is large.

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/server/transport/test_server.h"

namespace epsledger::transport {
namespace {

using ::testing::HasSubstr;

constexpr char kSession[] = "budgets/b/sessions/s";
constexpr int kEvents = 100;
constexpr int kPartsOfEvent = 2'000;  // some 36 kB

// A client's answers are of at most 4 MB, and this history is of 3.4.
class LargeSession : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    // What is read here in one second is more than a tenant is told by default.
    server_ = new TestServer(
        {.addresses = {"127.0.0.1:0"}, .quotas = {.read_bytes_per_second_of_tenant = 0}});
    EXPECT_TRUE(client().CreateBudget("b", "zcdp { rho: 1e7 }").ok());
    EXPECT_TRUE(client().CreateSession("b", "s", "mode: ADAPTIVE no_own_cap: true").ok());
    EXPECT_TRUE(client().OpenAttempt(kSession).ok());
    for (int i = 0; i < kEvents; ++i) Charge(i, 1 + i % 3);
  }
  static void TearDownTestSuite() {
    delete server_;
    server_ = nullptr;
  }
  static TestClient& client() { return server_->client; }

  static void Charge(int i, int64_t count) {
    v1::ChargeRequest request;
    request.set_attempt(kAttempt);
    request.set_charge_id("c" + std::to_string(++charges_));
    request.set_count(count);
    for (int k = 0; k < kPartsOfEvent; ++k) {
      v1::CountedEvent& part = *request.mutable_event()->mutable_composed()->add_events();
      part.set_count(1);
      part.mutable_event()->mutable_gaussian()->set_noise_multiplier(1 + i + k * 1e-6);
    }
    const auto reply =
        TestClient::Call<v1::Charge>(*client().charges, &v1::ChargeService::Stub::Charge, request);
    ASSERT_TRUE(reply.ok()) << reply.status.error_message();
  }

  static Reply<v1::GetSessionHistoryResponse> History(int page_size, const std::string& token,
                                                      int64_t at_sequence = 0) {
    v1::GetSessionHistoryRequest request;
    request.set_name(kSession);
    request.set_page_size(page_size);
    request.set_page_token(token);
    request.set_at_sequence(at_sequence);
    return TestClient::Call<v1::GetSessionHistoryResponse>(
        *client().sessions, &v1::SessionService::Stub::GetSessionHistory, request);
  }

  // The whole, page by page, of one entry. `between` is called after the first page.
  template <class Between>
  static v1::GetSessionHistoryResponse Pages(int page_size, int64_t at_sequence, Between between) {
    v1::GetSessionHistoryResponse whole;
    std::string token;
    do {
      const auto page = History(page_size, token, at_sequence);
      EXPECT_TRUE(page.ok()) << page.status.error_message();
      if (!page.ok()) break;
      EXPECT_LE(page.response.ByteSizeLong(), size_t{2'200'000});
      if (!token.empty()) {
        EXPECT_EQ(page.response.sequence(), whole.sequence());
      }
      if (token.empty()) between();
      token = page.response.next_page_token();
      whole.MergeFrom(page.response);
    } while (!token.empty());
    whole.clear_next_page_token();
    return whole;
  }

  static TestServer* server_;
  static int charges_;
};

TestServer* LargeSession::server_ = nullptr;
int LargeSession::charges_ = 0;

TEST_F(LargeSession, IsShownWithoutItsEvents) {
  const v1::Session session = client().GetSession(kSession).response;
  EXPECT_TRUE(session.events_omitted());
  EXPECT_EQ(session.history_size(), 0);
  EXPECT_GE(session.step_count(), 199);  // 34 x 1 + 33 x 2 + 33 x 3
  EXPECT_LT(session.ByteSizeLong(), 2'000u);
  const auto list = TestClient::Call<v1::ListSessionsResponse>(
      *client().sessions, &v1::SessionService::Stub::ListSessions,
      Parse<v1::ListSessionsRequest>("parent: 'budgets/b'"));
  ASSERT_EQ(list.response.sessions_size(), 1);
  EXPECT_LT(list.response.ByteSizeLong(), 2'000u);
}

TEST_F(LargeSession, HasItsHistoryInPagesOfOneMoment) {
  const auto at_once = History(0, "");
  EXPECT_EQ(at_once.code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_THAT(at_once.status.error_message(), HasSubstr("pageSize: got none, want one"));
  const auto before = Pages(1'000, 0, [] {});
  ASSERT_EQ(before.history_size(), kEvents);
  for (const int size : {7, 1'000}) {
    // What is charged meanwhile is of a later moment.
    const auto pages = Pages(size, 0, [] { Charge(99, 5); });
    ASSERT_EQ(pages.history_size(), kEvents);
    // Not EXPECT_EQ: a difference of megabytes is not printed.
    for (const int i : {0, 98}) {
      EXPECT_TRUE(pages.history(i).SerializeAsString() == before.history(i).SerializeAsString());
    }
    const auto then = Pages(size, pages.sequence(), [] {});
    EXPECT_TRUE(then.SerializeAsString() == pages.SerializeAsString());
  }
  const auto after = Pages(1'000, 0, [] {});
  EXPECT_EQ(after.history(99).count(), before.history(99).count() + 10);
}

TEST_F(LargeSession, RefusesPageTokensOfAnotherHistory) {
  const auto first = History(10, "");
  ASSERT_TRUE(first.ok());
  const std::string token = first.response.next_page_token();
  EXPECT_EQ(History(10, token, 5).code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(History(10, token + "A").code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_THAT(History(1'001, "").status.error_message(), HasSubstr("pageSize: got 1001"));
  EXPECT_EQ(History(-1, "").code(), grpc::StatusCode::INVALID_ARGUMENT);
}

TEST_F(LargeSession, ListsItsChargesInPages) {
  v1::ListChargesRequest request;
  request.set_parent(kSession);
  request.set_page_size(1'000);
  int charges = 0;
  do {
    const auto page = TestClient::Call<v1::ListChargesResponse>(
        *client().charges, &v1::ChargeService::Stub::ListCharges, request);
    ASSERT_TRUE(page.ok()) << page.status.error_message();
    EXPECT_LE(page.response.ByteSizeLong(), size_t{2'200'000});
    charges += page.response.charges_size();
    for (const v1::Charge& charge : page.response.charges()) {
      EXPECT_EQ(charge.event().composed().events_size(), kPartsOfEvent);
    }
    request.set_page_token(page.response.next_page_token());
  } while (!request.page_token().empty());
  EXPECT_EQ(charges, charges_);
}

TEST_F(LargeSession, HasAllItsEntries) {
  v1::ListAuditEntriesRequest request;
  request.set_budget("budgets/b");
  request.set_page_size(1'000);
  int64_t newest = 1;
  while (request.after_sequence() < newest) {
    const auto page = TestClient::Call<v1::ListAuditEntriesResponse>(
        *client().audit, &v1::AuditService::Stub::ListAuditEntries, request);
    ASSERT_TRUE(page.ok()) << page.status.error_message();
    ASSERT_GT(page.response.entries_size(), 0);
    EXPECT_LE(page.response.ByteSizeLong(), size_t{1'000'000});
    EXPECT_EQ(page.response.entries(0).sequence(), request.after_sequence() + 1);
    newest = page.response.last_sequence();
    request.set_after_sequence(page.response.entries().rbegin()->sequence());
  }
  EXPECT_EQ(request.after_sequence(), newest);
  const auto verified = TestClient::Call<v1::VerifyLedgerResponse>(
      *client().audit, &v1::AuditService::Stub::VerifyLedger,
      Parse<v1::VerifyLedgerRequest>("budget: 'budgets/b'"));
  ASSERT_TRUE(verified.ok()) << verified.status.error_message();
}

TEST_F(LargeSession, IsStatedInFewWords) {
  const auto statement = TestClient::Call<v1::PrivacyStatement>(
      *client().audit, &v1::AuditService::Stub::GetPrivacyStatement,
      Parse<v1::GetPrivacyStatementRequest>("name: 'budgets/b/sessions/s' delta: 1e-6"));
  ASSERT_TRUE(statement.ok()) << statement.status.error_message();
  EXPECT_THAT(statement.response.text(), HasSubstr("1 x composed of "));
  EXPECT_LT(statement.response.ByteSizeLong(), 100'000u);
}

}  // namespace
}  // namespace epsledger::transport
