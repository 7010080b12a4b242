#include "accounting/renyi/random_allocation.h"

#include <cmath>

#include "accounting/renyi/closed_form.h"
#include "accounting/renyi/sampled_gaussian.h"
#include "gtest/gtest.h"

namespace epsledger::accounting {
namespace {

// D_a of the pair for two rounds from its definition: E[((r1 + r2) / 2)^power] by a trapezoid rule
// in the plane, whose error at this step is below 1e-12.
double TwoRounds(double s, double order, double power) {
  const double step = std::min(.1, s / 10);
  const double right = 10 + std::max(0.0, power) / s;
  double moment = 0;
  for (double x = -12 + (power < 0 ? power / s : 0); x < right; x += step) {
    const double r1 = std::exp(x / s - .5 / s / s);
    for (double y = -12 + (power < 0 ? power / s : 0); y < right; y += step) {
      const double r2 = std::exp(y / s - .5 / s / s);
      moment += std::exp(power * std::log(.5 * (r1 + r2)) - .5 * (x * x + y * y));
    }
  }
  return std::log(moment * step * step / (2 * std::acos(-1.0))) / (order - 1);
}

TEST(RandomAllocationGaussian, AgreesWithTheDefinitionForTwoRounds) {
  for (const double s : {.7, 1.0, 3.0}) {
    const RandomAllocationGaussian allocation(2, s);
    for (const double order : {2.0, 3.0, 6.0}) {
      const double remove = TwoRounds(s, order, order);
      const double add = TwoRounds(s, order, 1 - order);
      EXPECT_GE(allocation.Remove(order), remove * (1 - 1e-9)) << s << " " << order;
      EXPECT_NEAR(allocation.Remove(order) / remove, 1, 1e-8) << s << " " << order;
      EXPECT_GE(allocation.Add(order), add * (1 - 1e-9)) << s << " " << order;
      EXPECT_NEAR(allocation.Add(order) / add, 1, 1e-8) << s << " " << order;
    }
    EXPECT_GE(allocation.Remove(2.5), TwoRounds(s, 2.5, 2.5));
    EXPECT_GE(allocation.Add(2.5) * (1 + 1e-9), TwoRounds(s, 2.5, -1.5));
    EXPECT_GE(allocation.Add(1.3), TwoRounds(s, 1.3, -.3));
  }
}

// The variance of the average of t ratios is that of one over t.
TEST(RandomAllocationGaussian, RemoveAtOrderTwoIsTheChiSquareOverTheRounds) {
  for (const double s : {.5, 1.0, 10.0}) {
    for (const int64_t t : {2, 10, 1000, 1000000}) {
      const double truth = std::log1p(std::expm1(1 / s / s) / static_cast<double>(t));
      const double d = RandomAllocationGaussian(t, s).Remove(2);
      EXPECT_GE(d, truth * (1 - 1e-14));
      EXPECT_LE(d, truth + 1e-11);
    }
  }
}

// Many rounds of a gentle release: both directions meet Poisson sampling with probability 1/t.
TEST(RandomAllocationGaussian, ApproachesPoissonSampling) {
  const int64_t t = 1000;
  const RandomAllocationGaussian allocation(t, 4);
  const double poisson = t * SampledGaussianRemoveRenyi({1.0 / t, 4}, 8);
  EXPECT_NEAR(allocation.Remove(8) / poisson, 1, 5e-3);
  EXPECT_NEAR(allocation.Add(8) / poisson, 1, 5e-3);
}

TEST(RandomAllocationGaussian, NeverCostsMoreThanARelease) {
  for (const double s : {.05, 1.0, 30.0}) {
    for (const int64_t t : {int64_t{1}, int64_t{7}, int64_t{1} << 40}) {
      const RandomAllocationGaussian allocation(t, s);
      for (const double order : {1.0001, 2.0, 15.5, 64.0, 65.0, 1e9}) {
        const double whole = GaussianRenyi(order, 1 / s) * (1 + 1e-12);
        EXPECT_LE(allocation.Remove(order), whole);
        EXPECT_LE(allocation.Add(order), whole);
        EXPECT_GE(allocation.Remove(order), 0);
        EXPECT_GE(allocation.Add(order), 0);
      }
    }
  }
  EXPECT_EQ(RandomAllocationGaussian(7, 1).Remove(NAN), INFINITY);
  EXPECT_EQ(RandomAllocationGaussian(7, 1).Add(NAN), INFINITY);
}

}  // namespace
}  // namespace epsledger::accounting
