#include "accounting/trade_off/concave_maximum.h"

#include <cmath>
#include <random>
#include <vector>

#include "accounting/trade_off/piecewise_linear.h"
#include "accounting/trade_off/type_two_error.h"
#include "gtest/gtest.h"

namespace epsledger::accounting {
namespace {

TEST(ConcaveMaximum, BracketsASmoothMaximum) {
  // log t - t has its maximum -1 at 1.
  ConcaveProblem problem;
  problem.low = 1e-6;
  problem.high = 1e6;
  problem.majorants = {Majorant{1e-6, std::log(1e-6) - 1e-6, 1e6 - 1},
                       Majorant{1e6, std::log(1e6) - 1e6, 1e-6 - 1}};
  problem.start = 30;
  int evaluations = 0;
  const Bounds found = ConcaveMaximum(
      [&](double t) {
        ++evaluations;
        const double value = std::log(t) - t;
        return Bounds{value - 1e-15, value + 1e-15};
      },
      problem);
  EXPECT_LE(found.lower, -1);
  EXPECT_GE(found.upper, -1);
  EXPECT_LT(found.upper - found.lower, 1e-8);
  EXPECT_LE(evaluations, 40);
}

TEST(ConcaveMaximum, ANotANumberIsNoInformation) {
  ConcaveProblem problem;
  problem.low = 0;
  problem.high = 1;
  problem.known = {ConcaveSample{0, Bounds{0, 0}}};
  problem.majorants = {Majorant{0, 0, 1}};
  problem.start = 0.5;
  const Bounds found = ConcaveMaximum(
      [](double) {
        return Bounds{std::nan(""), std::nan("")};
      },
      problem);
  EXPECT_EQ(found.lower, 0);
  EXPECT_GE(found.upper, 1);
}

// Random discrete pairs, whose functions and profiles are sums: the conjugates must bracket them,
// also when the evaluations are only known to within 1e-9.
TEST(ConcaveMaximum, ConjugatesOfRandomDiscretePairsAreBrackets) {
  std::mt19937_64 random(11);
  std::uniform_real_distribution<double> uniform(0, 1);
  for (int i = 0; i < 500; ++i) {
    const int size = 1 + static_cast<int>(8 * uniform(random));
    const double scale = std::pow(10, 2 * uniform(random) - 0.5);
    std::vector<OutcomeMass> outcomes;
    double null_total = 0, alternative_total = 0;
    for (int k = 0; k < size; ++k) {
      const double mass = std::pow(10, -8 * uniform(random));
      outcomes.push_back({mass, mass * std::exp(scale * (2 * uniform(random) - 1))});
      null_total += outcomes.back().null_mass;
      alternative_total += outcomes.back().alternative_mass;
    }
    for (OutcomeMass& outcome : outcomes) {
      outcome.null_mass /= null_total;
      outcome.alternative_mass /= alternative_total;
    }
    const PiecewiseLinear f = PiecewiseLinear::FromOutcomes(outcomes, 4e-15);
    const double noise = i % 3 == 0 ? 1e-9 : 0;
    const double power = std::pow(10, -10 * uniform(random));
    const double alpha = i % 2 == 0 ? power : 1 - power;
    const Bounds found = TypeTwoError(
        [&](double epsilon) {
          const Bounds delta = f.Delta(epsilon);
          return Bounds{delta.lower - noise * uniform(random),
                        delta.upper + noise * uniform(random)};
        },
        alpha);
    EXPECT_LE(found.lower, f.At(alpha).upper) << alpha;
    EXPECT_GE(found.upper, f.At(alpha).lower) << alpha;
    EXPECT_GE(found.lower, f.At(alpha).lower * (1 - 1e-8) - 1e-11 - 2 * noise) << alpha;
    if (noise == 0) {
      EXPECT_LE(found.upper, f.At(alpha).upper * (1 + 1e-8) + 1e-9) << alpha;
    }
    const double epsilon = 12 * uniform(random) - 6;
    const Bounds delta = DeltaFromTradeOff([&](double a) { return f.At(a); }, f.At(0), epsilon);
    EXPECT_LE(delta.lower, f.Delta(epsilon).upper) << epsilon;
    EXPECT_GE(delta.upper, f.Delta(epsilon).lower) << epsilon;
    EXPECT_LE(delta.upper, f.Delta(epsilon).upper + 1e-8) << epsilon;
  }
}

}  // namespace
}  // namespace epsledger::accounting
