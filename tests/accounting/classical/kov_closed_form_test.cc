#include "tests/accounting/classical/kov_closed_form.h"

#include <cmath>

#include "accounting/classical/optimal_homogeneous.h"
#include "accounting/numeric/constants.h"
#include "gtest/gtest.h"
#include "tests/accounting/classical/heterogeneous_rows.h"
#include "tests/accounting/classical/optimal_rows.h"

namespace epsledger::accounting {
namespace {

void ExpectJustAbove(double value, double truth) {
  EXPECT_GE(value, truth * (1 - 1e-15));
  EXPECT_LE(value, truth * (1 + 1e-12));
}

TEST(KovEpsilon, AgreesWithTheTableForEqualParameters) {
  for (const auto& row : kClosedFormRows) {
    SCOPED_TRACE(testing::Message() << row.epsilon << " " << row.count << " " << row.slack);
    const std::vector<CountedParameters> events = {{{row.epsilon, row.delta}, row.count}};
    const double epsilon = KovEpsilon(events, std::log(row.slack));
    ExpectJustAbove(epsilon, row.total_epsilon);
    // A theorem of its own: at most what it bounds.
    EXPECT_LE(OptimalEpsilon({row.epsilon, row.delta}, row.count,
                             KovLogDelta(events, std::log(row.slack)))
                  .lower,
              epsilon);
  }
}

TEST(KovEpsilon, AgreesWithTheTableForDifferentParameters) {
  for (const auto& row : kClosedFormHeterogeneousRows) {
    SCOPED_TRACE(testing::Message() << row.epsilons[0] << " " << row.given);
    std::vector<CountedParameters> events;
    for (size_t i = 0; i < row.epsilons.size(); ++i) {
      events.push_back({{row.epsilons[i], row.deltas[i]}, 1});
    }
    ExpectJustAbove(KovEpsilon(events, std::log(row.given)), row.value);
  }
  // Rows written as runs in the table: 500 of 0.02 and 10 of 0.5; 0.01 to 0.5 in steps of 0.01.
  const std::vector<CountedParameters> runs = {{{0.02, 0}, 500}, {{0.5, 0}, 10}};
  ExpectJustAbove(KovEpsilon(runs, std::log(1e-5)), 9.209372633453938206);
  ExpectJustAbove(KovEpsilon(runs, std::log(1e-9)), 11.903135980964138536);
  std::vector<CountedParameters> steps;
  for (int i = 1; i <= 50; ++i) steps.push_back({{i / 100.0, 0}, 1});
  ExpectJustAbove(KovEpsilon(steps, std::log(1e-5)), 12.061130957512420537);
}

TEST(KovEpsilon, AnswersTheSpecialValues) {
  EXPECT_EQ(KovEpsilon({}, -5), 0);
  EXPECT_EQ(KovEpsilon({{{0, 0.1}, 5}}, -5), 0);
  EXPECT_NEAR(KovEpsilon({{{0.5, 0}, 4}}, -kInfinity), 2, 1e-14);
  EXPECT_NEAR(KovEpsilon({{{0.5, 0}, 4}}, std::nan("")), 2, 1e-14);
  EXPECT_EQ(KovEpsilon({{{kInfinity, 0}, 4}}, -1), kInfinity);
  EXPECT_EQ(KovEpsilon({{{std::nan(""), 0}, 1}}, -1), kInfinity);
  EXPECT_EQ(KovEpsilon({{{0.7, 0}, 1}}, -30), 0.7);  // alone, exactly itself
  EXPECT_EQ(KovLogDelta({{{1, std::nan("")}, 1}}, -5), 0);
}

TEST(KovLogSlack, IsUndoneByKovLogDelta) {
  const std::vector<CountedParameters> events = {{{0.1, 1e-9}, 50}, {{0.02, 1e-8}, 100}};
  for (const double log_delta : {-1e-9, -1.0, -10.0, -13.0, -13.7}) {
    const double log_slack = KovLogSlack(events, log_delta);
    EXPECT_LE(KovLogDelta(events, log_slack), log_delta);
    EXPECT_NEAR(KovLogDelta(events, log_slack), log_delta, 1e-12);
  }
  EXPECT_TRUE(std::isnan(KovLogSlack(events, std::log(1e-6))));
  EXPECT_TRUE(std::isnan(KovLogSlack(events, -kInfinity)));
  EXPECT_EQ(KovLogSlack({{{0.1, 0}, 50}}, -5), -5);
}

}  // namespace
}  // namespace epsledger::accounting
