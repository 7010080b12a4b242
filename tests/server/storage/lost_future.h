#ifndef EPSLEDGER_TESTS_SERVER_STORAGE_LOST_FUTURE_H_
#define EPSLEDGER_TESTS_SERVER_STORAGE_LOST_FUTURE_H_

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <future>
#include <string>

#include "server/core/limits.h"
#include "tests/server/storage/waiting_client.h"

namespace epsledger {

// Expects that the ledger detects a client whose entry it does not hold, even after 100,000 entries
// were appended. Then this ledger takes no charges, and another one continues.
inline void ExpectALostFutureIsFoundAtAnyDistance(core::DurableLedger& ledger) {
  constexpr int64_t kEntries = 100'000;
  WaitingClient client(ledger);
  ASSERT_TRUE(client.CreateBudget("b", 1 << 20).ok());
  ASSERT_TRUE(client.CreateBudget("other", 1 << 20).ok());
  const core::SessionName run = client.CreateSession("b", "run");
  ASSERT_EQ(client.OpenAttempt(run), 1);
  const int64_t lost = client.Head("b").sequence + 1;
  for (int64_t first = 0; first < kEntries; first += core::kMaxBatchItems) {
    core::Charge charge{.session = run, .attempt = 1};
    for (int64_t i = 0; i < core::kMaxBatchItems; ++i) {
      charge.items.push_back({std::to_string(first + i), accounting::PureDp{kStep}, 1});
    }
    ASSERT_TRUE(client.Run(std::move(charge)).ok());
  }
  ASSERT_GE(client.Head("b").sequence, lost + kEntries - 1);
  const auto charge_having = [&](bool is_authentic) {
    std::promise<absl::Status> said;
    ledger.Submit({},
                  {.validate_only = true,
                   .last_seen = core::SeenHead{"b", lost, std::string(32, 'x'), is_authentic},
                   .body = WaitingClient::MakeCharge(run, 1, "z", accounting::PureDp{kStep})},
                  [&](absl::StatusOr<core::Outcome> outcome) { said.set_value(outcome.status()); });
    return said.get_future().get();
  };
  EXPECT_EQ(charge_having(false).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(client.Charge(run, 1, "before", accounting::PureDp{kStep}).ok());
  EXPECT_EQ(charge_having(true).code(), kDataLoss);
  EXPECT_EQ(client.Charge(run, 1, "after", accounting::PureDp{kStep}).status().code(), kDataLoss);
  const core::SessionName other = client.CreateSession("other", "run");
  EXPECT_EQ(client.OpenAttempt(other), 1);
}

}  // namespace epsledger

#endif  // EPSLEDGER_TESTS_SERVER_STORAGE_LOST_FUTURE_H_
