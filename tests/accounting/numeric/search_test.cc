#include "accounting/numeric/search.h"
#include "accounting/numeric/constants.h"

#include <cmath>

#include "gtest/gtest.h"

namespace epsledger::accounting {
namespace {

TEST(NarrowCrossing, EndsWithTheConditionHoldingOnTheSideItSays) {
  const auto f = [](double x) { return x * x - 2; };
  const Crossing crossing = NarrowCrossing(f, 0, 100, 1e-15);
  EXPECT_LE(f(crossing.holds), 0);
  EXPECT_GT(f(crossing.fails), 0);
  EXPECT_NEAR(crossing.holds, std::sqrt(2), 3e-15);
}

TEST(NarrowCrossing, ServesStepsInfinitiesAndNaN) {
  const auto step = [](double x) { return x < 3 ? -1.0 : x < 5 ? kInfinity : std::nan(""); };
  const Crossing crossing = NarrowCrossing(step, 0, 10, 1e-12);
  EXPECT_LT(crossing.holds, 3);
  EXPECT_NEAR(crossing.holds, 3, 1e-11);
  // Downwards as well: `holds` may be the larger end.
  const Crossing down = NarrowCrossing([](double x) { return 1 - x; }, 1e6, 0, 1e-12);
  EXPECT_GE(down.holds, 1);
  EXPECT_NEAR(down.holds, 1, 1e-9);
}

TEST(NarrowCrossing, StopsAtItsLimitWithAValidBracket) {
  const Crossing crossing = NarrowCrossing([](double x) { return x - 1; }, 0, 1e300, 1e-15, 5);
  EXPECT_LE(crossing.holds, 1);
  EXPECT_GT(crossing.fails, 1);
}

TEST(MinimizeFrom, FindsTheMinimumOfAUnimodalFunctionFromAnywhere) {
  for (const double start : {-50.0, -3.0, 0.0, 7.0, 90.0}) {
    const auto f = [](double x) { return (x - 2) * (x - 2) + std::exp(-x) * 0; };
    EXPECT_NEAR(MinimizeFrom(f, start, 0.5, -100, 100, 1e-6).at, 2, 1e-5) << start;
    // A kink, which no parabola fits.
    const auto kink = [](double x) { return x < 2 ? 2 - x : 100 * (x - 2); };
    EXPECT_LT(MinimizeFrom(kink, start, 0.5, -100, 100, 1e-8).value, 1e-4) << start;
  }
}

TEST(MinimizeFrom, LooksBehindAPlateauOfInfinity) {
  const auto f = [](double x) { return x < 5 ? kInfinity : x; };
  EXPECT_NEAR(MinimizeFrom(f, 0, 0.5, -10, 100, 1e-6).value, 5, 1);
  EXPECT_EQ(MinimizeFrom([](double) { return kInfinity; }, 0, 1, -10, 10, 1e-6).value, kInfinity);
  EXPECT_EQ(MinimizeFrom([](double) { return std::nan(""); }, 0, 1, -10, 10, 1e-6).value,
            kInfinity);
}

TEST(MinimizeFrom, StaysInsideItsRange) {
  const Minimum minimum = MinimizeFrom([](double x) { return -x; }, 0, 1, -3, 4, 1e-9);
  EXPECT_NEAR(minimum.at, 4, 1e-6);
}

}  // namespace
}  // namespace epsledger::accounting
