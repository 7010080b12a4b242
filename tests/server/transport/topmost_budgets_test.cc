#include "server/transport/http/topmost_budgets.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "server/transport/http/rpc_gateway.h"
#include "server/transport/http/task_inbox.h"
#include "tests/server/transport/test_server.h"

namespace epsledger::transport {
namespace {

using ::testing::ElementsAre;

// Counts the reads: each list is preceded by one.
class CountingReads : public core::ForwardingLedger {
 public:
  using ForwardingLedger::ForwardingLedger;
  void Read(core::Tenant tenant, ReadFunction read) override {
    ++reads;
    ForwardingLedger::Read(std::move(tenant), std::move(read));
  }
  int reads = 0;
};

class TopmostBudgetsTest : public ::testing::Test {
 protected:
  void Make(const std::string& budget) {
    ASSERT_TRUE(server_.client.CreateBudget(budget, "pure_epsilon { epsilon: 2 }").ok());
  }
  // Does the housekeeping of one moment, hours after the last one, and every task until then.
  void PassTime() {
    for (TaskInbox::Task& task : inbox_->Take(SteadyNow())) std::move(task)();
    budgets_->KeepHouse(now_ += absl::Hours(1));
  }
  // Runs tasks until the budgets were found that many times.
  void AwaitFound(int times) {
    while (times_found_ < times) {
      for (TaskInbox::Task& task : inbox_->Take(SteadyNow() + absl::Seconds(1))) std::move(task)();
      budgets_->KeepHouse(SteadyNow());
    }
  }

  TestServer server_;
  RpcGateway gateway_{server_.server->in_process()};
  CountingReads ledger_{*server_.ledger};
  const std::shared_ptr<TaskInbox> inbox_ = std::make_shared<TaskInbox>();
  SteadyTime now_ = SteadyNow();
  int times_found_ = 0;
  std::set<std::string> found_;
  std::optional<TopmostBudgets> budgets_{std::in_place,
                                         gateway_,
                                         ledger_,
                                         inbox_,
                                         core::Tenant{},
                                         HttpCaller{},
                                         [this](const std::set<std::string>& names) {
                                           ++times_found_;
                                           found_ = names;
                                         }};
};

TEST_F(TopmostBudgetsTest, AreFoundOnceAndAgainWhenThereIsANewOne) {
  Make("a");
  AwaitFound(1);
  EXPECT_THAT(found_, ElementsAre("budgets/a"));
  EXPECT_EQ(ledger_.reads, 1);
  Make("b");
  AwaitFound(2);
  EXPECT_THAT(found_, ElementsAre("budgets/a", "budgets/b"));
  EXPECT_EQ(ledger_.reads, 2);
}

TEST_F(TopmostBudgetsTest, NothingIsAskedForHoweverMuchTimePasses) {
  AwaitFound(1);
  for (int hour = 0; hour < 1000; ++hour) PassTime();
  EXPECT_EQ(ledger_.reads, 1);
  EXPECT_EQ(times_found_, 1);
  // A charge is no budget.
  Make("a");
  AwaitFound(2);
  server_.client.MakeSession("pure_epsilon { epsilon: 2 }");
  AwaitFound(3);  // of the budget of that session
  ASSERT_TRUE(server_.client.Charge(kAttempt, "c", "pure_dp { epsilon: 1e-9 }", 1).ok());
  for (int hour = 0; hour < 1000; ++hour) PassTime();
  EXPECT_EQ(ledger_.reads, 3);
}

TEST_F(TopmostBudgetsTest, ManyNewOnesAreListedTogether) {
  AwaitFound(1);
  std::set<std::string> all;
  for (int i = 0; i < 20; ++i) {
    Make(absl::StrCat("b", i));
    all.insert(absl::StrCat("budgets/b", i));
  }
  while (found_ != all) AwaitFound(times_found_ + 1);
  EXPECT_LE(times_found_, 21);
}

TEST_F(TopmostBudgetsTest, MayGoWhileTheLedgerAnswers) {
  budgets_->KeepHouse(SteadyNow());
  budgets_.reset();
  Make("a");
  // Reads come one after another: the one of above has been answered.
  absl::Notification read;
  server_.ledger->Read({}, [&](const absl::StatusOr<core::LedgerReader*>&) { read.Notify(); });
  read.WaitForNotification();
  for (TaskInbox::Task& task : inbox_->Take(SteadyNow())) std::move(task)();
  EXPECT_EQ(times_found_, 0);
}

}  // namespace
}  // namespace epsledger::transport
