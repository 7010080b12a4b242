#include "client/trainers/istdp/scad_prox.h"

#include <rapidcheck/gtest.h>
#include "gtest/gtest.h"
#include "tests/client/trainers/istdp/special_values.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace epsledger::trainers::istdp {
namespace {

// phi by its derivative, which is [FL01]'s definition: lambda up to lambda, then
// (shape lambda - t) / (shape - 1) down to 0, added up by the midpoint rule, exact on each piece.
double ValueByItsSlope(const ScadPenalty& penalty, double t) {
  const double lambda = penalty.lambda;
  const double knot = penalty.shape * lambda;
  const double first = std::min(t, lambda);
  const double second = std::clamp(t, lambda, knot);
  const double middle = (lambda + second) / 2;
  return first * lambda + (second - lambda) * (knot - middle) / (penalty.shape - 1);
}

double Objective(const ScadPenalty& penalty, double step, double s, double t) {
  return 0.5 * (t - s) * (t - s) + step * ScadValue(penalty, t);
}

TEST(ScadValue, HasTheSlopeOfItsDefinition) {
  const ScadPenalty penalty{.lambda = 2, .shape = 4};  // the knots are 2 and 8
  for (double t = 0; t <= 12; t += 0.125) {
    EXPECT_NEAR(ScadValue(penalty, t), ValueByItsSlope(penalty, t), 1e-13) << t;
    EXPECT_EQ(ScadValue(penalty, -t), ScadValue(penalty, t)) << t;
  }
  EXPECT_EQ(ScadValue(penalty, 2), 4);
  EXPECT_EQ(ScadValue(penalty, 8), 10);  // (4 + 1) 2^2 / 2
  EXPECT_EQ(ScadValue(penalty, kInfinity), 10);
  EXPECT_TRUE(std::isnan(ScadValue(penalty, kNan)));
}

struct ScadProxCase {
  double s, step, lambda, shape, want;
};

// By hand. The first four have shape - 1 > step; then a soft jump at (shape + 1 + step) lambda / 2
// and a hard one at lambda sqrt(step (shape + 1)).
TEST(ScadProx, GivesTheClosedForm) {
  const std::vector<ScadProxCase> cases = {
      {.5, 1, 1, 4, 0},    {1.5, 1, 1, 4, .5},   {3, 1, 1, 4, 2.5},  {4.5, 1, 1, 4, 4.5},
      {4, 3, 1, 4, 1},     {4.1, 3, 1, 4, 4.1},  {3.9, 3, 1, 4, .9}, {2.9, 3, 1, 4, 0},
      {5.9, 8, 1, 3.5, 0}, {6.1, 8, 1, 3.5, 6.1}};
  for (const ScadProxCase& c : cases) {
    const ScadPenalty penalty{.lambda = c.lambda, .shape = c.shape};
    EXPECT_NEAR(ScadProx(penalty, c.step, c.s), c.want, 1e-12) << c.s << " " << c.step;
    EXPECT_NEAR(ScadProx(penalty, c.step, -c.s), -c.want, 1e-12) << c.s << " " << c.step;
  }
}

TEST(ScadProx, GivesTheSmallerOneOfTwoMinimizers) {
  // step = 4, lambda = 1, shape = 3: the threshold is (3 + 1 + 4) / 2 = 4, h(0) = h(4) = 8.
  const ScadPenalty penalty{.lambda = 1, .shape = 3};
  EXPECT_EQ(Objective(penalty, 4, 4, 0), Objective(penalty, 4, 4, 4));
  EXPECT_EQ(ScadProx(penalty, 4, 4), 0);
  EXPECT_EQ(ScadProx(penalty, 4, std::nextafter(4.0, 5.0)), std::nextafter(4.0, 5.0));
}

TEST(ScadProx, IsContinuousUpToAStepOfShapeLessOneAndJumpsBeyond) {
  const ScadPenalty penalty{.lambda = 1, .shape = 4};
  const auto largest_jump = [&](double step) {
    double largest = 0;
    for (double s = 0; s < 12; s += 1e-4) {
      largest = std::max(largest, ScadProx(penalty, step, s + 1e-4) - ScadProx(penalty, step, s));
    }
    return largest;
  };
  // The slope is (shape - 1) / (shape - 1 - step): 30 for 2.9.
  EXPECT_LT(largest_jump(1), 2e-4);
  EXPECT_LT(largest_jump(2.9), 31e-4);
  EXPECT_GT(largest_jump(3), 2.9);  // from lambda to shape lambda
  EXPECT_GT(largest_jump(4), 3.9);
}

TEST(ScadProx, MapsSpecialValuesToThemselves) {
  for (const double step : {0.5, 2.5, 50.0}) {
    const ScadPenalty penalty{.lambda = 1, .shape = 3};
    EXPECT_EQ(ScadProx(penalty, step, 0.0), 0);
    EXPECT_EQ(ScadProx(penalty, step, kInfinity), kInfinity);
    EXPECT_EQ(ScadProx(penalty, step, -kInfinity), -kInfinity);
    EXPECT_TRUE(std::isnan(ScadProx(penalty, step, kNan)));
    for (const double s : {-2.0, -1e-300, 0.0, 3.0}) {
      EXPECT_EQ(ScadProx({.lambda = 0, .shape = 3}, step, s), s);
    }
  }
}

TEST(ScadProx, IsStableWhereShapeLessOneAndStepNearlyMeet) {
  const ScadPenalty penalty{.lambda = 1, .shape = 3};
  const double step = std::nextafter(2.0, 0.0);
  for (double s = 2.9999999; s <= 3.0000001; s += 1e-9) {
    const double t = ScadProx(penalty, step, s);
    EXPECT_GE(t, 0);
    EXPECT_LE(t, s);
    for (const double other : {0.0, 1.0, 2.0, 3.0, s}) {
      EXPECT_LE(Objective(penalty, step, s, t), Objective(penalty, step, s, other) + 1e-12);
    }
  }
}

TEST(ScadProx, IsFiniteForTheLargestNumbers) {
  for (const double step : {1e-300, 1.0, 1e300}) {
    for (const double s : {1e-300, 1.0, 1e308}) {
      const double t = ScadProx({.lambda = 1e300, .shape = 1e300}, step, s);
      EXPECT_TRUE(t >= 0 && t <= s) << step << " " << s << " " << t;
    }
  }
}

RC_GTEST_PROP(ScadProx, IsAtLeastAsGoodAsEveryGridPoint, ()) {
  const ScadPenalty penalty{.lambda = *Thousandths(0, 3000), .shape = *Thousandths(2001, 6000)};
  const double step = *Thousandths(1, 9000);
  const double s = *Thousandths(-15000, 15000);
  const double t = ScadProx(penalty, step, s);
  RC_ASSERT(std::fabs(t) <= std::fabs(s));
  RC_ASSERT(t * s >= 0);
  const double value = Objective(penalty, step, s, t);
  constexpr int kGridPoints = 4000;
  for (int k = 0; k <= kGridPoints; ++k) {
    const double other = s * k / kGridPoints;  // the minimizer lies between 0 and s
    RC_ASSERT(value <= Objective(penalty, step, s, other) + 1e-12);
  }
}

TEST(ScadProx, IsOptimalInAHundredThousandRandomCases) {
  std::mt19937_64 generator(18);
  std::uniform_real_distribution<double> uniform;
  int sub_optimal = 0;
  for (int k = 0; k < 100'000; ++k) {
    const ScadPenalty penalty{.lambda = 2 * uniform(generator),
                              .shape = 2.01 + 4 * uniform(generator)};
    const double step = 0.05 + 9 * uniform(generator);
    const double s = 24 * (uniform(generator) - 0.5);
    double best = Objective(penalty, step, s, 0);
    for (int point = 1; point <= 300; ++point) {
      best = std::min(best, Objective(penalty, step, s, s * point / 300));
    }
    sub_optimal += Objective(penalty, step, s, ScadProx(penalty, step, s)) > best + 1e-9;
  }
  EXPECT_EQ(sub_optimal, 0);
}

RC_GTEST_PROP(ScadProx, IsMonotone, ()) {
  const ScadPenalty penalty{.lambda = *Thousandths(0, 3000), .shape = *Thousandths(2001, 6000)};
  const double step = *Thousandths(1, 9000);
  const double s = *Thousandths(-15000, 15000);
  const double larger = s + *Thousandths(0, 1000);
  RC_ASSERT(ScadProx(penalty, step, s) <= ScadProx(penalty, step, larger) + 1e-12);
}

TEST(ValidateScad, RefusesWhatIsOutsideTheDomain) {
  EXPECT_TRUE(ValidateScad({.lambda = 0, .shape = std::nextafter(2, 3)}).ok());
  EXPECT_TRUE(ValidateScad({.lambda = 1e300, .shape = 1e300}).ok());
  for (const double lambda : {-1.0, kInfinity, kNan}) {
    EXPECT_EQ(ValidateScad({.lambda = lambda, .shape = 3}).code(),
              absl::StatusCode::kInvalidArgument);
  }
  for (const double shape : {-1.0, 1.5, 2.0, kInfinity, kNan}) {
    EXPECT_EQ(ValidateScad({.lambda = 1, .shape = shape}).code(),
              absl::StatusCode::kInvalidArgument);
  }
  EXPECT_EQ(ValidateScad({.lambda = 1, .shape = 2}).message(),
            "ScadPenalty.shape: got 2, want a finite number > 2");
}

}  // namespace
}  // namespace epsledger::trainers::istdp
