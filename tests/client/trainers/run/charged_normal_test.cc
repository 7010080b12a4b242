#include "client/trainers/run/charged_normal.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <utility>

#include "epsledger/client.h"
#include "tests/client/cpp/fake_ledger.h"

namespace epsledger::trainers {
namespace {

class ChargedNormalTest : public testing::Test {
 protected:
  ChargedNormalTest()
      : session_(*Client::Connect({.address = ledger_.address()})
                      ->OpenSession({.budget = "adult",
                                     .session = "run-1",
                                     .create = NewSession{.no_own_cap = true}})) {}

  Permit Charge(std::int64_t count = 1) { return *session_.Charge(Mechanism::PureDp(1), count); }

  FakeLedger ledger_;
  Session session_;
};

TEST_F(ChargedNormalTest, DrawsFreshNormalsOfTheStandardDeviation) {
  constexpr int kDraws = 100'000;
  const auto draws = DrawChargedNormals(Charge(), 3, kDraws);
  ASSERT_TRUE(draws.ok()) << draws.status();
  ASSERT_EQ(draws->size(), kDraws);
  // Six standard deviations of each statistic: wrong once in 10^9 runs.
  EXPECT_NEAR(draws->mean(), 0, 6 * 3 / std::sqrt(kDraws));
  EXPECT_NEAR(draws->squaredNorm() / kDraws, 9, 6 * 9 * std::sqrt(2.0 / kDraws));
  const double fourth = draws->array().square().square().mean();
  EXPECT_NEAR(fourth, 3 * 81, 6 * 81 * std::sqrt(96.0 / kDraws));
  const auto others = DrawChargedNormals(Charge(), 3, kDraws);
  EXPECT_NE(*draws, *others);
  EXPECT_EQ(ledger_.spent(), 2);
}

TEST_F(ChargedNormalTest, RefusesWhatIsOutsideItsDomain) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const double bad : {0.0, -1.0, nan, std::numeric_limits<double>::infinity()}) {
    EXPECT_EQ(DrawChargedNormals(Charge(), bad, 3).status().code(),
              absl::StatusCode::kInvalidArgument);
  }
  EXPECT_EQ(DrawChargedNormals(Charge(), 1, 0).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(DrawChargedNormals(Charge(2), 1, 3).status().code(),
            absl::StatusCode::kInvalidArgument);
  Permit permit = Charge();
  const Permit moved = std::move(permit);
  EXPECT_EQ(DrawChargedNormals(std::move(permit), 1, 3).status().code(),
            absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace epsledger::trainers
