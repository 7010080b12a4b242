// What a budget remembers of the days on which something was spent.

#include "gtest/gtest.h"

#include <string>
#include <utility>
#include <vector>

#include "server/core/limits.h"
#include "tests/server/core/ledger_harness.h"

namespace epsledger::core {
namespace {

using accounting::PureDp;

constexpr int64_t kDayMicros = 24LL * 60 * 60 * 1'000'000;
constexpr double kDailyStep = 1.0 / 1024;
const SessionName kDailyRun{.budget_id = "child", .session_id = "run"};

class SpendDays : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(RunOn(0, CreateBudget{PureBudget("root", 16 * kDailyStep)}).ok());
    ASSERT_TRUE(RunOn(0, CreateBudget{PureBudget("child", 8 * kDailyStep, "root")}).ok());
    ASSERT_TRUE(RunOn(0, CreateSession{AdaptiveSession("child", "run")}).ok());
    ASSERT_TRUE(RunOn(0, OpenAttempt{kDailyRun, "test"}).ok());
  }
  // At noon of a day.
  template <class Body>
  absl::StatusOr<Outcome> RunOn(int64_t day, Body body) {
    return harness_.Run(
        Command{.time_micros = day * kDayMicros + kDayMicros / 2, .body = std::move(body)});
  }
  void ChargeOn(int64_t day, int64_t count) {
    const auto outcome =
        RunOn(day, Charge{.session = kDailyRun,
                          .attempt = 1,
                          .items = {{.charge_id = std::to_string(++charges_),
                                     .event = accounting::MechanismEvent(PureDp{kDailyStep}),
                                     .count = count}}});
    ASSERT_TRUE(outcome.ok()) << outcome.status();
  }
  const BudgetState& Budget(const std::string& id) const { return *harness_.ledger.FindBudget(id); }

  LedgerHarness harness_;
  int charges_ = 0;
};

std::vector<std::pair<int64_t, double>> DaysOf(const BudgetState& budget) {
  std::vector<std::pair<int64_t, double>> days;
  for (const SpendDay& day : budget.spend_days) days.emplace_back(day.day, day.spent_fraction);
  return days;
}

// Fractions are rounded up.
void ExpectFraction(double fraction, double truth) {
  EXPECT_GE(fraction, truth);
  EXPECT_LE(fraction, truth * (1 + 1e-14));
}

void ExpectDays(const BudgetState& budget, const std::vector<std::pair<int64_t, double>>& days) {
  ASSERT_EQ(budget.spend_days.size(), days.size());
  for (size_t i = 0; i < days.size(); ++i) {
    EXPECT_EQ(budget.spend_days[i].day, days[i].first);
    ExpectFraction(budget.spend_days[i].spent_fraction, days[i].second);
  }
}

TEST_F(SpendDays, HoldWhatWasSpentAtTheirEndInEveryBudgetUpToTheRoot) {
  EXPECT_EQ(Budget("root").newest_spend_day, 0);
  ChargeOn(10, 1);
  ChargeOn(10, 1);
  ExpectDays(Budget("child"), {});
  EXPECT_EQ(Budget("child").newest_spend_day, 10);
  ChargeOn(12, 1);
  // Refused: nothing is spent, and no day begins.
  ChargeOn(14, 100);
  EXPECT_EQ(Budget("child").newest_spend_day, 12);
  ChargeOn(15, 2);
  ExpectDays(Budget("child"), {{10, 2.0 / 8}, {12, 3.0 / 8}});
  ExpectDays(Budget("root"), {{10, 2.0 / 16}, {12, 3.0 / 16}});
  EXPECT_EQ(Budget("root").newest_spend_day, 15);
  ExpectFraction(Budget("root").balance.SpentFraction(), 5.0 / 16);
}

TEST_F(SpendDays, AscendEvenIfAClockGoesBack) {
  ChargeOn(10, 1);
  ChargeOn(9, 1);
  ChargeOn(11, 1);
  ASSERT_EQ(Budget("child").spend_days.size(), 1u);
  EXPECT_EQ(Budget("child").spend_days[0].day, 10);
  ExpectFraction(Budget("child").spend_days[0].spent_fraction, 2.0 / 8);
}

TEST_F(SpendDays, APlanSpendsOnTheDayOfItsSessionAndItsTicketsDoNot) {
  const SessionName plan{.budget_id = "child", .session_id = "plan"};
  ASSERT_TRUE(
      RunOn(20,
            CreateSession{DeclaredSession(
                "child", "plan",
                {{.event = accounting::NestedEvent(accounting::MechanismEvent(PureDp{kDailyStep})),
                  .count = 2}})})
          .ok());
  EXPECT_EQ(Budget("root").newest_spend_day, 20);
  ASSERT_TRUE(RunOn(21, OpenAttempt{plan, "test"}).ok());
  ASSERT_TRUE(RunOn(21, Charge{.session = plan,
                               .attempt = 1,
                               .items = {{.charge_id = "a",
                                          .event = accounting::MechanismEvent(PureDp{kDailyStep}),
                                          .count = 1}}})
                  .ok());
  EXPECT_EQ(Budget("root").newest_spend_day, 20);
}

TEST_F(SpendDays, WhatASuccessorTookOverIsOfTheDayBeforeIt) {
  ChargeOn(10, 2);
  ASSERT_TRUE(
      RunOn(12, SupersedeBudget{"child", "next", PureEpsilonCap{16 * kDailyStep}, "why"}).ok());
  EXPECT_EQ(Budget("next").newest_spend_day, 11);
  ASSERT_TRUE(RunOn(12, CreateSession{AdaptiveSession("next", "run")}).ok());
  ASSERT_TRUE(RunOn(12, OpenAttempt{{"next", "run"}, "test"}).ok());
  ASSERT_TRUE(RunOn(12, Charge{.session = {"next", "run"},
                               .attempt = 1,
                               .items = {{.charge_id = "a",
                                          .event = accounting::MechanismEvent(PureDp{kDailyStep}),
                                          .count = 1}}})
                  .ok());
  ExpectDays(Budget("next"), {{11, 2.0 / 16}});
  EXPECT_EQ(Budget("next").newest_spend_day, 12);
  ExpectFraction(Budget("next").balance.SpentFraction(), 3.0 / 16);
}

TEST_F(SpendDays, ARestartGivesTheSame) {
  for (int64_t day = 10; day < 14; ++day) ChargeOn(day, 1);
  LedgerHarness restarted;
  for (const Entry& entry : harness_.entries) ASSERT_TRUE(restarted.Restore(entry));
  const BudgetState& again = *restarted.ledger.FindBudget("child");
  EXPECT_EQ(DaysOf(again), DaysOf(Budget("child")));
  EXPECT_EQ(again.newest_spend_day, 13);
}

}  // namespace
}  // namespace epsledger::core
