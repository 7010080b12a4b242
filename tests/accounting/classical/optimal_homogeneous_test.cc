#include "accounting/classical/optimal_homogeneous.h"

#include <cmath>

#include "accounting/classical/basic_and_advanced.h"
#include "accounting/numeric/constants.h"
#include "gtest/gtest.h"
#include "rapidcheck/gtest.h"
#include "tests/accounting/classical/optimal_rows.h"

namespace epsledger::accounting {
namespace {

TEST(OptimalEpsilon, AgreesWithTheTable) {
  for (const auto& row : kOptimalEpsilonRows) {
    const Bounds epsilon =
        OptimalEpsilon({row.epsilon, row.delta}, row.count, std::log(row.total_delta));
    // The tolerance is for the rounding of log(total_delta), most of which the deltas may use up.
    EXPECT_LE(epsilon.lower, row.total_epsilon * (1 + 1e-9)) << row.epsilon << " " << row.count;
    EXPECT_GE(epsilon.upper, row.total_epsilon * (1 - 1e-9)) << row.epsilon << " " << row.count;
    EXPECT_LE(epsilon.upper - epsilon.lower, 1e-9 * row.total_epsilon)
        << row.epsilon << " " << row.count;
  }
}

void ExpectLogDelta(Bounds bounds, double delta) {
  if (delta == 0) {
    EXPECT_EQ(bounds.upper, -kInfinity);
    return;
  }
  EXPECT_LE(bounds.lower, std::log(delta) + 1e-13 * (1 + std::abs(std::log(delta))));
  EXPECT_GE(bounds.upper, std::log(delta) - 1e-13 * (1 + std::abs(std::log(delta))));
  EXPECT_LE(bounds.upper - bounds.lower, 1e-10);
}

TEST(OptimalLogDelta, AgreesWithTheTable) {
  for (const auto& row : kOptimalDeltaRows) {
    // Where a lattice point is hit, 12 x 0.1 and 1.2 as doubles differ by an ulp, as in the table.
    SCOPED_TRACE(testing::Message() << row.epsilon << " " << row.count << " " << row.total_epsilon);
    ExpectLogDelta(OptimalLogDelta({row.epsilon, row.delta}, row.count, row.total_epsilon),
                   row.total_delta);
  }
}

TEST(OptimalLogDelta, AgreesWithTheTableOnTheGridOfTheTheorem) {
  for (const auto& row : kOptimalGridRows) {
    SCOPED_TRACE(testing::Message() << row.epsilon << " " << row.count << " " << row.i);
    const double epsilon = (row.count - 2 * row.i) * row.epsilon;
    if (row.total_delta == 0) {
      // The top: the product may have been rounded down.
      EXPECT_LE(
          OptimalLogDelta({row.epsilon, row.delta}, row.count, std::nextafter(epsilon, kInfinity))
              .upper,
          -kInfinity);
      continue;
    }
    const Bounds bounds = OptimalLogDelta({row.epsilon, row.delta}, row.count, epsilon);
    ExpectLogDelta(bounds, row.total_delta);
  }
}

TEST(OptimalLogDelta, OfOneRunIsTheProfileOfTheFourOutcomes) {
  for (const double epsilon0 : {1e-12, 0.1, 1.0, 30.0, 600.0, 699.9}) {
    for (const double delta0 : {0.0, 1e-300, 1e-17, 1e-5, 0.5, 1.0}) {
      for (const double part : {-3.0, -1.0, -0.5, -1e-9, 0.0, 0.3, 0.999, 1.0, 2.0}) {
        const double epsilon = part * epsilon0;
        const Bounds bounds = OptimalLogDelta({epsilon0, delta0}, 1, epsilon);
        const double one = ApproximateDpLogDelta({epsilon0, delta0}, epsilon);
        EXPECT_LE(bounds.lower, one) << epsilon0 << " " << delta0 << " " << part;
        EXPECT_LE(bounds.lower, bounds.upper);
        if (one == -kInfinity) {
          EXPECT_EQ(bounds.upper, -kInfinity);
        } else if (epsilon0 < 100 && epsilon0 > 0.01) {  // ApproximateDpLogDelta is a little loose
          EXPECT_NEAR(bounds.upper, one, 1e-13 * (8 + epsilon0) + 1e-14 * std::abs(one));
        }
      }
    }
  }
}

TEST(OptimalLogDelta, KeepsDeltasThatDoubleWouldLose) {
  // 1 - (1 - 1e-17)^1e6 is 0 in double: a peer's answer. It is 1e-11 (1 - 5e-12 + ...).
  const Bounds small = OptimalLogDelta({0, 1e-17}, 1e6, 0);
  const double truth = std::log(1e-11) - 5e-12;
  EXPECT_LE(small.lower, truth + 4e-15);
  EXPECT_GE(small.upper, truth - 4e-15);
  EXPECT_LT(small.upper - small.lower, 4e-13);
  const Bounds with_epsilon = OptimalLogDelta({0.001, 1e-17}, 1e6, 1000);
  EXPECT_EQ(with_epsilon.lower, small.lower);
  EXPECT_EQ(with_epsilon.upper, small.upper);
  EXPECT_NEAR(OptimalLogDelta({0, 1e-300}, 1e9, 0).upper, std::log(1e-291), 1e-11);
  EXPECT_GT(OptimalLogDelta({0, 5e-324}, 1, 0).upper, -kInfinity);
  // The other end: 1 - delta = 2^-1000.
  EXPECT_LT(OptimalLogDelta({0, 0.5}, 1000, 0).upper, 0);
  EXPECT_NEAR(OptimalLogDelta({0, 0.5}, 1000, 0).lower / -std::exp2(-1000.0), 1, 1e-10);
  EXPECT_EQ(OptimalLogDelta({1, 1}, 3, 0).lower, 0);
}

TEST(OptimalLogDelta, AnswersTheSpecialValues) {
  EXPECT_EQ(OptimalLogDelta({1, 0}, 5, 5).upper, -kInfinity);
  EXPECT_GT(OptimalLogDelta({1, 0}, 5, std::nextafter(5, 0)).lower, -kInfinity);
  EXPECT_EQ(OptimalLogDelta({0, 0}, 5, 0).upper, -kInfinity);
  EXPECT_NEAR(OptimalLogDelta({0, 0}, 5, -1).upper, std::log(1 - std::exp(-1)), 1e-14);
  // The smallest number there is, and losses around it.
  EXPECT_GT(OptimalLogDelta({5e-324, 0}, 3, 5e-324).lower, -kInfinity);
  EXPECT_EQ(OptimalLogDelta({5e-324, 0}, 3, 1.5e-323).upper, -kInfinity);
  // What is not understood is answered by the trivial bounds.
  for (const Bounds bounds :
       {OptimalLogDelta({std::nan(""), 0}, 5, 1), OptimalLogDelta({1, std::nan("")}, 5, 1),
        OptimalLogDelta({-1, 0}, 5, 1), OptimalLogDelta({1, -0.1}, 5, 1),
        OptimalLogDelta({1, 0}, 0.5, 1), OptimalLogDelta({1, 0}, 2.5, 1),
        OptimalLogDelta({1, 0}, std::nan(""), 1), OptimalLogDelta({1, 0}, 5, std::nan(""))}) {
    EXPECT_EQ(bounds.lower, -kInfinity);
    EXPECT_EQ(bounds.upper, 0);
  }
  // Beyond 2^53 and beyond 700: basic composition from above, something from below.
  const Bounds many = OptimalLogDelta({1e-17, 1e-30}, 1e17, 1.001);
  EXPECT_NEAR(many.upper, std::log(1e-13), 1e-10);
  EXPECT_LE(many.lower, many.upper);
  EXPECT_EQ(OptimalLogDelta({1, 0}, kInfinity, 1e9).upper, 0);
  const Bounds large = OptimalLogDelta({1e4, 0}, 2, 1e3);
  EXPECT_EQ(large.upper, 0);
  EXPECT_LE(large.lower, 0);
  EXPECT_EQ(OptimalLogDelta({1e4, 0}, 2, 2e4 + 1).upper, -kInfinity);
  EXPECT_EQ(OptimalLogDelta({kInfinity, 0}, 2, 1).upper, 0);
}

TEST(OptimalEpsilon, AnswersTheSpecialValues) {
  EXPECT_EQ(OptimalEpsilon({1, 0}, 5, 0).upper, 0);
  EXPECT_EQ(OptimalEpsilon({1, 1e-6}, 5, std::log(1e-6)).lower, kInfinity);
  EXPECT_EQ(OptimalEpsilon({1, 1}, 5, -1).lower, kInfinity);
  EXPECT_EQ(OptimalEpsilon({0, 0}, 5, -kInfinity).upper, 0);
  EXPECT_EQ(OptimalEpsilon({0, 1e-9}, 5, std::log(1e-8)).upper, 0);
  EXPECT_EQ(OptimalEpsilon({1, 0}, 5, std::nan("")).upper, kInfinity);
  EXPECT_EQ(OptimalEpsilon({kInfinity, 0}, 5, -5).upper, kInfinity);
  EXPECT_EQ(OptimalEpsilon({1, 0}, std::nan(""), -5).upper, kInfinity);
  const Bounds pure = OptimalEpsilon({0.5, 0}, 4, -kInfinity);
  EXPECT_NEAR(pure.upper, 2, 1e-14);
  EXPECT_NEAR(pure.lower, 2, 1e-14);
  // delta(0) of one run of 1 is (e - 1)/(e + 1) = 0.462.
  EXPECT_EQ(OptimalEpsilon({1, 0}, 1, std::log(0.47)).upper, 0);
  EXPECT_GT(OptimalEpsilon({1, 0}, 1, std::log(0.46)).lower, 0);
}

struct Case {
  ApproximateDpParameters each;
  double count;
};

Case AnyCase() {
  const double epsilon0 = std::exp(*rc::gen::inRange(-9000, 3000) / 1000.0);
  const double delta0 = *rc::gen::element(0.0, 1e-300, 1e-12, 1e-6);
  return Case{{epsilon0, delta0}, std::floor(std::exp(*rc::gen::inRange(0, 9000) / 1000.0))};
}

RC_GTEST_PROP(OptimalEpsilon, IsTheInverseOfTheProfile, ()) {
  const Case c = AnyCase();
  const double log_delta = -std::exp(*rc::gen::inRange(-1000, 7000) / 1000.0);
  const Bounds epsilon = OptimalEpsilon(c.each, c.count, log_delta);
  RC_ASSERT(epsilon.lower <= epsilon.upper);
  if (epsilon.upper < kInfinity) {
    RC_ASSERT(OptimalLogDelta(c.each, c.count, epsilon.upper).upper <= log_delta);
    RC_ASSERT(epsilon.upper - epsilon.lower <= 1e-8 * epsilon.upper + 1e-14);
  }
  if (epsilon.lower > 0 && epsilon.lower < kInfinity) {
    RC_ASSERT(OptimalLogDelta(c.each, c.count, epsilon.lower).lower > log_delta);
  }
}

RC_GTEST_PROP(OptimalLogDelta, GrowsWithEverythingThatIsSpent, ()) {
  const Case c = AnyCase();
  const double epsilon = c.each.epsilon * c.count * *rc::gen::inRange(-100, 101) / 100.0;
  const Bounds one = OptimalLogDelta(c.each, c.count, epsilon);
  RC_ASSERT(one.lower <= one.upper);
  RC_ASSERT(one.upper <= 0);
  RC_ASSERT(one.lower <= OptimalLogDelta(c.each, c.count + 1, epsilon).upper);
  RC_ASSERT(one.lower <=
            OptimalLogDelta({c.each.epsilon * 1.01, c.each.delta}, c.count, epsilon).upper);
  RC_ASSERT(one.lower <=
            OptimalLogDelta({c.each.epsilon, c.each.delta * 1.01}, c.count, epsilon).upper);
  RC_ASSERT(OptimalLogDelta(c.each, c.count, epsilon + 0.01 * c.each.epsilon).lower <= one.upper);
}

RC_GTEST_PROP(OptimalLogDelta, IsNeverAboveBasicComposition, ()) {
  const Case c = AnyCase();
  const ApproximateDpParameters basic = BasicComposition({{c.each, c.count}});
  const double epsilon = basic.epsilon * *rc::gen::inRange(-100, 101) / 100.0;
  RC_ASSERT(OptimalLogDelta(c.each, c.count, epsilon).lower <=
            ApproximateDpLogDelta({basic.epsilon, std::min(1.0, basic.delta)}, epsilon));
}

}  // namespace
}  // namespace epsledger::accounting
