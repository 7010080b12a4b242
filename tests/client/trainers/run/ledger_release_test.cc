#include "client/trainers/run/ledger_release.h"

#include "gtest/gtest.h"

#include <cmath>

#include "epsledger/client.h"
#include "epsledger/refusal.h"
#include "tests/client/cpp/fake_ledger.h"

namespace epsledger::trainers {
namespace {

class LedgerReleaseTest : public testing::Test {
 protected:
  Session Open() {
    auto client = Client::Connect({.address = ledger_.address()});
    auto session = client->OpenSession(
        {.budget = "adult", .session = "run-1", .create = NewSession{.no_own_cap = true}});
    EXPECT_TRUE(session.ok()) << session.status();
    return *std::move(session);
  }

  FakeLedger ledger_;
  const Eigen::VectorXd sum_ = Eigen::VectorXd::Constant(50, 7.0);
};

TEST_F(LedgerReleaseTest, EachReleaseIsOneChargeAndFreshNoise) {
  Session session = Open();
  LedgerRelease release(session, Mechanism::Gaussian(2));
  const auto first = release.Release(sum_, 1);
  const auto second = release.Release(sum_, 1);
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_EQ(first->size(), 50);
  EXPECT_NE(*first, sum_);
  EXPECT_NE(*first, *second);
  EXPECT_EQ(ledger_.spent(), 2);
  EXPECT_EQ(ledger_.charge_requests()[0].event().gaussian().noise_multiplier(), 2);
  EXPECT_EQ(ledger_.charge_requests()[0].count(), 1);
}

TEST_F(LedgerReleaseTest, TakesStepsFromLeasesAndFewerAtTheEndOfTheBudget) {
  ledger_.set_capacity(7);
  Session session = Open();
  const Eigen::VectorXd sum = Eigen::VectorXd::Zero(3);
  {
    LedgerRelease release(session, Mechanism::Gaussian(2), 5);
    for (int step = 0; step < 7; ++step) ASSERT_TRUE(release.Release(sum, 1).ok()) << step;
    EXPECT_EQ(ledger_.spent(), 7);
    EXPECT_EQ(release.Release(sum, 1).status().code(), absl::StatusCode::kFailedPrecondition);
  }
  EXPECT_EQ(ledger_.spent(), 7);
  ASSERT_EQ(ledger_.settle_requests().size(), 2);
  EXPECT_EQ(ledger_.settle_requests()[0].used_count(), 5);
  EXPECT_EQ(ledger_.settle_requests()[1].used_count(), 2);
}

TEST_F(LedgerReleaseTest, RefusalIsFailedPreconditionAndReleasesNothing) {
  Session session = Open();
  ledger_.set_capacity(0);
  LedgerRelease release(session, Mechanism::Gaussian(2));
  const auto refused = release.Release(sum_, 1);
  EXPECT_EQ(refused.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(RefusalOf(refused.status()).has_value());
}

TEST_F(LedgerReleaseTest, ValuesThatCannotBeNoisedAreNotReleasedAndStayCharged) {
  Session session = Open();
  LedgerRelease release(session, Mechanism::Gaussian(2));
  Eigen::VectorXd bad = sum_;
  bad[3] = std::nan("");
  EXPECT_EQ(release.Release(bad, 1).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(ledger_.spent(), 1);
}

}  // namespace
}  // namespace epsledger::trainers
