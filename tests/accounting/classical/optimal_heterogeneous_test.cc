#include "accounting/classical/optimal_heterogeneous.h"

#include <cmath>

#include "accounting/classical/basic_and_advanced.h"
#include "accounting/classical/optimal_homogeneous.h"
#include "accounting/numeric/constants.h"
#include "gtest/gtest.h"
#include "rapidcheck/gtest.h"
#include "tests/accounting/classical/heterogeneous_rows.h"

namespace epsledger::accounting {
namespace {

std::vector<CountedParameters> EventsOf(const HeterogeneousRow& row) {
  std::vector<CountedParameters> events;
  for (size_t i = 0; i < row.epsilons.size(); ++i) {
    events.push_back({{row.epsilons[i], row.deltas[i]}, 1});
  }
  return events;
}

TEST(OptimalEpsilonOfAHistory, AgreesWithTheTable) {
  for (const auto& row : kOptimalHeterogeneousEpsilonRows) {
    const std::optional<Bounds> epsilon = OptimalEpsilon(EventsOf(row), std::log(row.given));
    ASSERT_TRUE(epsilon.has_value());
    EXPECT_LE(epsilon->lower, row.value * (1 + 1e-12)) << row.epsilons[0] << " " << row.given;
    EXPECT_GE(epsilon->upper, row.value * (1 - 1e-12)) << row.epsilons[0] << " " << row.given;
    EXPECT_LE(epsilon->upper - epsilon->lower, 1e-9 * row.value) << row.epsilons[0];
  }
}

TEST(OptimalLogDeltaOfAHistory, AgreesWithTheTable) {
  for (const auto& row : kOptimalHeterogeneousDeltaRows) {
    const std::optional<Bounds> log_delta = OptimalLogDelta(EventsOf(row), row.given);
    ASSERT_TRUE(log_delta.has_value());
    const double truth = std::log(row.value);
    EXPECT_LE(log_delta->lower, truth + 1e-14) << row.epsilons[0] << " " << row.given;
    EXPECT_GE(log_delta->upper, truth - 1e-14) << row.epsilons[0] << " " << row.given;
    EXPECT_LE(log_delta->upper - log_delta->lower, 1e-11) << row.epsilons[0];
  }
}

TEST(OptimalLogDeltaOfAHistory, DoesNotCareHowEqualEventsAreWritten) {
  const std::vector<CountedParameters> split = {{{0.3, 1e-7}, 30}, {{0.3, 1e-7}, 20}};
  for (const double epsilon : {-2.0, 0.0, 1.0, 4.0, 14.0}) {
    const Bounds apart = *OptimalLogDelta(split, epsilon);
    const Bounds together = OptimalLogDelta({0.3, 1e-7}, 50, epsilon);
    EXPECT_LE(apart.lower, together.upper);
    EXPECT_LE(together.lower, apart.upper);
    EXPECT_NEAR(apart.upper, together.upper, 1e-12);
  }
}

// compose(k1) and compose(k2) is compose(k1 + k2): by enumeration when the second epsilon is an ulp
// above the first, which keeps them from being counted together.
RC_GTEST_PROP(OptimalLogDeltaOfAHistory, SplitsWithoutLossOrGain, ()) {
  const double epsilon0 = std::exp(*rc::gen::inRange(-5000, 2000) / 1000.0);
  const double above = std::nextafter(epsilon0, kInfinity);
  const double k1 = *rc::gen::inRange(1, 60);
  const double k2 = *rc::gen::inRange(1, 60);
  const double delta0 = *rc::gen::element(0.0, 1e-300, 1e-9, 1e-3);
  const double epsilon = (k1 + k2) * epsilon0 * *rc::gen::inRange(-110, 110) / 100.0;
  const std::optional<Bounds> both =
      OptimalLogDelta({{{epsilon0, delta0}, k1}, {{above, delta0}, k2}}, epsilon);
  RC_ASSERT(both.has_value());
  RC_ASSERT(OptimalLogDelta({epsilon0, delta0}, k1 + k2, epsilon).lower <= both->upper);
  RC_ASSERT(both->lower <= OptimalLogDelta({above, delta0}, k1 + k2, epsilon).upper);
  RC_ASSERT(both->lower <= both->upper);
}

RC_GTEST_PROP(OptimalEpsilonOfAHistory, IsTheInverseOfTheProfileAndAtMostBasic, ()) {
  std::vector<CountedParameters> events;
  const int distinct = *rc::gen::inRange(2, 5);
  for (int i = 0; i < distinct; ++i) {
    events.push_back(
        {{std::exp(*rc::gen::inRange(-5000, 2000) / 1000.0), *rc::gen::element(0.0, 1e-12)},
         static_cast<double>(*rc::gen::inRange(1, 6))});
  }
  const double log_delta = -std::exp(*rc::gen::inRange(-1000, 3000) / 1000.0);
  const Bounds epsilon = *OptimalEpsilon(events, log_delta);
  RC_ASSERT(epsilon.lower <= epsilon.upper);
  RC_ASSERT(OptimalLogDelta(events, epsilon.upper)->upper <= log_delta);
  RC_ASSERT(epsilon.lower <= BasicComposition(events).epsilon);
  if (epsilon.lower > 0) {
    RC_ASSERT(OptimalLogDelta(events, epsilon.lower)->lower > log_delta);
    RC_ASSERT(epsilon.upper - epsilon.lower <= 1e-9 * epsilon.upper);
  }
}

TEST(OptimalEpsilonOfAHistory, AnswersOnlyWhatIsShort) {
  EXPECT_FALSE(OptimalEpsilon({{{0.1, 0}, 1000}, {{0.2, 0}, 1000}}, -5).has_value());
  EXPECT_TRUE(OptimalEpsilon({{{0.1, 0}, 400}, {{0.2, 0}, 400}}, -5).has_value());
  // One epsilon has no such limit, whatever the deltas.
  EXPECT_TRUE(OptimalEpsilon({{{0.1, 0}, 1e6}, {{0.1, 1e-9}, 1}, {{0, 1e-7}, 9}}, -5).has_value());
  EXPECT_EQ(OptimalEpsilon({}, -5)->upper, 0);
  EXPECT_EQ(OptimalEpsilon({{{0, 0.1}, 1}}, -5)->lower, kInfinity);
  for (const CountedParameters& bad :
       {CountedParameters{{std::nan(""), 0}, 1}, CountedParameters{{1, std::nan("")}, 1},
        CountedParameters{{-1, 0}, 1}, CountedParameters{{1, 0}, 1.5}}) {
    EXPECT_FALSE(OptimalEpsilon({bad, {{0.5, 0}, 1}}, -5).has_value());
    EXPECT_FALSE(OptimalLogDelta({bad, {{0.5, 0}, 1}}, 1).has_value());
  }
  EXPECT_FALSE(OptimalEpsilon({{{800, 0}, 1}, {{0.5, 0}, 1}}, -5).has_value());
  EXPECT_EQ(OptimalLogDelta({{{1, 0}, 1}, {{0.5, 0}, 1}}, 1.5)->upper, -kInfinity);
  EXPECT_GT(OptimalLogDelta({{{1, 0}, 1}, {{0.5, 0}, 1}}, std::nextafter(1.5, 0))->lower,
            -kInfinity);
}

}  // namespace
}  // namespace epsledger::accounting
