// The mathematics over the wire.

#include <cmath>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/bridge/canary_audit.h"
#include "proto/bridge/compute.h"
#include "proto/bridge/curves.h"
#include "tests/server/transport/test_server.h"

namespace epsledger::transport {
namespace {

using ::testing::HasSubstr;

constexpr char kEvents[] = "events { count: 10 event { gaussian { noise_multiplier: 4 } } } ";

TEST(AccountingRpc, ComputeAnswersAsTheOfflineCalculator) {
  TestServer server;
  const auto request = Parse<v1::ComputeRequest>(
      "id: 'a1' accountant: GAUSSIAN query { epsilon_at_delta: 1e-5 } " + std::string(kEvents));
  auto reply =
      TestClient::Call(*server.client.accounting, &v1::AccountingService::Stub::Compute, request);
  ASSERT_TRUE(reply.ok()) << reply.status.error_message();
  auto offline = bridge::Compute(request);
  ASSERT_TRUE(offline.ok());
  reply.response.clear_seconds();
  offline->clear_seconds();
  EXPECT_EQ(reply.response.SerializeAsString(), offline->SerializeAsString());
}

TEST(AccountingRpc, ComputeFailsWithTheCodeOfItsError) {
  TestServer server;
  const auto compute = [&](const std::string& text) {
    return TestClient::Call(*server.client.accounting, &v1::AccountingService::Stub::Compute,
                            Parse<v1::ComputeRequest>(text));
  };
  const auto invalid = compute("accountant: BASIC query { epsilon_at_delta: 1.5 }");
  EXPECT_EQ(invalid.code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(invalid.status.error_message(), "query.epsilonAtDelta: got 1.5, want in [0, 1]");
  const auto unknown = compute(
      "accountant: GAUSSIAN query { epsilon_at_delta: 1e-5 } events { count: 1 event { laplace { "
      "noise_multiplier: 1 } } }");
  EXPECT_EQ(unknown.code(), grpc::StatusCode::UNIMPLEMENTED);
  EXPECT_FALSE(unknown.status.error_message().empty());
}

TEST(AccountingRpc, CompareGivesEveryAccountant) {
  TestServer server;
  const auto reply =
      TestClient::Call(*server.client.accounting, &v1::AccountingService::Stub::CompareAccountants,
                       Parse<v1::CompareAccountantsRequest>("delta: 1e-5 " + std::string(kEvents)));
  ASSERT_TRUE(reply.ok()) << reply.status.error_message();
  EXPECT_EQ(reply.response.readings_size(), 13);
  EXPECT_NE(reply.response.winner(), v1::Accountant::KIND_UNSPECIFIED);
  EXPECT_NE(reply.response.winner(), v1::Accountant::CLT);
  const auto bad =
      TestClient::Call(*server.client.accounting, &v1::AccountingService::Stub::CompareAccountants,
                       Parse<v1::CompareAccountantsRequest>(kEvents));
  EXPECT_EQ(bad.code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_THAT(bad.status.error_message(), HasSubstr("delta: got 0, want in (0, 1)"));
}

TEST(AccountingRpc, GetPrivacyProfileAnswersAsTheOfflineCalculator) {
  TestServer server;
  const auto request = Parse<v1::GetPrivacyProfileRequest>(
      "accountant: GAUSSIAN epsilons: [0, 2, 1] " + std::string(kEvents));
  const auto reply = TestClient::Call(*server.client.accounting,
                                      &v1::AccountingService::Stub::GetPrivacyProfile, request);
  ASSERT_TRUE(reply.ok()) << reply.status.error_message();
  const auto offline = bridge::PrivacyProfile(*bridge::ToQuestion(request), [] { return false; });
  ASSERT_TRUE(offline.ok());
  EXPECT_EQ(reply.response.SerializeAsString(), offline->SerializeAsString());
  ASSERT_EQ(reply.response.points_size(), 3);
  EXPECT_GT(reply.response.points(0).delta().upper(), reply.response.points(2).delta().upper());
  EXPECT_GT(reply.response.points(2).delta().upper(), reply.response.points(1).delta().upper());
}

TEST(AccountingRpc, GetTradeOffCurveAnswersAsTheOfflineCalculator) {
  TestServer server;
  const auto request = Parse<v1::GetTradeOffCurveRequest>(
      "accountant: GAUSSIAN type_one_error_range { last: 1 count: 1000 } " + std::string(kEvents));
  const auto reply = TestClient::Call(*server.client.accounting,
                                      &v1::AccountingService::Stub::GetTradeOffCurve, request);
  ASSERT_TRUE(reply.ok()) << reply.status.error_message();
  const auto offline = bridge::TradeOffCurve(*bridge::ToQuestion(request), [] { return false; });
  ASSERT_TRUE(offline.ok());
  EXPECT_EQ(reply.response.SerializeAsString(), offline->SerializeAsString());
  EXPECT_EQ(reply.response.points_size(), 1000);
}

TEST(AccountingRpc, CurvesFailWithTheCodeOfTheirError) {
  TestServer server;
  const auto profile = [&](const std::string& text) {
    return TestClient::Call(*server.client.accounting,
                            &v1::AccountingService::Stub::GetPrivacyProfile,
                            Parse<v1::GetPrivacyProfileRequest>(text));
  };
  const auto invalid = profile("epsilon_range { last: 1 count: 1001 }");
  EXPECT_EQ(invalid.code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(invalid.status.error_message(), "epsilonRange.count: got 1001, want in [2, 1000]");
  const auto unknown = profile(
      "accountant: GAUSSIAN epsilons: 1 events { count: 1 event { laplace { noise_multiplier: 1 } "
      "} }");
  EXPECT_EQ(unknown.code(), grpc::StatusCode::UNIMPLEMENTED);
  EXPECT_FALSE(unknown.status.error_message().empty());
}

TEST(AccountingRpc, CalibrationHasOneTarget) {
  TestServer server;
  const auto calibrate = [&](const std::string& target) {
    return TestClient::Call(*server.client.accounting, &v1::AccountingService::Stub::Compute,
                            Parse<v1::ComputeRequest>("accountant: GAUSSIAN query { calibrate { "
                                                      "variable: NOISE_MULTIPLIER " +
                                                      target + " } } " + std::string(kEvents)));
  };
  const auto spends = calibrate("epsilon: 1 delta: 1e-5");
  ASSERT_TRUE(spends.ok()) << spends.status.error_message();
  EXPECT_LE(spends.response.upper(), 1);
  const auto both = calibrate("epsilon: 1 delta: 1e-5 mu: 1");
  EXPECT_EQ(both.code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_THAT(both.status.error_message(), HasSubstr("got more than one target"));
}

TEST(AccountingRpc, AuditCanariesAnswersAsTheOfflineCalculator) {
  TestServer server;
  auto request = Parse<v1::AuditCanariesRequest>(
      "method: ONE_RUN_F_DP confidence: 0.95 delta: 1e-5 claimed_epsilon: 0.1 one_run_counts { "
      "canaries: 1000 guesses: 1000 correct: 900 } " +
      std::string(kEvents));
  const auto reply = TestClient::Call(*server.client.accounting,
                                      &v1::AccountingService::Stub::AuditCanaries, request);
  ASSERT_TRUE(reply.ok()) << reply.status.error_message();
  const auto offline = bridge::AuditCanaries(*bridge::ToQuestion(request));
  ASSERT_TRUE(offline.ok());
  EXPECT_EQ(reply.response.SerializeAsString(), offline->SerializeAsString());
  EXPECT_TRUE(reply.response.contradicts_claim());
  request.clear_one_run_counts();
  request.add_member_scores(std::nan(""));
  const auto bad = TestClient::Call(*server.client.accounting,
                                    &v1::AccountingService::Stub::AuditCanaries, request);
  EXPECT_EQ(bad.code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(bad.status.error_message(), "memberScores[0]: got NaN, want a number");
}

}  // namespace
}  // namespace epsledger::transport
