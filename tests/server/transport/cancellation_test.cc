// Clients that go away. What they submitted is decided all the same, once.

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/synchronization/blocking_counter.h"
#include "absl/time/clock.h"
#include "gtest/gtest.h"
#include "tests/server/transport/test_server.h"

namespace epsledger::transport {
namespace {

struct PendingCharge {
  grpc::ClientContext context;
  v1::ChargeRequest request;
  v1::Charge response;
  grpc::Status status;
};

v1::ChargeRequest ChargeOf(const std::string& id) {
  return Parse<v1::ChargeRequest>("attempt: '" + std::string(kAttempt) + "' charge_id: '" + id +
                                  "' event { pure_dp { epsilon: 1 } } count: 1");
}

TEST(Cancellation, AStormOfItLosesNothingAndChargesNothingTwice) {
  TestServer server;
  TestClient& client = server.client;
  client.MakeSession("pure_epsilon { epsilon: 100000 }");
  constexpr int kRounds = 20;
  constexpr int kCalls = 64;
  int acknowledged = 0;
  for (int round = 0; round < kRounds; ++round) {
    std::vector<std::unique_ptr<PendingCharge>> calls;
    absl::BlockingCounter done(kCalls);
    for (int i = 0; i < kCalls; ++i) {
      calls.push_back(std::make_unique<PendingCharge>());
      PendingCharge& call = *calls.back();
      call.request = ChargeOf(std::to_string(round) + ":" + std::to_string(i));
      client.charges->async()->Charge(&call.context, &call.request, &call.response,
                                      [&call, &done](grpc::Status status) {
                                        call.status = std::move(status);
                                        done.DecrementCount();
                                      });
    }
    for (size_t i = round % 3; i < calls.size(); i += 2) {
      if (i % 8 == 0) absl::SleepFor(absl::Microseconds(50 * (round % 5)));
      calls[i]->context.TryCancel();
    }
    done.Wait();
    for (const auto& call : calls) {
      EXPECT_TRUE(call->status.ok() || call->status.error_code() == grpc::StatusCode::CANCELLED)
          << call->status.error_message();
      acknowledged += call->status.ok();
    }
  }
  // Repeating every key makes every outcome definite: each is charged exactly once.
  for (int round = 0; round < kRounds; ++round) {
    for (int i = 0; i < kCalls; ++i) {
      const std::string id = std::to_string(round) + ":" + std::to_string(i);
      ASSERT_TRUE(client.Charge(kAttempt, id, kOneEpsilon, 1).ok());
    }
  }
  const v1::Budget budget = client.GetBudget("budgets/b").response;
  EXPECT_EQ(budget.cells(0).spent(), kRounds * kCalls);
  EXPECT_EQ(budget.accepted_charge_count(), kRounds * kCalls);
  EXPECT_GT(acknowledged, 0);
}

TEST(Cancellation, ShortDeadlinesAreUnknownOutcomesThatARepetitionMakesDefinite) {
  TestServer server;
  TestClient& client = server.client;
  client.MakeSession("pure_epsilon { epsilon: 1000 }");
  constexpr int kCalls = 100;
  for (int i = 0; i < kCalls; ++i) {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::microseconds(20 * i));
    v1::Charge response;
    const grpc::Status status =
        client.charges->Charge(&context, ChargeOf(std::to_string(i)), &response);
    // The server's clock may be first: CANCELLED says that nothing was done.
    EXPECT_TRUE(status.ok() || status.error_code() == grpc::StatusCode::DEADLINE_EXCEEDED ||
                status.error_code() == grpc::StatusCode::CANCELLED)
        << status.error_message();
  }
  for (int i = 0; i < kCalls; ++i) {
    ASSERT_TRUE(client.Charge(kAttempt, std::to_string(i), kOneEpsilon, 1).ok());
  }
  EXPECT_EQ(client.GetBudget("budgets/b").response.cells(0).spent(), kCalls);
}

TEST(Cancellation, ComputationsThatNobodyWaitsForDoNotHoldTheServer) {
  TestServer server;
  const auto request = Parse<v1::CompareAccountantsRequest>(
      "delta: 1e-5 events { count: 10 event { poisson_sampled { sampling_probability: 0.01 event { "
      "gaussian { noise_multiplier: 1.1 } } } } }");
  for (int i = 0; i < 50; ++i) {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::milliseconds(1));
    v1::CompareAccountantsResponse response;
    server.client.accounting->CompareAccountants(&context, request, &response);
  }
  server.client.MakeSession("pure_epsilon { epsilon: 1 }");
  EXPECT_TRUE(server.client.Charge(kAttempt, "a", kOneEpsilon, 1).ok());
}

}  // namespace
}  // namespace epsledger::transport
