#include "client/trainers/istdp/mcp_prox.h"

#include <rapidcheck/gtest.h>
#include "gtest/gtest.h"
#include "tests/client/trainers/istdp/special_values.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace epsledger::trainers::istdp {
namespace {

double Objective(const McpPenalty& penalty, double step, double s, double t) {
  return 0.5 * (t - s) * (t - s) + step * McpValue(penalty, t);
}

struct McpProxCase {
  double s, step, lambda, shape, want;
};

// In rows 4 to 9 and the last the published closed form, with shape - 1 for shape - step, gives
// something else, and something worse.
TEST(McpProx, GivesTheClosedForm) {
  const std::vector<McpProxCase> cases = {
      {1.5, 1, 1, 2, 1},       {2.5, 1, 1, 2, 2.5},      {-1.2, 1, 1, 3, -0.3},
      {1, .5, 1, 2, 2.0 / 3},  {1.6, .5, 1, 2, 4.4 / 3}, {-.9, .25, 2, 1.5, -0.48},
      {3, 2, 1, 4, 2},         {2.5, 2, 1, 4, 1},        {1.3, 2, .5, 1.5, 1.3},
      {.8, 2, .5, 1.5, 0},     {.9, 3, .5, 3, 0},        {.74, 1.5, .5, 1.5, 0},
      {.76, 1.5, .5, 1.5, .76}};
  for (const McpProxCase& c : cases) {
    const McpPenalty penalty{.lambda = c.lambda, .shape = c.shape};
    EXPECT_NEAR(McpProx(penalty, c.step, c.s), c.want, 1e-12) << c.s;
    EXPECT_NEAR(McpProx(penalty, c.step, -c.s), -c.want, 1e-12) << c.s;
  }
}

TEST(McpProx, GivesZeroForATie) {
  // |s| = lambda sqrt(shape step) exactly: h(0) = h(s).
  EXPECT_EQ(McpProx({.lambda = 1, .shape = 4}, 4, 4.0), 0);
  EXPECT_EQ(McpProx({.lambda = 1, .shape = 4}, 4, std::nextafter(4.0, 5.0)),
            std::nextafter(4.0, 5.0));
  EXPECT_EQ(McpProx({.lambda = 1, .shape = 4}, 1, 1.0), 0);  // the end of the firm threshold
}

TEST(McpProx, MapsSpecialValuesToThemselves) {
  for (const double step : {0.5, 5.0}) {
    const McpPenalty penalty{.lambda = 1, .shape = 2};
    EXPECT_EQ(McpProx(penalty, step, 0.0), 0);
    EXPECT_EQ(McpProx(penalty, step, -0.0), 0);
    EXPECT_EQ(McpProx(penalty, step, kInfinity), kInfinity);
    EXPECT_EQ(McpProx(penalty, step, -kInfinity), -kInfinity);
    EXPECT_TRUE(std::isnan(McpProx(penalty, step, kNan)));
  }
}

TEST(McpProx, WithoutPenaltyIsTheIdentity) {
  for (const double s : {-2.0, -1e-300, 0.0, 3.0}) {
    EXPECT_EQ(McpProx({.lambda = 0, .shape = 2}, 0.5, s), s);
    EXPECT_EQ(McpProx({.lambda = 0, .shape = 2}, 5, s), s);
  }
}

TEST(McpProx, IsStableWhereShapeAndStepNearlyMeet) {
  const McpPenalty penalty{.lambda = 1, .shape = 2};
  const double step = std::nextafter(2.0, 0.0);
  for (double s = 1.9999999; s <= 2.0000001; s += 1e-9) {
    const double t = McpProx(penalty, step, s);
    EXPECT_GE(t, 0);
    EXPECT_LE(t, s);
    EXPECT_LE(Objective(penalty, step, s, t),
              std::min(Objective(penalty, step, s, 0), Objective(penalty, step, s, s)) + 1e-12);
  }
}

RC_GTEST_PROP(McpProx, IsAtLeastAsGoodAsEveryGridPoint, ()) {
  const McpPenalty penalty{.lambda = *Thousandths(0, 3000), .shape = *Thousandths(1001, 5000)};
  const double step = *Thousandths(1, 6000);
  const double s = *Thousandths(-10000, 10000);
  const double t = McpProx(penalty, step, s);
  RC_ASSERT(std::fabs(t) <= std::fabs(s));
  RC_ASSERT(t * s >= 0);
  const double value = Objective(penalty, step, s, t);
  constexpr int kGridPoints = 4000;
  for (int k = 0; k <= kGridPoints; ++k) {
    const double other = s * k / kGridPoints;  // the minimizer lies between 0 and s
    RC_ASSERT(value <= Objective(penalty, step, s, other) + 1e-12);
  }
}

// The closed form as the paper prints it: shape - 1 where shape - step is right.
double PrintedProx(const McpPenalty& penalty, double step, double s) {
  const double knot = penalty.shape * penalty.lambda;
  const double magnitude = std::fabs(s);
  const double inner = std::clamp(
      penalty.shape * (magnitude - step * penalty.lambda) / (penalty.shape - 1), 0.0, knot);
  const double outer = std::max(knot, magnitude);
  return std::copysign(
      Objective(penalty, step, magnitude, inner) <= Objective(penalty, step, magnitude, outer)
          ? inner
          : outer,
      s);
}

TEST(McpProx, IsOptimalInAHundredThousandRandomCasesWhereThePrintedFormIsNot) {
  std::mt19937_64 generator(17);
  std::uniform_real_distribution<double> uniform;
  constexpr int kCases = 100'000;
  constexpr int kGridPoints = 500;
  constexpr double kSlack = 1e-9;
  int sub_optimal = 0;
  int printed_sub_optimal = 0;
  for (int k = 0; k < kCases; ++k) {
    const McpPenalty penalty{.lambda = 2 * uniform(generator),
                             .shape = 1.01 + 4 * uniform(generator)};
    const double step = 0.05 + 4 * uniform(generator);
    const double s = 8 * (uniform(generator) - 0.5);
    double best = Objective(penalty, step, s, 0);
    for (int point = 1; point <= kGridPoints; ++point) {
      best = std::min(best, Objective(penalty, step, s, s * point / kGridPoints));
    }
    sub_optimal += Objective(penalty, step, s, McpProx(penalty, step, s)) > best + kSlack;
    printed_sub_optimal +=
        Objective(penalty, step, s, PrintedProx(penalty, step, s)) > best + kSlack;
  }
  EXPECT_EQ(sub_optimal, 0);
  EXPECT_GT(printed_sub_optimal, kCases / 10);
  RecordProperty("printed_sub_optimal", printed_sub_optimal);
}

RC_GTEST_PROP(McpProx, IsMonotone, ()) {
  const McpPenalty penalty{.lambda = *Thousandths(0, 3000), .shape = *Thousandths(1001, 5000)};
  const double step = *Thousandths(1, 6000);
  const double s = *Thousandths(-10000, 10000);
  const double larger = s + *Thousandths(0, 1000);
  RC_ASSERT(McpProx(penalty, step, s) <= McpProx(penalty, step, larger) + 1e-12);
}

TEST(McpValue, IsLambdaTimesAbsMinusASquareUpToTheKnotAndFlatBeyond) {
  const McpPenalty penalty{.lambda = 2, .shape = 3};  // the knot is 6
  EXPECT_EQ(McpValue(penalty, 0), 0);
  EXPECT_DOUBLE_EQ(McpValue(penalty, 1.5), 2 * 1.5 - 1.5 * 1.5 / 6);
  EXPECT_DOUBLE_EQ(McpValue(penalty, -1.5), McpValue(penalty, 1.5));
  EXPECT_DOUBLE_EQ(McpValue(penalty, 6), 6);
  EXPECT_DOUBLE_EQ(McpValue(penalty, std::nextafter(6, 7)), 6);
  EXPECT_DOUBLE_EQ(McpValue(penalty, 1e300), 6);
  EXPECT_DOUBLE_EQ(McpValue(penalty, -kInfinity), 6);
  EXPECT_TRUE(std::isnan(McpValue(penalty, kNan)));
}

TEST(ValidateMcp, RefusesWhatIsOutsideTheDomain) {
  EXPECT_TRUE(ValidateMcp({.lambda = 0, .shape = std::nextafter(1, 2)}).ok());
  EXPECT_TRUE(ValidateMcp({.lambda = 1e300, .shape = 1e300}).ok());
  for (const double lambda : {-1.0, kInfinity, kNan}) {
    EXPECT_EQ(ValidateMcp({.lambda = lambda, .shape = 2}).code(),
              absl::StatusCode::kInvalidArgument);
  }
  for (const double shape : {-1.0, 0.0, 1.0, kInfinity, kNan}) {
    EXPECT_EQ(ValidateMcp({.lambda = 1, .shape = shape}).code(),
              absl::StatusCode::kInvalidArgument);
  }
  EXPECT_EQ(ValidateMcp({.lambda = 1, .shape = 1}).message(),
            "McpPenalty.shape: got 1, want a finite number > 1");
}

TEST(UniversalThresholdMcp, PutsLambdaAtTheUniversalThresholdAndTheKnotAtThree) {
  const McpPenalty penalty = UniversalThresholdMcp(0.001, 100);
  EXPECT_NEAR(penalty.lambda, 0.001 * std::sqrt(2 * std::log(100)), 1e-15);
  EXPECT_NEAR(penalty.lambda * penalty.shape, 3, 1e-12);
  for (const double noise : {0.0, 5e-324, 1e-300, 1.0, 1e6}) {
    EXPECT_TRUE(ValidateMcp(UniversalThresholdMcp(noise, 1)).ok()) << noise;
  }
}

}  // namespace
}  // namespace epsledger::trainers::istdp
