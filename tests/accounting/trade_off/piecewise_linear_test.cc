#include "accounting/trade_off/piecewise_linear.h"

#include <cmath>
#include <string>
#include <vector>

#include "accounting/trade_off/trade_off_function.h"
#include "gtest/gtest.h"

namespace epsledger::accounting {
namespace {

TEST(PiecewiseLinear, InterpolatesTheGivenPoints) {
  const auto f = PiecewiseLinear::FromPoints({0, 0.25, 0.5, 1}, {0.9, 0.5, 0.2, 0}, "curve");
  ASSERT_TRUE(f.ok()) << f.status();
  // By hand.
  const struct {
    double alpha, value;
  } rows[] = {{0, 0.9}, {0.1, 0.74}, {0.25, 0.5}, {0.4, 0.32}, {0.5, 0.2}, {0.75, 0.1}, {1, 0}};
  for (const auto& row : rows) {
    EXPECT_LE(f->At(row.alpha).lower, row.value);
    EXPECT_GE(f->At(row.alpha).upper, row.value * (1 - 1e-15));
    EXPECT_NEAR(f->At(row.alpha).lower, row.value, 1e-13);
  }
  // delta(0) = max over vertices of 1 - f - a = 0.3 at a = 0.5.
  EXPECT_NEAR(f->Delta(0).upper, 0.3, 1e-13);
  // At e^epsilon = 4 the best vertex is 0: 1 - 0.9.
  EXPECT_NEAR(f->Delta(std::log(4.0)).upper, 0.1, 1e-13);
}

TEST(PiecewiseLinear, RefusesWhatIsNoTradeOffFunctionAndSaysWhere) {
  const auto message = [](std::vector<double> one, std::vector<double> two) {
    return std::string(PiecewiseLinear::FromPoints(one, two, "curve").status().message());
  };
  // Not convex.
  EXPECT_NE(message({0, 0.5, 0.6, 1}, {0.8, 0.4, 0.1, 0}).find("curve.typeTwo[1]"),
            std::string::npos);
  // Above 1 - x.
  EXPECT_NE(message({0, 0.5, 1}, {1, 0.6, 0}).find("curve.typeTwo[1]"), std::string::npos);
  // Increasing.
  EXPECT_NE(message({0, 0.5, 1}, {0.2, 0.3, 0}).find("curve.typeTwo[1]"), std::string::npos);
  // Does not begin at 0, does not end at 1, is not in order, is not a number.
  EXPECT_NE(message({0.1, 0.5, 1}, {0.5, 0.3, 0}).find("curve.typeOne[0]"), std::string::npos);
  EXPECT_NE(message({0, 0.5}, {0.5, 0.3}).find("curve.typeOne[1]"), std::string::npos);
  EXPECT_NE(message({0, 0.5, 0.5, 1}, {1, 0.4, 0.3, 0}).find("curve.typeOne[2]"),
            std::string::npos);
  EXPECT_NE(message({0, std::nan(""), 1}, {1, 0.4, 0}).find("curve.typeOne[1]"), std::string::npos);
  EXPECT_NE(message({0, 0.5, 1}, {1, std::nan(""), 0}).find("curve.typeTwo[1]"), std::string::npos);
  EXPECT_NE(message({0, 1}, {1}).find("curve.typeTwo"), std::string::npos);
  EXPECT_NE(message({0}, {1}).find("curve.typeOne"), std::string::npos);
}

TEST(PiecewiseLinear, TakesPointsThatAreConvexUpToTheirDecimals) {
  // 1 - x at tenths is collinear in decimals and not in doubles.
  std::vector<double> one, two;
  for (int i = 0; i <= 1000; ++i) {
    one.push_back(i / 1000.0);
    two.push_back((1000 - i) / 1000.0);
  }
  const auto f = PiecewiseLinear::FromPoints(one, two, "curve");
  ASSERT_TRUE(f.ok()) << f.status();
  EXPECT_NEAR(f->At(0.12345).lower, 0.87655, 1e-9);
  EXPECT_LE(f->At(0.12345).lower, 0.87655);
  EXPECT_LT(f->Delta(0).upper, 1e-9);
  // A curve tabulated with six decimals misses convexity by more than that is worth.
  EXPECT_FALSE(PiecewiseLinear::FromPoints({0, 0.1, 0.2, 1}, {1, 0.700001, 0.4, 0}, "c").ok());
}

TEST(PiecewiseLinear, LiesBelowATabulatedConvexFunctionOnlyByItsChords) {
  // sqrt law: f(a) = (1 - sqrt a)^2 is convex, its own inverse, and at most 1 - a.
  std::vector<double> one, two;
  for (int i = 0; i <= 1000; ++i) {
    const double root = i / 1000.0;
    one.push_back(root * root);
    two.push_back((1 - root) * (1 - root));
  }
  const auto f = PiecewiseLinear::FromPoints(one, two, "curve");
  ASSERT_TRUE(f.ok()) << f.status();
  const PiecewiseLinear inverse = f->Inverse();
  for (const double alpha : {0.01, 0.2, 0.5, 0.9}) {
    const double root = 1 - std::sqrt(alpha);
    EXPECT_NEAR(f->At(alpha).lower, root * root, 1e-6) << alpha;
    EXPECT_NEAR(inverse.At(alpha).lower, f->At(alpha).lower, 1e-9) << alpha;
  }
}

// The museum: a peer's randomized response (noise .5, 2 values) at type I errors 0, .1, .5, 1 gives
// .25 .25 0 0. Outcomes have probability .75 and .25: likelihood ratios 3 and 1/3.
TEST(PiecewiseLinear, RandomizedResponseIsNotAStepFunction) {
  const PiecewiseLinear f = PiecewiseLinear::FromOutcomes({{0.25, 0.75}, {0.75, 0.25}}, 0);
  const struct { double alpha, value; } rows[] = {{0, 1}, {0.1, 0.7}, {0.5, 1.0 / 6}, {1, 0}};
  for (const auto& row : rows) {
    EXPECT_LE(f.At(row.alpha).lower, row.value);
    EXPECT_GE(f.At(row.alpha).upper, row.value);
    EXPECT_NEAR(f.At(row.alpha).lower, row.value, 1e-14);
    // The same as (log 3, 0)-DP.
    EXPECT_NEAR(TradeOffFunction::ApproximateDp(std::log(3.0), 0)->At(row.alpha).upper, row.value,
                3e-14);
  }
}

TEST(PiecewiseLinear, KeepsDigitsOfTinyMasses) {
  const PiecewiseLinear f = PiecewiseLinear::ApproximateDp(500, 1e-200);
  // delta(0) = 1 - 2 (1 - d)/(1 + e^500), and delta beyond epsilon is d.
  EXPECT_NEAR(f.Delta(501).upper / 1e-200, 1, 1e-12);
  EXPECT_NEAR(f.Delta(501).lower / 1e-200, 1, 1e-12);
  // f(a) = e^-500 (1 - d - a) right of the kink.
  EXPECT_NEAR(f.At(0.5).lower / (0.5 * std::exp(-500.0)), 1, 1e-12);
  EXPECT_NEAR(f.At(0.5).upper / (0.5 * std::exp(-500.0)), 1, 1e-12);
}

}  // namespace
}  // namespace epsledger::accounting
