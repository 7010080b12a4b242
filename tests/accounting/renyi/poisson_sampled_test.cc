#include "accounting/renyi/poisson_sampled.h"

#include <algorithm>
#include <cmath>

#include "accounting/renyi/closed_form.h"
#include "accounting/renyi/sampled_gaussian.h"
#include "gtest/gtest.h"
#include "tests/accounting/mpfr_real.h"

namespace epsledger::accounting {
namespace {

PoissonSampledRenyi SampledGaussianAsAny(double q, double s, bool exchangeable) {
  return PoissonSampledRenyi([s](double a) { return GaussianRenyi(a, 1 / s); }, q, exchangeable);
}

// The binomial sum is exact where the mechanism attains its divergences: the Gaussian does.
TEST(PoissonSampledRenyi, RemoveIsTheSampledGaussianAtIntegerOrders) {
  for (const double q : {1e-4, .01, .5}) {
    for (const double s : {.6, 1.0, 5.0}) {
      const PoissonSampledRenyi any = SampledGaussianAsAny(q, s, false);
      for (const int order : {2, 3, 10, 64}) {
        const double truth = SampledGaussianRemoveRenyi({q, s}, order);
        EXPECT_NEAR(any.Remove(order, GaussianRenyi(order, 1 / s)) / truth, 1, 1e-9);
      }
    }
  }
}

TEST(PoissonSampledRenyi, BoundsTheSampledGaussianAtEveryOrderInBothDirections) {
  for (const double q : {1e-5, .01, .2, .9}) {
    for (const double s : {.5, 1.0, 8.0}) {
      for (const bool exchangeable : {false, true}) {
        const PoissonSampledRenyi any = SampledGaussianAsAny(q, s, exchangeable);
        for (const double order : {1.01, 1.7, 2.0, 5.5, 40.0, 128.0, 200.0}) {
          const double inner = GaussianRenyi(order, 1 / s);
          const SampledGaussian mechanism{q, s};
          EXPECT_GE(any.Remove(order, inner),
                    SampledGaussianRemoveRenyi(mechanism, order) * (1 - 1e-8));
          EXPECT_GE(any.Add(order, inner), SampledGaussianAddRenyi(mechanism, order) * (1 - 1e-8));
          EXPECT_LE(any.Remove(order, inner), inner);
          EXPECT_LE(any.Add(order, inner), inner);
        }
      }
    }
  }
}

// Without the involution the add side keeps the square of q.
TEST(PoissonSampledRenyi, AddIsQuadraticInTheSamplingProbability) {
  const double at = SampledGaussianAsAny(1e-3, 1, false).Add(8, GaussianRenyi(8, 1));
  const double truth = SampledGaussianAddRenyi({1e-3, 1}, 8);
  EXPECT_LT(at, 1.05 * truth);
}

// A shifted Gaussian of the zCDP of .1, .03125: the square of q times 7 until 2026-11.
TEST(PoissonSampledRenyi, AddIsNearTheTruthWhereTheSampleIsNotSmall) {
  const double at = SampledGaussianAsAny(.1, 4, false).Add(14, GaussianRenyi(14, .25));
  const double truth = SampledGaussianAddRenyi({.1, 4}, 14);
  EXPECT_GE(at, truth);
  EXPECT_LT(at, 2 * truth);
}

// D_a of two outcomes of probabilities p, 1 - p and s, 1 - s.
double TwoOutcomesDivergence(double a, double p, double s) {
  const double first = a * std::log(p) + (1 - a) * std::log(s);
  const double second = a * std::log1p(-p) + (1 - a) * std::log1p(-s);
  const double larger = std::max(first, second);
  return (larger + std::log(std::exp(first - larger) + std::exp(second - larger))) / (a - 1);
}

// Ratios near 0 and far above 1.
TEST(PoissonSampledRenyi, BoundsPairsOfTwoOutcomesInBothDirections) {
  for (const double p : {1e-6, .05, .4, .99}) {
    for (const double s : {1e-4, .03, .5, .9}) {
      const auto divergence = [&](double a) {
        return std::max({0.0, TwoOutcomesDivergence(a, p, s), TwoOutcomesDivergence(a, s, p)}) *
               (1 + 1e-12);
      };
      for (const double q : {1e-3, .1, .5, .95}) {
        const PoissonSampledRenyi any(divergence, q, false);
        const double mixed = (1 - q) * s + q * p;
        for (const double a : {1.1, 2.0, 3.0, 7.5, 30.0}) {
          const double add = TwoOutcomesDivergence(a, s, mixed);
          const double remove = TwoOutcomesDivergence(a, mixed, s);
          EXPECT_GE(any.Add(a, divergence(a)), add * (1 - 1e-9) - 1e-13)
              << p << " " << s << " " << q << " " << a;
          EXPECT_GE(any.Remove(a, divergence(a)), remove * (1 - 1e-9) - 1e-13)
              << p << " " << s << " " << q << " " << a;
        }
      }
    }
  }
}

// The two-point pair at 512 bits.
double Truth(double epsilon, double q, double order, double power) {
  Real moment = 0;
  for (const double loss : {epsilon, -epsilon}) {
    const Real g = Real(1) - q + Real(q) * Exp(loss);
    moment = moment + Pow(g, power) / (Real(1) + Exp(loss));
  }
  return (Log(moment) / (Real(order) - 1)).ToDouble();
}

TEST(PoissonSampledPureDp, IsJustAboveSampledRandomizedResponse) {
  double worst = 0;
  for (const double epsilon : {1e-6, .1, 1.0, 5.0, 20.0}) {
    for (const double q : {1e-6, .01, .5, .99}) {
      for (const double order : {1.001, 1.5, 2.0, 9.0, 33.3}) {
        const double remove = Truth(epsilon, q, order, order);
        const double add = Truth(epsilon, q, order, 1 - order);
        const double d = PoissonSampledPureDpRemoveRenyi(order, epsilon, q);
        EXPECT_GE(d, remove * (1 - 1e-15)) << epsilon << " " << q << " " << order;
        EXPECT_GE(PoissonSampledPureDpAddRenyi(order, epsilon, q), add * (1 - 1e-15))
            << epsilon << " " << q << " " << order;
        EXPECT_LE(d, PureDpRenyi(order, epsilon));
        if (order >= 1.5 && order * epsilon < 600) worst = std::max(worst, d / remove - 1);
      }
    }
  }
  EXPECT_LT(worst, 1e-9);
}

}  // namespace
}  // namespace epsledger::accounting
