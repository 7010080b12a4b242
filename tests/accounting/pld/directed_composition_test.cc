#include "accounting/pld/directed_composition.h"

#include "gtest/gtest.h"

#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "accounting/gaussian/profile.h"
#include "accounting/profile/gaussian_profile.h"
#include "accounting/profile/profiles_of.h"
#include "tests/accounting/pld/sampled_gaussian_rows.h"

namespace epsledger::accounting {
namespace {

DirectedProfiles ProfilesFor(const MechanismEvent& event) {
  const auto profiles = ProfilesOf(event, Setting{}, 1, Accountant::kPld);
  EXPECT_TRUE(profiles.ok()) << profiles.status();
  return *profiles;
}

DirectedComposition OnLattice(const SampledGaussianRow& row, Adjacency adjacency) {
  const DirectedProfiles profiles = ProfilesFor(
      PoissonSampled{row.sampling_probability, MechanismEvent(Gaussian{row.noise_multiplier})});
  return DirectedComposition(
      {{adjacency == Adjacency::kRemove ? profiles.remove : profiles.add, row.count}});
}

ContourComposition OnContour(const SampledGaussianRow& row, Adjacency adjacency) {
  return ContourComposition(
      {{{row.sampling_probability, row.noise_multiplier, adjacency}, row.count}}, Bounds{0, 0});
}

constexpr Adjacency kBoth[] = {Adjacency::kRemove, Adjacency::kAdd};

double Truth(const SampledGaussianRow& row, Adjacency adjacency) {
  return adjacency == Adjacency::kRemove ? row.remove : row.add;
}

// The rows that the contour is for: enough uses, so that the far frequencies die out.
TEST(ContourCompositionTest, BracketsEveryReferenceRowInBothDirections) {
  int narrow = 0;
  int asked = 0;
  for (const SampledGaussianRow& row : kSampledGaussianRows) {
    for (const Adjacency adjacency : kBoth) {
      const double truth = Truth(row, adjacency);
      // The sampling probabilities of 1e-6 take a second each; they are asked in the table's test.
      if (row.sampling_probability < 1e-5) continue;
      ContourComposition composition = OnContour(row, adjacency);
      ++asked;
      if (row.epsilon_wanted) {
        const Bounds epsilon = composition.Epsilon(std::log(row.given), Precision{});
        ASSERT_LE(epsilon.lower, truth * (1 + 1e-11 + 2 * row.error) + 1e-13) << asked;
        ASSERT_GE(epsilon.upper, truth * (1 - 1e-11 - 2 * row.error) - 1e-13) << asked;
        narrow += epsilon.upper - epsilon.lower <= std::max(1e-3 * truth, 1e-6);
      } else {
        const Bounds log_delta = composition.LogDelta(row.given, Precision{});
        ASSERT_LE(log_delta.lower, std::log(truth) + 1e-10 + 2 * row.error) << asked;
        ASSERT_GE(log_delta.upper, std::log(truth) - 1e-10 - 2 * row.error) << asked;
        narrow += log_delta.upper - log_delta.lower <= 1e-3;
      }
    }
  }
  EXPECT_GE(narrow, asked * 9 / 10) << "of " << asked;
}

TEST(DirectedCompositionTest, LatticeBracketsReferenceRowsInBothDirections) {
  int index = 0;
  Precision precision;
  precision.max_points = int64_t{1} << 16;  // coarse where a row is hard: wide, never wrong
  for (const SampledGaussianRow& row : kSampledGaussianRows) {
    if (++index % 5 != 0) continue;
    for (const Adjacency adjacency : kBoth) {
      const double truth = Truth(row, adjacency);
      DirectedComposition composition = OnLattice(row, adjacency);
      if (row.epsilon_wanted) {
        const Bounds epsilon = composition.Epsilon(std::log(row.given), precision);
        ASSERT_LE(epsilon.lower, truth * (1 + 1e-11 + 2 * row.error) + 1e-13) << index;
        ASSERT_GE(epsilon.upper, truth * (1 - 1e-11 - 2 * row.error) - 1e-13) << index;
      } else {
        const Bounds log_delta = composition.LogDelta(row.given, precision);
        ASSERT_LE(log_delta.lower, std::log(truth) + 1e-10 + 2 * row.error) << index;
        ASSERT_GE(log_delta.upper, std::log(truth) - 1e-10 - 2 * row.error) << index;
      }
    }
  }
}

// Losses past any lattice are infinite above and finite below: the aliases of the measure below are
// not bounded by the moments of the one above. With next to no noise a hit reveals everything.
TEST(DirectedCompositionTest, LatticeBracketsWhereAHitRevealsEverything) {
  const double q = 0.0069816833022386662;
  const auto profiles =
      ProfilesOf(PoissonSampled{q, MechanismEvent(Gaussian{1e-9})}, Setting{}, 1, Accountant::kPld);
  ASSERT_TRUE(profiles.ok()) << profiles.status();
  for (const double count : {2.0, 611.0, 1e5}) {
    DirectedComposition composition({{profiles->remove, count}});
    const double truth = -std::expm1(count * std::log1p(-q));  // some hit
    const Bounds log_delta = composition.LogDelta(0, Precision{});
    EXPECT_LE(log_delta.lower, std::log(truth) + 1e-12) << count;
    EXPECT_GE(log_delta.upper, std::log(truth) - 1e-12) << count;
    EXPECT_LE(log_delta.upper, std::log(truth) + 1e-3) << count;
  }
}

// The closed form of plain Gaussians is an oracle at any delta.
TEST(DirectedCompositionTest, LatticeBracketsTheGaussianFromDeltaOneHalfToOneInAGoogol) {
  const auto profile = std::make_shared<const GaussianProfile>(Bounds{0.05, 0.05});
  const double mu = 0.05 * 20;  // 400 uses
  for (const double log_delta : {-0.7, -2.0, -11.5, -46.0, -115.0, -230.0}) {
    DirectedComposition composition({{profile, 400}});
    const Bounds truth = GaussianEpsilon(Bounds{mu, mu}, log_delta);
    const Bounds epsilon = composition.Epsilon(log_delta, Precision{});
    EXPECT_LE(epsilon.lower, truth.upper * (1 + 1e-14)) << log_delta;
    EXPECT_GE(epsilon.upper, truth.lower * (1 - 1e-14)) << log_delta;
    EXPECT_LE(epsilon.upper - epsilon.lower, std::max(1e-3 * epsilon.upper, 1e-6)) << log_delta;
  }
}

// accounting/README.md's reference values at deltas where a plain Fourier transform has no digits:
// another contour integral and the tilted lattice agree on them.
TEST(ContourCompositionTest, HoldsItsDigitsAtTinyDeltas) {
  struct Row {
    double q, z, count, delta, epsilon, tolerance;
  };
  const Row rows[] = {
      {.01, 1, 1e4, 1e-5, 6.18771, 1e-5},   {.01, 1, 1e4, 1e-10, 9.31614, 1e-5},
      {.01, 1, 1e4, 1e-12, 10.34669, 1e-5}, {.01, 1, 1e4, 1e-14, 11.30356, 1e-5},
      {.01, 1, 1e4, 1e-20, 13.87977, 1e-5}, {.01, 1, 1e4, 1e-30, 17.63506, 1e-5},
      {.001, .8, 1e5, 1e-5, 2.57496, 1e-5}, {.001, .8, 1e5, 1e-10, 4.06917, 1e-5},
      {.001, .8, 1e5, 1e-12, 4.6466, 1e-4}, {.001, .8, 1e5, 1e-14, 5.33515, 1e-4},
      {.001, .8, 1e5, 1e-20, 7.44, 5e-3},   {.001, .8, 1e5, 1e-30, 10.6, 5e-2},
      {.0001, 1, 1e6, 1e-6, .53242, 1e-5},  {1e-6, 1, 1e6, 1e-6, .0037, 5e-5},
  };
  for (const Row& row : rows) {
    ContourComposition composition({{{row.q, row.z, Adjacency::kRemove}, row.count}}, {0, 0});
    Precision precision;
    precision.relative_width = 1e-6;
    const Bounds epsilon = composition.EpsilonWithCut(std::log(row.delta), precision,
                                                      {0, std::numeric_limits<double>::infinity()});
    EXPECT_NEAR(epsilon.lower, row.epsilon, row.tolerance) << row.delta;
    EXPECT_NEAR(epsilon.upper, row.epsilon, row.tolerance) << row.delta;
    EXPECT_LE(epsilon.lower, epsilon.upper);
  }
}

TEST(ContourCompositionTest, AgreesWithTheLatticeAtOneInAGoogol) {
  const SampledGaussianRow row{.01, 1, 1e4, true, 1e-100, 0, 0, 0};
  ContourComposition contour = OnContour(row, Adjacency::kRemove);
  DirectedComposition lattice = OnLattice(row, Adjacency::kRemove);
  const Bounds a = contour.Epsilon(-100 * std::log(10.0), Precision{});
  const Bounds b = lattice.Epsilon(-100 * std::log(10.0), Precision{});
  EXPECT_LE(a.lower, b.upper);
  EXPECT_LE(b.lower, a.upper);
  EXPECT_LT(a.upper - a.lower, 1e-3 * a.upper);
}

std::vector<CountedPair> ManyPairs(Adjacency adjacency, bool same_noise, double count) {
  std::vector<CountedPair> pairs;
  for (int i = 0; i < 1000; ++i) {
    const double share = i / 1000.0;
    const double q = same_noise ? 0.004 * std::pow(5.0, share) : 0.01;
    pairs.push_back({{q, same_noise ? 0.9 : 1 + share, adjacency}, count});
  }
  return pairs;
}

// A smaller noise multiplier, or a larger sampling probability, is never more private: histories
// whose events are rounded to one side, ten of a kind each, bound the one of a thousand kinds.
TEST(ContourCompositionTest, AThousandDistinctEventsLieBetweenHistoriesOfAHundred) {
  for (const Adjacency adjacency : kBoth) {
    for (const bool same_noise : {false, true}) {
      const std::vector<CountedPair> pairs = ManyPairs(adjacency, same_noise, 10);
      std::vector<CountedPair> worse;
      std::vector<CountedPair> better;
      for (size_t i = 0; i < pairs.size(); i += 10) {
        const CountedPair& first = pairs[i];
        const CountedPair& last = pairs[i + 9];
        worse.push_back({same_noise ? last.pair : first.pair, 100});
        better.push_back({same_noise ? first.pair : last.pair, 100});
      }
      for (const double log_delta : {-7.0, -11.5, -23.0}) {
        const auto epsilon_of = [&](const std::vector<CountedPair>& of) {
          return ContourComposition(of, Bounds{0, 0}).Epsilon(log_delta, Precision{});
        };
        const Bounds epsilon = epsilon_of(pairs);
        EXPECT_LE(epsilon.upper - epsilon.lower, 1e-3 * epsilon.upper) << log_delta;
        EXPECT_LE(epsilon.lower, epsilon_of(worse).upper) << log_delta;
        EXPECT_GE(epsilon.upper, epsilon_of(better).lower) << log_delta;
        EXPECT_LE(epsilon_of(worse).upper, 1.05 * epsilon_of(better).lower) << log_delta;
      }
    }
  }
}

// Sorted into a thousand kinds or into one, the same uses are the same composition.
TEST(ContourCompositionTest, KindsThatHardlyDifferComposeAsOneKind) {
  for (const Adjacency adjacency : kBoth) {
    std::vector<CountedPair> pairs;
    for (int i = 0; i < 1000; ++i) {
      pairs.push_back({{0.01 * (1 + 1e-12 * i), 1 + 1e-12 * i, adjacency}, 10});
    }
    const std::vector<CountedPair> one = {{{0.01, 1, adjacency}, 10'000}};
    for (const double log_delta : {-0.7, -11.5, -69.0}) {
      const Bounds a = ContourComposition(pairs, Bounds{0, 0}).Epsilon(log_delta, Precision{});
      const Bounds b = ContourComposition(one, Bounds{0, 0}).Epsilon(log_delta, Precision{});
      EXPECT_LE(a.lower, b.upper * (1 + 1e-7)) << log_delta;
      EXPECT_LE(b.lower, a.upper * (1 + 1e-7)) << log_delta;
      EXPECT_LE(a.upper - a.lower, 1e-3 * a.upper) << log_delta;
    }
  }
}

TEST(ContourCompositionTest, ManyKindsAgreeWithTheLattice) {
  for (const Adjacency adjacency : kBoth) {
    std::vector<CountedPair> pairs;
    std::vector<CountedProfile> profiles;
    for (int i = 0; i < 40; ++i) {
      const double q = 0.02 + 0.002 * ((7 * i) % 40);
      const double noise = 1.2 + 0.02 * i;
      pairs.push_back({{q, noise, adjacency}, 5});
      const DirectedProfiles both = ProfilesFor(PoissonSampled{q, MechanismEvent(Gaussian{noise})});
      profiles.push_back({adjacency == Adjacency::kRemove ? both.remove : both.add, 5});
    }
    ContourComposition contour(pairs, Bounds{0, 0});
    DirectedComposition lattice(profiles);
    const Bounds a = contour.Epsilon(-11.5, Precision{});
    const Bounds b = lattice.Epsilon(-11.5, Precision{});
    EXPECT_LE(a.lower, b.upper);
    EXPECT_LE(b.lower, a.upper);
    EXPECT_LE(a.upper - a.lower, 1e-3 * a.upper);
    EXPECT_LE(b.upper - b.lower, 1e-3 * b.upper);
  }
}

TEST(DirectedCompositionTest, OneMoreStepEqualsStartingWithOneMore) {
  const SampledGaussianRow row{.02, 1.1, 500, true, 1e-6, 0, 0, 0};
  SampledGaussianRow longer = row;
  longer.count = 501;
  for (const Adjacency adjacency : kBoth) {
    DirectedComposition grown = OnLattice(row, adjacency);
    grown.Epsilon(std::log(1e-6), Precision{});
    grown.Add(0, 1);
    const Bounds warm = grown.Epsilon(std::log(1e-6), Precision{});
    const Bounds cold = OnLattice(longer, adjacency).Epsilon(std::log(1e-6), Precision{});
    EXPECT_LE(warm.lower, cold.upper);
    EXPECT_LE(cold.lower, warm.upper);
    EXPECT_LE(warm.upper - warm.lower, 1e-3 * warm.upper);
  }
}

TEST(DirectedCompositionTest, NothingComposesToNothing) {
  const DirectedProfiles pure = ProfilesFor(PureDp{0});
  DirectedComposition composition({{pure.remove, 1000}});
  EXPECT_EQ(composition.Epsilon(-20, Precision{}).upper, 0);
  EXPECT_EQ(composition.LogDelta(0.1, Precision{}).upper, -std::numeric_limits<double>::infinity());
}

TEST(DirectedCompositionTest, PureLossesEndAtTheirSum) {
  const DirectedProfiles pure = ProfilesFor(PureDp{0.25});
  DirectedComposition composition({{pure.remove, 8}});
  // Far below the smallest probability of all: epsilon is the sum, and delta 0 beyond it.
  EXPECT_NEAR(composition.Epsilon(-5000, Precision{}).upper, 2, 1e-14);
  EXPECT_NEAR(composition.Epsilon(-60, Precision{}).upper, 2, 1e-5);
  EXPECT_LE(composition.LogDelta(2.001, Precision{}).upper, -600);
}

TEST(DirectedCompositionTest, InfinityMassIsCountedOnceForEachUse) {
  const DirectedProfiles claimed = ProfilesFor(ApproximateDp{0, 1e-6});
  DirectedComposition composition({{claimed.remove, 1000}});
  const double exact = std::log(-std::expm1(1000 * std::log1p(-1e-6)));
  const Bounds log_delta = composition.LogDelta(0.5, Precision{});
  EXPECT_GE(log_delta.upper, exact - 1e-14);
  EXPECT_LE(log_delta.lower, exact + 1e-14);
  EXPECT_NEAR(log_delta.upper, exact, 1e-9);
  EXPECT_NEAR(log_delta.lower, exact, 1e-9);
  EXPECT_EQ(composition.Epsilon(std::log(1e-4), Precision{}).upper,
            std::numeric_limits<double>::infinity());
}

// The answer is the larger of two directions: what is known to be the smaller one need not be known
// well, and costs less.
TEST(DirectedComposition, WhatAnotherDirectionExceedsStaysABoundAndIsNotNarrowed) {
  for (const double count : {2.0, 20.0}) {
    const SampledGaussianRow row{.001, .7, count, true, 1e-5, 0, 0, 0};
    const double log_delta = std::log(1e-5);
    DirectedComposition remove = OnLattice(row, Adjacency::kRemove);
    const Bounds larger = remove.Epsilon(log_delta, Precision{});
    DirectedComposition add = OnLattice(row, Adjacency::kAdd);
    const Bounds known = add.Epsilon(log_delta, Precision{});
    ASSERT_LT(known.upper, larger.lower);
    DirectedComposition rough = OnLattice(row, Adjacency::kAdd);
    Precision precision;
    precision.exceeded_epsilon = larger.lower;
    const Bounds enough = rough.Epsilon(log_delta, precision);
    EXPECT_LE(enough.upper, larger.lower);
    EXPECT_GE(enough.upper, known.lower);
    EXPECT_LE(enough.lower, known.upper);
    EXPECT_LT(rough.work(), add.work() / 3);

    const double at = larger.upper;
    const Bounds larger_delta = remove.LogDelta(at, Precision{});
    const Bounds known_delta = OnLattice(row, Adjacency::kAdd).LogDelta(at, Precision{});
    precision.exceeded_log_delta = larger_delta.lower;
    const Bounds enough_delta = OnLattice(row, Adjacency::kAdd).LogDelta(at, precision);
    EXPECT_LE(enough_delta.upper, larger_delta.lower);
    EXPECT_GE(enough_delta.upper, known_delta.lower);
    EXPECT_LE(enough_delta.lower, known_delta.upper);
  }
}

// Losses of 1/2 and 1/4 add up without rounding.
TEST(DirectedComposition, IsExactlyZeroFromTheEndOfABoundedSupportOn) {
  const MechanismEvent half = Laplace{2};
  const MechanismEvent quarter = ExponentialMechanism{.25};
  DirectedComposition two({{ProfilesFor(half).remove, 2}});
  EXPECT_EQ(two.SumOfLargestLosses(), 1);
  EXPECT_EQ(two.LogDelta(1, Precision{}).upper, -std::numeric_limits<double>::infinity());
  EXPECT_EQ(two.LogDelta(3, Precision{}).upper, -std::numeric_limits<double>::infinity());
  DirectedComposition mixed({{ProfilesFor(half).remove, 3}, {ProfilesFor(quarter).remove, 2}});
  EXPECT_EQ(mixed.SumOfLargestLosses(), 2);
  EXPECT_EQ(mixed.LogDelta(2, Precision{}).upper, -std::numeric_limits<double>::infinity());
  // 3 * (1/3) is rounded, and so is the sum of losses.
  const MechanismEvent third = Laplace{3};
  EXPECT_GT(DirectedComposition({{ProfilesFor(third).remove, 3}}).SumOfLargestLosses(), 1);
}

// delta <= 1 - e^{epsilon - largest loss}, closer to the end than a lattice can tell.
TEST(DirectedComposition, FallsToZeroAtTheEndOfABoundedSupport) {
  const MechanismEvent sampled = PoissonSampled{.1, MechanismEvent(Laplace{.5})};
  DirectedComposition composition({{ProfilesFor(sampled).remove, 2}});
  const double end = 2 * std::log1p(.1 * std::expm1(2));
  Precision precision;
  precision.max_work = 0x1p18;
  for (const double gap : {1e-6, 1e-9, 1e-12}) {
    EXPECT_LE(composition.LogDelta(end - gap, precision).upper, std::log(gap + 1e-13));
  }
}

// What is known from above only has no bracket that closes: until 2026-11 all of the work was
// spent.
TEST(DirectedComposition, StopsWhereAnUpperBoundHasSettled) {
  for (const MechanismEvent& event :
       {MechanismEvent(Zcdp{.1, 0}),
        MechanismEvent(PoissonSampled{.01, MechanismEvent(Zcdp{.1, 0})}),
        MechanismEvent(ExponentialMechanism{.7})}) {
    for (const double count : {2.0, 20.0, 1000.0}) {
      const std::vector<CountedProfile> profiles = {{ProfilesFor(event).remove, count}};
      DirectedComposition settled(profiles);
      const double upper = settled.Epsilon(std::log(1e-6), Precision{}).upper;
      EXPECT_LT(settled.work(), 0x1p20) << Describe(event) << " " << count;
      Precision fine;
      fine.relative_width = 1e-5;
      const double finer = DirectedComposition(profiles).Epsilon(std::log(1e-6), fine).upper;
      // The tails that a finer question follows further are heavy for samples of zcdp.
      const double tail = event.As<PoissonSampled>() != nullptr ? 0.03 : 1e-3;
      EXPECT_LE(upper, finer * (1 + tail)) << Describe(event) << " " << count;
    }
  }
}

// 50 uses of Laplace noise of multiplier 1/2, by a convolution on grids of 2e-3, 1e-3 and 5e-4 that
// agree to 1e-6. Until 2026-11: [7.4, 100] at 1 - 1e-6.
TEST(DirectedComposition, IsTightWhereDeltaIsNearOne) {
  const DirectedProfiles laplace = ProfilesFor(Laplace{.5});
  for (const auto& [rest, truth] : {std::pair{1e-4, 18.761670}, {1e-6, 7.466431}}) {
    DirectedComposition composition({{laplace.remove, 50}});
    const Bounds epsilon = composition.Epsilon(std::log1p(-rest), Precision{});
    EXPECT_LE(epsilon.lower, truth + 2e-6) << rest;
    EXPECT_GE(epsilon.upper, truth - 2e-6) << rest;
    EXPECT_LE(epsilon.upper - epsilon.lower, 1e-3 * epsilon.upper) << rest;
  }
  // delta(0) of ten Gaussians of noise 2 is 2 Phi(sqrt(10)/4) - 1 = .571, and samples have less.
  DirectedComposition sampled(
      {{ProfilesFor(PoissonSampled{.5, MechanismEvent(Gaussian{2})}).remove, 10}});
  for (const double rest : {1e-3, 1e-6, 1e-12}) {
    EXPECT_EQ(sampled.Epsilon(std::log1p(-rest), Precision{}).upper, 0) << rest;
    EXPECT_LT(sampled.work(), 0x1p20);
  }
}

}  // namespace
}  // namespace epsledger::accounting
