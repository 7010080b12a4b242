// The mathematics over the wire.

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/convert/compute.h"
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
  auto offline = convert::Compute(request);
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
  EXPECT_EQ(reply.response.readings_size(), 11);
  const auto bad =
      TestClient::Call(*server.client.accounting, &v1::AccountingService::Stub::CompareAccountants,
                       Parse<v1::CompareAccountantsRequest>(kEvents));
  EXPECT_EQ(bad.code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_THAT(bad.status.error_message(), HasSubstr("delta: got 0, want in (0, 1)"));
}

}  // namespace
}  // namespace epsledger::transport
