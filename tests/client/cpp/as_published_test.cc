// A run as published, whose guarantee is not proven, through the client library and the real
// server.

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include "epsledger/client.h"
#include "tests/server/transport/test_server.h"

namespace epsledger {
namespace {

using ::testing::HasSubstr;

class AsPublishedTest : public ::testing::Test {
 protected:
  AsPublishedTest() {
    auto client = Client::Connect({.address = server_.server->addresses()[0]});
    EXPECT_TRUE(client.ok()) << client.status();
    client_.emplace(*std::move(client));
  }

  void CreateBudget(const std::string& id, const Cap& cap) {
    const auto budget =
        client_->CreateBudget({.id = id,
                               .cap = cap,
                               .neighboring_relation = NeighboringRelation::kAddOrRemoveOne,
                               .privacy_unit = "person"});
    ASSERT_TRUE(budget.ok()) << budget.status();
    EXPECT_EQ(budget->cap.index(), cap.index());
  }

  Session Open(const std::string& budget) {
    NewSession create{.neighboring_relation = NeighboringRelation::kAddOrRemoveOne,
                      .no_own_cap = true};
    create.claim = Claim{.status = Claim::Status::kCounterexampleKnown,
                         .epsilon = 0.5,
                         .delta = 1e-5,
                         .source = "Theorem 3.3"};
    auto session =
        client_->OpenSession({.budget = budget, .session = "run", .create = std::move(create)});
    EXPECT_TRUE(session.ok()) << session.status();
    return *std::move(session);
  }

  transport::TestServer server_;
  std::optional<Client> client_;
};

TEST_F(AsPublishedTest, IsChargedWhereNothingIsPromisedAndHasNoEpsilon) {
  CreateBudget("published", NoGuaranteeCap{});
  Session session = Open("published");
  const Mechanism step = Mechanism::Gaussian(40);
  // The run says first that it is not private; until then nothing is charged.
  const auto early = session.Charge(step);
  ASSERT_FALSE(early.ok());
  EXPECT_EQ(RefusalOf(early.status())->reason, RefusalReason::kPolicyViolation);
  EXPECT_TRUE(session.Charge(Mechanism::NonPrivate("exact losses in the line search")).ok());
  for (int i = 0; i < 3; ++i) {
    auto permit = session.Charge(step);
    ASSERT_TRUE(permit.ok()) << permit.status();
    EXPECT_EQ(permit->uses_left(), 1);
  }
  const auto guarantees = session.Guarantees(1e-5);
  ASSERT_TRUE(guarantees.ok()) << guarantees.status();
  int answers = 0;
  for (const AccountantReading& reading : guarantees->readings) {
    if (!reading.upper.has_value()) continue;
    ++answers;
    EXPECT_TRUE(std::isinf(*reading.upper)) << reading.accountant;
  }
  EXPECT_GT(answers, 0);
  // A resumed run goes on.
  Session resumed = Open("published");
  EXPECT_TRUE(resumed.Charge(step).ok());

  const v1::Session read = server_.client.GetSession("budgets/published/sessions/run").response;
  EXPECT_EQ(read.claim().label(), "as published; claimed guarantee not proven");
  EXPECT_TRUE(read.claim().counterexample_known());
}

TEST_F(AsPublishedTest, IsRefusedByEveryPromise) {
  CreateBudget("capped", ApproximateDpCap{.epsilon = 1000, .delta = 0.1});
  Session session = Open("capped");
  const auto refused = session.Charge(Mechanism::NonPrivate("x"));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(RefusalOf(refused.status())->reason, RefusalReason::kEventNotChargeable);
  EXPECT_FALSE(session.Charge(Mechanism::Gaussian(40)).ok());
}

TEST_F(AsPublishedTest, ItsAuditsAreRecordedBesideTheClaim) {
  CreateBudget("published", NoGuaranteeCap{});
  Session session = Open("published");
  AuditResult audit{.method = AuditMethod::kTwoArmThreshold,
                    .epsilon_lower_bound = 6.3,
                    .delta = 1e-5,
                    .confidence = 0.95,
                    .trials = 40000,
                    .source = "A2, line search"};
  EXPECT_TRUE(session.RecordAudit(audit).ok());
  EXPECT_TRUE(session.RecordAudit(audit).ok());  // no change
  audit.epsilon_lower_bound = 0.2;
  audit.mu_lower_bound = 0.1;
  audit.method = AuditMethod::kTwoArmGdp;
  audit.if_gaussian_trade_off = true;
  EXPECT_TRUE(session.RecordAudit(audit).ok());
  const v1::Session read = server_.client.GetSession("budgets/published/sessions/run").response;
  EXPECT_EQ(read.audit_count(), 2);
  ASSERT_EQ(read.audits_size(), 2);
  EXPECT_EQ(read.audits(0).epsilon_lower_bound(), 6.3);
  EXPECT_TRUE(read.audits(0).exceeds_claim());
  EXPECT_EQ(read.audits(0).source(), "A2, line search");
  EXPECT_EQ(read.audits(1).hypothesis(), v1::AuditCanariesResponse::GAUSSIAN_TRADE_OFF);
  EXPECT_EQ(read.audits(1).mu_lower_bound(), 0.1);
  EXPECT_FALSE(read.audits(1).exceeds_claim());
  EXPECT_GT(read.audits(1).sequence(), read.audits(0).sequence());

  audit.confidence = 1;
  const absl::Status bad = session.RecordAudit(audit);
  EXPECT_EQ(bad.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(bad.message()), HasSubstr("audit.confidence: got 1, want in (0, 1)"));
}

}  // namespace
}  // namespace epsledger
