// What one tenant may have of what all share: threads for computations, open calls.

#include "gtest/gtest.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "server/transport/grpc/calls/computation_pool.h"
#include "server/transport/grpc/calls/open_calls.h"
#include "tests/server/transport/test_server.h"

namespace epsledger::transport {
namespace {

const core::Tenant kHogTenant{"hog"};
const core::Tenant kOtherTenant{"other"};

TEST(ComputationPool, OneTenantLeavesAThreadToTheOthers) {
  absl::Notification release;
  absl::Notification other_ran;
  std::vector<std::unique_ptr<absl::Notification>> begun;
  for (int i = 0; i < 10; ++i) begun.push_back(std::make_unique<absl::Notification>());
  ComputationPool pool(2, 100);
  for (int i = 0; i < 10; ++i) {
    ASSERT_TRUE(pool.Submit(kHogTenant,
                            [&release, &begun, i] {
                              begun[static_cast<size_t>(i)]->Notify();
                              release.WaitForNotification();
                            })
                    .ok());
  }
  begun[0]->WaitForNotification();
  begun[1]->WaitForNotification();
  ASSERT_TRUE(pool.Submit(kOtherTenant, [&other_ran] { other_ran.Notify(); }).ok());
  other_ran.WaitForNotification();
  // Ran although the hog's third task came long before.
  EXPECT_FALSE(begun[2]->HasBeenNotified());
  release.Notify();
  begun[9]->WaitForNotification();  // and nothing of the hog's is lost
}

TEST(ComputationPool, TenantsTakeTurns) {
  std::string order;  // of one thread, until all is notified
  absl::Notification held_begun;
  absl::Notification release_held;
  absl::Notification begun;
  absl::Notification release;
  absl::Notification all;
  ComputationPool pool(1, 100);
  // One of the two threads is held to the end; the other one until everybody waits.
  ASSERT_TRUE(pool.Submit(core::Tenant{"holds"},
                          [&] {
                            held_begun.Notify();
                            release_held.WaitForNotification();
                          })
                  .ok());
  ASSERT_TRUE(pool.Submit(core::Tenant{"first"},
                          [&] {
                            begun.Notify();
                            release.WaitForNotification();
                          })
                  .ok());
  held_begun.WaitForNotification();
  begun.WaitForNotification();
  const auto note = [&](char who) {
    order.push_back(who);
    if (order.size() == 8) all.Notify();
  };
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(pool.Submit(kHogTenant, [&] { note('h'); }).ok());
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(pool.Submit(kOtherTenant, [&] { note('o'); }).ok());
  release.Notify();
  all.WaitForNotification();
  EXPECT_EQ(order, "hohohohh");
  release_held.Notify();
}

TEST(ComputationPool, OneTenantQueuesHalfOfWhatMayWait) {
  absl::Notification release;
  absl::Notification begun;
  ComputationPool pool(1, 8);
  ASSERT_TRUE(pool.Submit(kHogTenant,
                          [&] {
                            begun.Notify();
                            release.WaitForNotification();
                          })
                  .ok());
  begun.WaitForNotification();
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(pool.Submit(kHogTenant, [] {}).ok());
  EXPECT_EQ(pool.Submit(kHogTenant, [] {}).code(), absl::StatusCode::kUnavailable);
  EXPECT_TRUE(pool.Submit(kOtherTenant, [] {}).ok());
  release.Notify();
}

class NoCall final : public OpenCall {
 public:
  void Fail(const grpc::Status&) override {}
};

TEST(OpenCalls, OneTenantHasHalfOfTheCallsAndOfTheirBytes) {
  TestServer server;
  access::AccessControl control(*server.ledger, {});
  const Admission admission(control, false);
  const auto metrics =
      std::make_shared<metrics::RpcMetrics>(std::make_shared<prometheus::Registry>());
  OpenCalls calls(admission, metrics, std::make_shared<ReadRate>(0),
                  std::make_shared<RefusalRate>(), 8, 1000, nullptr);
  std::vector<std::shared_ptr<NoCall>> open;
  // Each call has a principal of its own, unless one is named.
  const auto claim = [&](const core::Tenant& tenant, size_t bytes, std::string principal = "") {
    open.push_back(std::make_shared<NoCall>());
    EXPECT_TRUE(calls.Add(open.back(), bytes));
    if (principal.empty()) principal = absl::StrCat("tokens/", open.size());
    const bool claimed = calls.Claim(*open.back(), {.tenant = tenant, .principal = principal});
    if (!claimed) calls.Remove(*open.back());
    return claimed;
  };
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(claim(kHogTenant, 10));
  EXPECT_FALSE(claim(kHogTenant, 10));
  EXPECT_TRUE(claim(kOtherTenant, 300));
  EXPECT_TRUE(claim(kOtherTenant, 200));
  EXPECT_FALSE(claim(kOtherTenant, 1));  // of bytes
  // What has ended makes room.
  calls.Remove(*open[0]);
  EXPECT_TRUE(claim(kHogTenant, 10));
  for (const auto& call : open) calls.Remove(*call);
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(claim(kOtherTenant, 125));
  for (const auto& call : open) calls.Remove(*call);
  // One principal leaves a quarter of its tenant's share to the others.
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(claim(kHogTenant, 10, "tokens/hog"));
  EXPECT_FALSE(claim(kHogTenant, 10, "tokens/hog"));
  EXPECT_TRUE(claim(kOtherTenant, 10, "tokens/hog"));  // a name of another tenant
  EXPECT_TRUE(claim(kHogTenant, 10));
  for (const auto& call : open) calls.Remove(*call);
  EXPECT_TRUE(claim(kHogTenant, 375, "tokens/hog"));
  EXPECT_FALSE(claim(kHogTenant, 1, "tokens/hog"));  // of bytes
  EXPECT_TRUE(claim(kHogTenant, 125));
  for (const auto& call : open) calls.Remove(*call);
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(claim(kHogTenant, 10, access::kAnybody));
}

}  // namespace
}  // namespace epsledger::transport
