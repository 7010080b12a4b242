#include "server/core/cost.h"

#include <rapidcheck/gtest.h>
#include "gtest/gtest.h"

#include <cmath>
#include <limits>

namespace epsledger::core {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr Cost::Units kOne = Cost::Units{1} << 64;

TEST(Cost, RoundUpRefusesWhatIsNotAProvenCost) {
  EXPECT_TRUE(Cost::RoundUp(kNan).is_infinite());
  EXPECT_TRUE(Cost::RoundUp(kInf).is_infinite());
  EXPECT_TRUE(Cost::RoundUp(-1.0).is_infinite());
  EXPECT_TRUE(Cost::RoundUp(-kInf).is_infinite());
  EXPECT_TRUE(Cost::RoundUp(std::ldexp(1.0, 64)).is_infinite());
  EXPECT_TRUE(Cost::RoundUp(1e308).is_infinite());
}

TEST(Cost, RoundUpNeverLosesASpend) {
  EXPECT_TRUE(Cost::RoundUp(0.0).is_zero());
  EXPECT_TRUE(Cost::RoundUp(-0.0).is_zero());
  // A float ledger at 1 loses both of these.
  EXPECT_EQ(Cost::RoundUp(std::numeric_limits<double>::denorm_min()), Cost::FromUnits(1));
  EXPECT_EQ(Cost::RoundUp(1e-300), Cost::FromUnits(1));
  EXPECT_EQ(Cost::RoundUp(1.0), Cost::FromUnits(kOne));
  EXPECT_EQ(Cost::RoundUp(std::ldexp(1.0, -64)), Cost::FromUnits(1));
  EXPECT_EQ(Cost::RoundUp(std::ldexp(1.5, -64)), Cost::FromUnits(2));
}

TEST(Cost, RoundDownNeverGivesMore) {
  EXPECT_TRUE(Cost::RoundDown(kNan).is_zero());
  EXPECT_TRUE(Cost::RoundDown(-1.0).is_zero());
  EXPECT_TRUE(Cost::RoundDown(std::ldexp(1.0, -65)).is_zero());
  EXPECT_EQ(Cost::RoundDown(std::ldexp(1.5, -64)), Cost::FromUnits(1));
  EXPECT_FALSE(Cost::RoundDown(kInf).is_infinite());
  EXPECT_FALSE(Cost::RoundDown(1e308).is_infinite());
}

TEST(Cost, InfiniteNeverFits) {
  const Cost largest_cap = Cost::RoundDown(kInf);
  EXPECT_GT(Cost::Infinite(), largest_cap);
  EXPECT_TRUE((Cost::Infinite() + Cost()).is_infinite());
  EXPECT_TRUE((largest_cap + largest_cap).is_infinite());
  EXPECT_TRUE((largest_cap + Cost::FromUnits(1)).is_infinite());
  EXPECT_TRUE(Cost::Infinite().Times(1).is_infinite());
  EXPECT_TRUE(Cost::FromUnits(kOne).Times(std::numeric_limits<int64_t>::max()).ToDoubleUp() > 9e18);
  EXPECT_TRUE(largest_cap.Times(2).is_infinite());
  EXPECT_EQ(largest_cap.HowMany(Cost::Infinite(), 10), 0);
}

TEST(Cost, HowManyCountsWholeStepsUpToTheLimit) {
  const Cost room = Cost::FromUnits(100);
  EXPECT_EQ(room.HowMany(Cost::FromUnits(1), 1000), 100);
  EXPECT_EQ(room.HowMany(Cost::FromUnits(1), 99), 99);
  EXPECT_EQ(room.HowMany(Cost::FromUnits(51), 1000), 1);
  EXPECT_EQ(room.HowMany(Cost::FromUnits(101), 1000), 0);
  EXPECT_EQ(room.HowMany(Cost(), 1000), 1000);
  EXPECT_EQ(Cost().HowMany(Cost::FromUnits(1), 1000), 0);
}

RC_GTEST_PROP(Cost, RoundingBracketsTheNumber, ()) {
  const double x = std::ldexp(*rc::gen::inRange<int>(0, 1 << 30), *rc::gen::inRange(-110, 30));
  const Cost up = Cost::RoundUp(x);
  const Cost down = Cost::RoundDown(x);
  RC_ASSERT(down <= up);
  RC_ASSERT(up.units() - down.units() <= 1u);
  RC_ASSERT(up.ToDoubleUp() >= x);
  RC_ASSERT(down.ToDoubleDown() <= x);
}

RC_GTEST_PROP(Cost, DoublesBracketTheUnits, (uint64_t high, uint64_t low)) {
  const Cost cost = Cost::FromUnits((Cost::Units{high} << 64 | low) >> 1);
  RC_ASSERT(Cost::RoundUp(cost.ToDoubleUp()) >= cost);
  RC_ASSERT(Cost::RoundDown(cost.ToDoubleDown()) <= cost);
  RC_ASSERT(std::nextafter(cost.ToDoubleDown(), kInf) >= cost.ToDoubleUp());
}

// I15: splitting or merging counts never changes a charge.
RC_GTEST_PROP(Cost, SplittingACountNeverMakesItCheaper, (uint64_t units)) {
  const Cost cost = Cost::FromUnits(units);
  const int64_t a = *rc::gen::inRange<int64_t>(0, int64_t{1} << 40);
  const int64_t b = *rc::gen::inRange<int64_t>(0, int64_t{1} << 40);
  RC_ASSERT(cost.Times(a) + cost.Times(b) == cost.Times(a + b));
}

}  // namespace
}  // namespace epsledger::core
