#include "client/trainers/istdp/capped_l1_prox.h"

#include <rapidcheck/gtest.h>
#include "gtest/gtest.h"
#include "tests/client/trainers/istdp/special_values.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace epsledger::trainers::istdp {
namespace {

double Objective(const CappedL1Penalty& penalty, double step, double s, double t) {
  return 0.5 * (t - s) * (t - s) + step * CappedL1Value(penalty, t);
}

TEST(CappedL1Value, IsL1UpToTheCapAndFlatBeyond) {
  const CappedL1Penalty penalty{.lambda = 2, .cap = 3};
  EXPECT_EQ(CappedL1Value(penalty, 0), 0);
  EXPECT_EQ(CappedL1Value(penalty, -1.5), 3);
  EXPECT_EQ(CappedL1Value(penalty, 3), 6);
  EXPECT_EQ(CappedL1Value(penalty, 1e300), 6);
  EXPECT_EQ(CappedL1Value(penalty, -kInfinity), 6);
  EXPECT_TRUE(std::isnan(CappedL1Value(penalty, kNan)));
}

struct CappedL1ProxCase {
  double s, step, lambda, cap, want;
};

// By hand: a jump from the soft threshold at cap + step lambda / 2, then one from 0 at
// sqrt(2 step lambda cap).
TEST(CappedL1Prox, GivesTheClosedForm) {
  const std::vector<CappedL1ProxCase> cases = {
      {.9, 1, 1, 2, 0},      {1.5, 1, 1, 2, .5},  {2.5, 1, 1, 2, 1.5},
      {2.51, 1, 1, 2, 2.51}, {2.9, 2, 1, 2, .9},  {3.1, 2, 1, 2, 3.1},
      {3.9, 8, 1, 1, 0},     {4.1, 8, 1, 1, 4.1}, {3.9, 4, 2, 1, 0}};
  for (const CappedL1ProxCase& c : cases) {
    const CappedL1Penalty penalty{.lambda = c.lambda, .cap = c.cap};
    EXPECT_NEAR(CappedL1Prox(penalty, c.step, c.s), c.want, 1e-12) << c.s << " " << c.step;
    EXPECT_NEAR(CappedL1Prox(penalty, c.step, -c.s), -c.want, 1e-12) << c.s << " " << c.step;
  }
}

TEST(CappedL1Prox, JumpsForEveryStepAndGivesTheSmallerOneOfTwoMinimizers) {
  // Thresholds 1 + step / 2, exact in binary.
  const CappedL1Penalty penalty{.lambda = 1, .cap = 1};
  for (const double step : {0.125, 0.5, 1.0, 2.0}) {
    const double threshold = 1 + step / 2;
    const double soft = std::max(threshold - step, 0.0);
    EXPECT_EQ(Objective(penalty, step, threshold, soft),
              Objective(penalty, step, threshold, threshold));
    EXPECT_EQ(CappedL1Prox(penalty, step, threshold), soft);
    const double above = std::nextafter(threshold, 5.0);
    EXPECT_EQ(CappedL1Prox(penalty, step, above), above);
  }
  EXPECT_EQ(CappedL1Prox(penalty, 8, 4.0), 0);  // the hard threshold sqrt(16)
}

TEST(CappedL1Prox, WithACapThatNothingReachesIsTheSoftThreshold) {
  const CappedL1Penalty penalty{.lambda = 2, .cap = 1e9};
  EXPECT_EQ(CappedL1Prox(penalty, 0.5, 3), 2);
  EXPECT_EQ(CappedL1Prox(penalty, 0.5, -3), -2);
  EXPECT_EQ(CappedL1Prox(penalty, 0.5, 1), 0);
}

TEST(CappedL1Prox, MapsSpecialValuesToThemselves) {
  for (const double step : {0.5, 2.0, 50.0}) {
    const CappedL1Penalty penalty{.lambda = 1, .cap = 1};
    EXPECT_EQ(CappedL1Prox(penalty, step, 0.0), 0);
    EXPECT_EQ(CappedL1Prox(penalty, step, kInfinity), kInfinity);
    EXPECT_EQ(CappedL1Prox(penalty, step, -kInfinity), -kInfinity);
    EXPECT_TRUE(std::isnan(CappedL1Prox(penalty, step, kNan)));
    for (const double s : {-2.0, -1e-300, 0.0, 3.0}) {
      EXPECT_EQ(CappedL1Prox({.lambda = 0, .cap = 1}, step, s), s);
    }
  }
}

TEST(CappedL1Prox, IsFiniteForTheLargestNumbers) {
  for (const double cap : {1e-300, 1.0, 1.7e308}) {
    for (const double step : {1e-300, 1.0, 1e300}) {
      for (const double s : {1e-300, 1.0, 1e308}) {
        const double t = CappedL1Prox({.lambda = 1e300, .cap = cap}, step, s);
        EXPECT_TRUE(t >= 0 && t <= s) << cap << " " << step << " " << s << " " << t;
      }
    }
  }
}

RC_GTEST_PROP(CappedL1Prox, IsAtLeastAsGoodAsEveryGridPoint, ()) {
  const CappedL1Penalty penalty{.lambda = *Thousandths(0, 3000), .cap = *Thousandths(1, 5000)};
  const double step = *Thousandths(1, 6000);
  const double s = *Thousandths(-10000, 10000);
  const double t = CappedL1Prox(penalty, step, s);
  RC_ASSERT(std::fabs(t) <= std::fabs(s));
  RC_ASSERT(t * s >= 0);
  const double value = Objective(penalty, step, s, t);
  constexpr int kGridPoints = 4000;
  for (int k = 0; k <= kGridPoints; ++k) {
    const double other = s * k / kGridPoints;  // the minimizer lies between 0 and s
    RC_ASSERT(value <= Objective(penalty, step, s, other) + 1e-12);
  }
}

TEST(CappedL1Prox, IsOptimalInAHundredThousandRandomCases) {
  std::mt19937_64 generator(19);
  std::uniform_real_distribution<double> uniform;
  int sub_optimal = 0;
  for (int k = 0; k < 100'000; ++k) {
    const CappedL1Penalty penalty{.lambda = 2 * uniform(generator),
                                  .cap = 0.01 + 4 * uniform(generator)};
    const double step = 0.05 + 6 * uniform(generator);
    const double s = 20 * (uniform(generator) - 0.5);
    double best = Objective(penalty, step, s, 0);
    for (int point = 1; point <= 300; ++point) {
      best = std::min(best, Objective(penalty, step, s, s * point / 300));
    }
    sub_optimal += Objective(penalty, step, s, CappedL1Prox(penalty, step, s)) > best + 1e-9;
  }
  EXPECT_EQ(sub_optimal, 0);
}

RC_GTEST_PROP(CappedL1Prox, IsMonotone, ()) {
  const CappedL1Penalty penalty{.lambda = *Thousandths(0, 3000), .cap = *Thousandths(1, 5000)};
  const double step = *Thousandths(1, 6000);
  const double s = *Thousandths(-10000, 10000);
  const double larger = s + *Thousandths(0, 1000);
  RC_ASSERT(CappedL1Prox(penalty, step, s) <= CappedL1Prox(penalty, step, larger) + 1e-12);
}

TEST(ValidateCappedL1, RefusesWhatIsOutsideTheDomain) {
  EXPECT_TRUE(ValidateCappedL1({.lambda = 0, .cap = 5e-324}).ok());
  for (const double lambda : {-1.0, kInfinity, kNan}) {
    EXPECT_EQ(ValidateCappedL1({.lambda = lambda, .cap = 1}).code(),
              absl::StatusCode::kInvalidArgument);
  }
  for (const double cap : {-1.0, 0.0, kInfinity, kNan}) {
    EXPECT_EQ(ValidateCappedL1({.lambda = 1, .cap = cap}).code(),
              absl::StatusCode::kInvalidArgument);
  }
  EXPECT_EQ(ValidateCappedL1({.lambda = 1, .cap = 0}).message(),
            "CappedL1Penalty.cap: got 0, want a finite number > 0");
}

}  // namespace
}  // namespace epsledger::trainers::istdp
