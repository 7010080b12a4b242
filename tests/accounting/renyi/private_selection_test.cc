#include "accounting/renyi/private_selection.h"

#include <algorithm>
#include <cmath>

#include "gtest/gtest.h"

namespace epsledger::accounting {
namespace {

// The mean of the truncated negative binomial law from its weights
// (1 - g)^k prod_{l<k} (l + eta)/(l + 1), normalised (Papernot and Steinke 2022, Def 1).
double MeanFromWeights(double shape, double gamma) {
  double weight = 1;
  double total = 0;
  double sum = 0;
  for (int k = 1; k < 2000000; ++k) {
    weight *= (1 - gamma) * (k == 1 ? 1 : (k - 1 + shape) / k);
    total += weight;
    sum += k * weight;
    if (k * weight < 1e-18 * sum) break;
  }
  return sum / total;
}

TEST(LogInverseGamma, GivesTheLawItsMean) {
  for (const double shape : {-.5, -.01, 0.0, .3, 1.0, 4.0}) {
    for (const double mean : {1.01, 2.0, 10.0, 60.0}) {
      const double log_inverse = LogInverseGamma(mean, shape);
      EXPECT_NEAR(MeanFromWeights(shape, std::exp(-log_inverse)) / mean, 1, 1e-7)
          << shape << " " << mean;
    }
  }
  EXPECT_NEAR(LogInverseGamma(10, 1), std::log(10), 1e-9);  // geometric: gamma = 1 / mean
  EXPECT_GE(LogInverseGamma(10, 1), std::log(10));
}

// Corollary 3 there: an epsilon-DP run gives ((2 + eta) epsilon, 0)-DP.
TEST(PrivateSelection, OfPureRunsIsPureInTheLimit) {
  const double epsilon = .8;
  const auto pure = [&](double) { return epsilon; };
  for (const double shape : {0.0, 1.0, 2.5}) {
    const PrivateSelection selection(pure, 20, shape);
    EXPECT_NEAR(selection.Divergence(1e9, epsilon), (2 + shape) * epsilon, 1e-5) << shape;
  }
}

// The divergence grows with the order, and so no bound at a larger one is wrong.
TEST(PrivateSelection, NeverFallsWithTheOrder) {
  const auto curve = [](double a) { return .125 * a; };
  const PrivateSelection selection(curve, 50, 1);
  double before = 0;
  for (double order = 1.01; order < 1000; order *= 1.07) {
    const double bound = selection.Divergence(order, curve(order));
    EXPECT_GE(bound, before * (1 - 1e-12)) << order;
    before = bound;
  }
  // The theorem alone: log(50) / .5 more at order 1.5.
  EXPECT_LT(selection.Divergence(1.5, curve(1.5)), selection.Divergence(20, curve(20)));
}

// Theorem 2 with a grid of second orders instead of a search, at the best order from the one that
// is asked for.
TEST(PrivateSelection, FollowsTheTheoremAtTheBestSecondOrder) {
  const auto curve = [](double a) { return .05 * a; };
  const double mean = 12;
  const double shape = .5;
  const PrivateSelection selection(curve, mean, shape);
  const double log_inverse = LogInverseGamma(mean, shape);
  double best = log_inverse;
  for (double b = 1.01; b < 100; b += .01) {
    best = std::min(best, (1 - 1 / b) * curve(b) + log_inverse / b);
  }
  const auto theorem = [&](double order) {
    return curve(order) + (1 + shape) * best + std::log(mean) / (order - 1);
  };
  for (const double order : {1.5, 3.0, 6.0, 12.0, 20.0}) {
    double least = theorem(order);
    for (double larger = order; larger < 100; larger += .01) {
      least = std::min(least, theorem(larger));
    }
    const double bound = selection.Divergence(order, curve(order));
    EXPECT_GE(bound, least * (1 - 1e-5)) << order;
    EXPECT_LE(bound, least * 1.01) << order;
    EXPECT_LE(bound, theorem(order) * (1 + 1e-5)) << order;
  }
}

TEST(PrivateSelection, OneRunIsOneRun) {
  const auto curve = [](double a) { return .05 * a; };
  EXPECT_EQ(PrivateSelection(curve, 1, 2).Divergence(3, curve(3)), curve(3));
}

}  // namespace
}  // namespace epsledger::accounting
