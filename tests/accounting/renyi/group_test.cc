#include "accounting/renyi/group.h"

#include <cmath>

#include "accounting/renyi/closed_form.h"
#include "gtest/gtest.h"

namespace epsledger::accounting {
namespace {

// A Gaussian moves k times as far: D_a = rho a becomes k^2 rho a.
TEST(GroupRenyi, IsExactForGaussians) {
  const auto gaussian = [](double a) { return .3 * a; };
  for (const double k : {1.0, 2.0, 3.0, 10.0, 64.0}) {
    for (const double a : {1.001, 1.5, 2.0, 30.0}) {
      const double truth = .3 * k * k * a;
      EXPECT_GE(GroupRenyi(gaussian, a, k), truth * (1 - 1e-15));
      EXPECT_NEAR(GroupRenyi(gaussian, a, k) / truth, 1, 1e-9) << k << " " << a;
    }
  }
}

// Blocks replace single terms beyond 64.
TEST(GroupRenyi, StaysAboveTheGaussianTruthForLargeGroups) {
  const auto gaussian = [](double a) { return .3 * a; };
  for (const double k : {65.0, 1000.0, 1e6}) {
    for (const double a : {1.1, 2.0, 30.0}) {
      const double truth = .3 * k * k * a;
      EXPECT_GE(GroupRenyi(gaussian, a, k), truth);
      EXPECT_LE(GroupRenyi(gaussian, a, k), 1.25 * truth) << k << " " << a;
    }
  }
}

// The Laplace mechanism at distance k is the Laplace mechanism with a shift of k.
TEST(GroupRenyi, BoundsTheLaplaceMechanismAtTwiceTheDistance) {
  for (const double z : {.3, 1.0, 5.0}) {
    for (const double a : {1.1, 2.0, 7.5}) {
      for (const double k : {2.0, 3.0, 5.0}) {
        EXPECT_GE(GroupRenyi([&](double order) { return LaplaceRenyi(order, z, 1); }, a, k),
                  LaplaceRenyi(a, z, k) * (1 - 1e-12));
      }
    }
  }
}

// Mironov 2017, Prop 2: order a for groups of 2^c costs 3^c D at order 2^c a, for a >= 2.
TEST(GroupRenyi, IsTighterThanMironovsProposition) {
  const auto curve = [](double a) { return LaplaceRenyi(a, .7, 1); };
  for (int c = 1; c <= 5; ++c) {
    for (const double a : {2.0, 3.0, 12.0}) {
      const double k = std::exp2(c);
      EXPECT_LE(GroupRenyi(curve, a, k), std::pow(3, c) * curve(k * a)) << c << " " << a;
    }
  }
}

TEST(GroupRenyi, KeepsInfinity) {
  EXPECT_EQ(GroupRenyi([](double) { return INFINITY; }, 2, 3), INFINITY);
  EXPECT_EQ(GroupRenyi([](double) { return 1.0; }, 1e308, 1000), INFINITY);
}

TEST(GroupConstantFactor, IsTheGroupTimesItsHarmonicNumber) {
  EXPECT_NEAR(GroupConstantFactor(1), 1, 1e-14);
  EXPECT_NEAR(GroupConstantFactor(4), 4 * 25. / 12, 1e-13);
  // H_20000 = 10.48072821722933 = log k + gamma + 1/(2k) - 1/(12 k^2); the last is left out.
  EXPECT_NEAR(GroupConstantFactor(20000) / (20000 * 10.48072821722933), 1, 1e-10);
  EXPECT_GE(GroupConstantFactor(20000), 20000 * 10.48072821722933);
  // As a -> 1 the sum for a constant curve is this factor.
  EXPECT_NEAR(GroupRenyi([](double) { return 1.0; }, 1 + 1e-9, 4) / GroupConstantFactor(4), 1,
              1e-7);
}

}  // namespace
}  // namespace epsledger::accounting
