#include "accounting/profile/laplace_pair_profile.h"

#include <cmath>
#include <vector>

#include "gtest/gtest.h"
#include "tests/accounting/profile/profile_checks.h"

namespace epsledger::accounting {
namespace {

// delta and Q[L > epsilon] of one release, from the definition.
double DeltaOfOne(double theta, double epsilon) {
  if (epsilon >= theta) return 0;
  return epsilon <= -theta ? -std::expm1(epsilon) : -std::expm1(0.5 * (epsilon - theta));
}
double TailOfOne(double theta, double epsilon) {
  if (epsilon < -theta) return 1;
  return epsilon >= theta ? 0 : 0.5 * std::exp(-0.5 * (epsilon + theta));
}

// The sum over the losses of the first release: two atoms and a density, by the midpoint rule.
template <class Function>
double OverFirst(double theta, bool under_p, const Function& of_second) {
  const double sign = under_p ? 0.5 : -0.5;
  double sum =
      0.5 * std::exp(-0.5 * theta) *
      (std::exp(sign * theta) * of_second(theta) + std::exp(-sign * theta) * of_second(-theta));
  constexpr int kCells = 200000;
  const double cell = 2 * theta / kCells;
  for (int i = 0; i < kCells; ++i) {
    const double loss = -theta + (i + 0.5) * cell;
    sum += cell * 0.25 * std::exp(sign * loss - 0.5 * theta) * of_second(loss);
  }
  return sum;
}

TEST(LaplacePairProfile, IsTheSumOverTheLossesOfBoth) {
  const double pairs[][2] = {{1, 1}, {1, .5}, {.5, 1}, {.25, 2}, {5, .125}, {1.0 / 3, 1.0 / 7}};
  for (const auto& pair : pairs) {
    const double first = pair[0], second = pair[1];
    const LaplacePairProfile profile(Bounds{first, first}, Bounds{second, second});
    std::vector<double> epsilons;
    for (const double part : {-1.1, -.87, -.51, -.13, 0.01, .11, .43, .71, .95, .999, 1.0, 1.2}) {
      epsilons.push_back(part * (first + second));
    }
    for (const double epsilon : epsilons) {
      const double delta =
          OverFirst(first, true, [&](double loss) { return DeltaOfOne(second, epsilon - loss); });
      const Bounds log_delta = profile.LogDelta(epsilon);
      EXPECT_NEAR(std::exp(log_delta.lower), delta, 1e-10) << first << " " << epsilon;
      EXPECT_NEAR(std::exp(log_delta.upper), delta, 1e-10) << first << " " << epsilon;
      if (delta > 1e-4) {
        EXPECT_LT(BracketWidth(log_delta), 1e-11);
      }
      // The largest loss has an atom. None is at the other epsilons; the midpoint rule meets a jump
      // in one cell.
      if (epsilon == first + second) continue;
      const double tail =
          OverFirst(first, false, [&](double loss) { return TailOfOne(second, epsilon - loss); });
      const Bounds bounds = profile.TailUnderQ(epsilon);
      EXPECT_NEAR(bounds.lower, tail, 1e-4 * first) << first << " " << epsilon;
      EXPECT_NEAR(bounds.upper, tail, 1e-4 * first) << first << " " << epsilon;
      EXPECT_LT(bounds.upper - bounds.lower, 1e-11);
    }
    ExpectConsistent(profile, epsilons, "two Laplace releases");
    ExpectReverses(profile, profile, epsilons, "two Laplace releases");
  }
}

TEST(LaplacePairProfile, HasItsAtomsAtTheSumsAndDifferences) {
  const LaplacePairProfile profile(Bounds{1, 1}, Bounds{0.25, 0.25});
  // Q has a loss of -theta with probability 1/2, of theta with probability e^-theta / 2.
  const double masses[][2] = {{1.25, 0.25 * std::exp(-1.25)},
                              {0.75, 0.25 * std::exp(-1.0)},
                              {-0.75, 0.25 * std::exp(-0.25)},
                              {-1.25, 0.25}};
  for (const auto& [loss, mass] : masses) {
    const Bounds here = profile.TailUnderQ(loss);
    EXPECT_NEAR(here.upper - here.lower, mass, 1e-12) << loss;
    const Bounds off = profile.TailUnderQ(loss + 1e-6);
    EXPECT_LT(off.upper - off.lower, 1e-12) << loss;
  }
  // Where both are equal two atoms meet at 0.
  const LaplacePairProfile equal(Bounds{1, 1}, Bounds{1, 1});
  const Bounds zero = equal.TailUnderQ(0);
  EXPECT_NEAR(zero.upper - zero.lower, 0.5 * std::exp(-1), 1e-12);
}

TEST(LaplacePairProfile, CoversUncertainDistances) {
  const LaplacePairProfile wide(Bounds{0.99, 1.01}, Bounds{0.5, 0.51});
  for (const double first : {0.99, 1.0, 1.01}) {
    for (const double second : {0.5, 0.505, 0.51}) {
      const LaplacePairProfile one(Bounds{first, first}, Bounds{second, second});
      for (double epsilon = -1.6; epsilon <= 1.6; epsilon += 0.0625) {
        EXPECT_LE(wide.LogDelta(epsilon).lower, one.LogDelta(epsilon).upper);
        EXPECT_GE(wide.LogDelta(epsilon).upper, one.LogDelta(epsilon).lower);
        EXPECT_LE(wide.TailUnderQ(epsilon).lower, one.TailUnderQ(epsilon).lower + 1e-12);
        EXPECT_GE(wide.TailUnderQ(epsilon).upper, one.TailUnderQ(epsilon).upper - 1e-12);
      }
    }
  }
  EXPECT_FALSE(LaplacePairProfile::CanTake(Bounds{500, 500}, Bounds{200, 200}));
}

}  // namespace
}  // namespace epsledger::accounting
