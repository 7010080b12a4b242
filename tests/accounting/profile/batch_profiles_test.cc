#include "accounting/profile/batch_profiles.h"

#include <cmath>

#include "accounting/profile/profiles_of.h"
#include "gtest/gtest.h"
#include "tests/accounting/profile/batch_laws.h"
#include "tests/accounting/profile/profile_checks.h"

namespace epsledger::accounting {
namespace {

constexpr double kBatchEpsilons[] = {-1.5, -0.3, -0.05, 0, 0.05, 0.3, 1.5};
constexpr NeighboringRelation kBatchRelations[] = {NeighboringRelation::kAddOrRemoveOne,
                                                   NeighboringRelation::kReplaceOne,
                                                   NeighboringRelation::kReplaceSpecial};

absl::StatusOr<DirectedProfiles> Batches(const MechanismEvent& event, NeighboringRelation relation,
                                         int64_t group_size = 1) {
  Setting setting;
  setting.relation = relation;
  return ProfilesOf(event, setting, group_size, Accountant::kPld);
}

double Upper(const PrivacyProfile& profile, double epsilon) {
  return std::exp(profile.LogDelta(epsilon).upper);
}

using LawOf = std::function<SumLaw(const Contributions& data)>;

// Expects that no pair of neighbors of `count` others has more than the profiles, in either order.
// The sums of both have the same noise.
void ExpectAboveEveryPair(const DirectedProfiles& profiles, NeighboringRelation relation, int count,
                          const LawOf& law_of, const Density& density, double reach) {
  const bool absent = relation == NeighboringRelation::kAddOrRemoveOne;
  const Contributions instead =
      relation == NeighboringRelation::kReplaceOne ? Contributions{-1, 0, 0.4} : Contributions{0};
  for (const Contributions& others : SomeOthers(count)) {
    Contributions with = others;
    with.push_back(1);
    const std::vector<double> p = OnGrid(law_of(with), density, reach);
    for (const Contributions& neighbor : NeighborsOf(others, absent, instead)) {
      const std::vector<double> q = OnGrid(law_of(neighbor), density, reach);
      for (const double epsilon : kBatchEpsilons) {
        const double slack = 1e-5;  // of the sum over the grid
        EXPECT_LE(DeltaOf(p, q, epsilon), Upper(*profiles.remove, epsilon) + slack)
            << epsilon << " " << static_cast<int>(relation);
        EXPECT_LE(DeltaOf(q, p, epsilon), Upper(*profiles.add, epsilon) + slack)
            << epsilon << " " << static_cast<int>(relation);
      }
    }
  }
}

struct Noise {
  MechanismEvent event;
  Density density;
  double reach;
};
std::vector<Noise> Noises() {
  return {{Gaussian{1.5}, NormalDensity(1.5), 18}, {Laplace{2}, LaplaceDensity(2), 30}};
}

TEST(TruncatedPoissonSampledProfiles, AreAboveEveryPairOfNeighbors) {
  for (const Noise& noise : Noises()) {
    for (const NeighboringRelation relation : kBatchRelations) {
      for (const double q : {0.3, 0.8}) {
        for (const int capacity : {1, 2, 3}) {
          // Three others; the event names the larger data set, or the smaller one.
          for (const int64_t size : {4, 3}) {
            if (size == 3 && relation != NeighboringRelation::kAddOrRemoveOne) continue;
            const auto profiles = Batches(
                TruncatedPoissonSampled{q, capacity, size, NestedEvent(noise.event)}, relation);
            ASSERT_TRUE(profiles.ok()) << profiles.status();
            ExpectAboveEveryPair(
                *profiles, relation, 3,
                [&](const Contributions& data) { return TruncatedPoissonLaw(data, q, capacity); },
                noise.density, noise.reach);
          }
        }
      }
    }
  }
}

TEST(SampledWithoutReplacementProfiles, AreAboveEveryPairOfNeighbors) {
  for (const Noise& noise : Noises()) {
    for (const NeighboringRelation relation : kBatchRelations) {
      for (const int size : {1, 2, 3, 4}) {
        for (const int64_t data_size : {4, 3}) {
          if (data_size < size) continue;
          if (data_size == 3 && relation != NeighboringRelation::kAddOrRemoveOne) continue;
          const auto profiles = Batches(
              SampledWithoutReplacement{data_size, size, NestedEvent(noise.event)}, relation);
          ASSERT_TRUE(profiles.ok()) << profiles.status();
          ExpectAboveEveryPair(
              *profiles, relation, 3,
              [&](const Contributions& data) { return WithoutReplacementLaw(data, size); },
              noise.density, noise.reach);
        }
      }
    }
  }
}

TEST(SampledWithReplacementProfiles, AreAboveEveryPairOfNeighbors) {
  for (const Noise& noise : Noises()) {
    for (const NeighboringRelation relation : kBatchRelations) {
      for (const int draws : {1, 2, 5}) {
        for (const int64_t data_size : {4, 3}) {
          if (data_size == 3 && relation != NeighboringRelation::kAddOrRemoveOne) continue;
          const auto profiles =
              Batches(SampledWithReplacement{data_size, draws, NestedEvent(noise.event)}, relation);
          ASSERT_TRUE(profiles.ok()) << profiles.status();
          ExpectAboveEveryPair(
              *profiles, relation, 3,
              [&](const Contributions& data) { return WithReplacementLaw(data, draws); },
              noise.density, noise.reach + 4);
        }
      }
    }
  }
}

// All others contribute the opposite of the record: it takes their place, and moves the sum by 2.
TEST(SampledWithoutReplacementProfiles, AreAttainedWhereARecordIsAddedOrRemoved) {
  for (const Noise& noise : Noises()) {
    const auto profiles = Batches(SampledWithoutReplacement{4, 2, NestedEvent(noise.event)},
                                  NeighboringRelation::kAddOrRemoveOne);
    ASSERT_TRUE(profiles.ok());
    EXPECT_EQ(profiles->remove->exact(), noise.event.As<Gaussian>() != nullptr);
    const auto p = OnGrid(WithoutReplacementLaw({-1, -1, -1, 1}, 2), noise.density, noise.reach);
    const auto q = OnGrid(WithoutReplacementLaw({-1, -1, -1}, 2), noise.density, noise.reach);
    for (const double epsilon : kBatchEpsilons) {
      EXPECT_NEAR(Upper(*profiles->remove, epsilon), DeltaOf(p, q, epsilon), 1e-5);
      EXPECT_NEAR(Upper(*profiles->add, epsilon), DeltaOf(q, p, epsilon), 1e-5);
    }
  }
}

// A record that replaces nothing else: m draws of n equal records, of which one becomes another.
TEST(SampledWithReplacementProfiles, AreAttainedByOneDraw) {
  for (const NeighboringRelation relation : kBatchRelations) {
    const auto one = Batches(SampledWithReplacement{7, 1, MechanismEvent(Gaussian{1})}, relation);
    const auto subset =
        Batches(SampledWithoutReplacement{7, 1, MechanismEvent(Gaussian{1})}, relation);
    ASSERT_TRUE(one.ok() && subset.ok());
    for (const double epsilon : kBatchEpsilons) {
      EXPECT_NEAR(Upper(*one->remove, epsilon), Upper(*subset->remove, epsilon), 1e-12);
      EXPECT_NEAR(Upper(*one->add, epsilon), Upper(*subset->add, epsilon), 1e-12);
    }
  }
}

// Under add-or-remove-one the Gaussian pair is the mixture of its numbers of draws: all others
// contribute the opposite.
TEST(SampledWithReplacementProfiles, AreAttainedByGaussiansWhereARecordIsAddedOrRemoved) {
  const auto profiles = Batches(SampledWithReplacement{4, 3, MechanismEvent(Gaussian{1.5})},
                                NeighboringRelation::kAddOrRemoveOne);
  ASSERT_TRUE(profiles.ok());
  EXPECT_TRUE(profiles->remove->exact());
  const auto p = OnGrid(WithReplacementLaw({-1, -1, -1, 1}, 3), NormalDensity(1.5), 20);
  const auto q = OnGrid(WithReplacementLaw({-1, -1, -1}, 3), NormalDensity(1.5), 20);
  for (const double epsilon : kBatchEpsilons) {
    EXPECT_NEAR(Upper(*profiles->remove, epsilon), DeltaOf(p, q, epsilon), 1e-5);
    EXPECT_NEAR(Upper(*profiles->add, epsilon), DeltaOf(q, p, epsilon), 1e-5);
  }
}

// delta'(log(1 + q (e^epsilon - 1))) = sum_j P[J = j] delta_j(epsilon), delta_j of a group of j.
TEST(SampledWithReplacementProfiles, AreTheTheoremOfTheBinomialGroups) {
  const double n = 20;
  const int m = 8;
  const double q = 1 - std::pow(1 - 1 / n, m);
  Setting replace;
  replace.relation = NeighboringRelation::kReplaceOne;
  for (const MechanismEvent& inner :
       {MechanismEvent(Gaussian{2}), MechanismEvent(Laplace{3}), MechanismEvent(PureDp{0.3}),
        MechanismEvent(DiscreteLaplace{0.2, 1})}) {
    const auto sampled = Batches(SampledWithReplacement{20, m, NestedEvent(inner)},
                                 NeighboringRelation::kReplaceOne);
    ASSERT_TRUE(sampled.ok()) << sampled.status();
    for (const double epsilon : {0.0, 0.2, 1.0, 3.0}) {
      double expected = 0;
      double mass = std::pow(1 - 1 / n, m);
      for (int j = 1; j <= m; ++j) {
        mass *= (m - j + 1.0) / j / (n - 1);
        expected += mass * Upper(*ProfilesOf(inner, replace, j, Accountant::kPld)->remove, epsilon);
      }
      const double outer = std::log1p(q * std::expm1(epsilon));
      EXPECT_NEAR(Upper(*sampled->remove, outer), expected, 1e-9 * expected + 1e-300) << epsilon;
    }
  }
}

TEST(TruncatedPoissonSampledProfiles, AreThoseOfPoissonSamplingWhereNoBatchIsCut) {
  const MechanismEvent inner = Gaussian{1};
  for (const NeighboringRelation relation : kBatchRelations) {
    const auto plain = Batches(PoissonSampled{0.1, NestedEvent(inner)}, relation);
    const auto whole = Batches(TruncatedPoissonSampled{0.1, 51, 50, NestedEvent(inner)}, relation);
    const auto rare = Batches(TruncatedPoissonSampled{0.1, 40, 50, NestedEvent(inner)}, relation);
    ASSERT_TRUE(plain.ok() && whole.ok() && rare.ok());
    EXPECT_TRUE(whole->remove->exact());
    EXPECT_FALSE(rare->remove->exact());
    for (const double epsilon : kBatchEpsilons) {
      EXPECT_EQ(whole->remove->LogDelta(epsilon).upper, plain->remove->LogDelta(epsilon).upper);
      EXPECT_NEAR(Upper(*rare->remove, epsilon), Upper(*plain->remove, epsilon), 1e-12);
      EXPECT_NEAR(Upper(*rare->add, epsilon), Upper(*plain->add, epsilon), 1e-12);
    }
  }
}

// If every record is drawn, every batch holds max_batch_size records.
TEST(TruncatedPoissonSampledProfiles, AreThoseOfAFixedSizeWhereEveryRecordIsDrawn) {
  const MechanismEvent inner = Gaussian{1};
  const auto cut = Batches(TruncatedPoissonSampled{1, 5, 50, NestedEvent(inner)},
                           NeighboringRelation::kReplaceOne);
  const auto fixed = Batches(SampledWithoutReplacement{50, 5, NestedEvent(inner)},
                             NeighboringRelation::kReplaceOne);
  ASSERT_TRUE(cut.ok() && fixed.ok());
  for (const double epsilon : kBatchEpsilons) {
    EXPECT_NEAR(cut->remove->LogDelta(epsilon).upper, fixed->remove->LogDelta(epsilon).upper,
                1e-12);
  }
}

TEST(BatchProfiles, SatisfyTheLaws) {
  const std::vector<double> epsilons = {-30, -3, -1, -0.1, -1e-3, 0, 1e-3, 0.1, 0.5, 1, 3, 30};
  const std::vector<MechanismEvent> inner = {Gaussian{1.5},
                                             GaussianDp{0.7},
                                             TreeAggregation{4, 100},
                                             Laplace{2},
                                             DiscreteLaplace{0.3, 2},
                                             DiscreteGaussian{3, 2},
                                             PureDp{0.5},
                                             ApproximateDp{0.5, 1e-5},
                                             ExponentialMechanism{0.8},
                                             PermuteAndFlip{0.8},
                                             Zcdp{0.1, 0}};
  for (const MechanismEvent& event : inner) {
    for (const NeighboringRelation relation : kBatchRelations) {
      for (const MechanismEvent& sampled :
           {MechanismEvent(SampledWithoutReplacement{100, 10, NestedEvent(event)}),
            MechanismEvent(SampledWithReplacement{100, 10, NestedEvent(event)}),
            MechanismEvent(TruncatedPoissonSampled{0.1, 12, 100, NestedEvent(event)})}) {
        const auto profiles = Batches(sampled, relation);
        if (!profiles.ok()) {
          // Promised for replaced records, and nothing said of one that is left out.
          EXPECT_EQ(relation, NeighboringRelation::kReplaceOne) << Describe(sampled);
          EXPECT_NE(sampled.As<TruncatedPoissonSampled>(), nullptr) << Describe(sampled);
          continue;
        }
        const std::string name = Describe(sampled);
        ExpectConsistent(*profiles->remove, epsilons, name.c_str());
        ExpectConsistent(*profiles->add, epsilons, name.c_str());
      }
    }
  }
}

TEST(BatchProfiles, AreRefusedWhereNothingIsProved) {
  const MechanismEvent nested = PoissonSampled{0.5, MechanismEvent(Gaussian{1})};
  const MechanismEvent curve = TradeOffCurve{{0, 0.25, 1}, {0.9, 0.5, 0}};
  const NestedEvent gaussian{MechanismEvent(Gaussian{1})};
  constexpr auto kUnimplemented = absl::StatusCode::kUnimplemented;
  for (const MechanismEvent& event : {nested, curve}) {
    for (const MechanismEvent& sampled :
         {MechanismEvent(SampledWithoutReplacement{100, 10, NestedEvent(event)}),
          MechanismEvent(SampledWithReplacement{100, 10, NestedEvent(event)}),
          MechanismEvent(TruncatedPoissonSampled{0.1, 12, 100, NestedEvent(event)})}) {
      EXPECT_EQ(Batches(sampled, NeighboringRelation::kAddOrRemoveOne).status().code(),
                kUnimplemented)
          << Describe(sampled);
    }
  }
  EXPECT_EQ(Batches(SampledWithReplacement{10, 201, gaussian}, NeighboringRelation::kReplaceOne)
                .status()
                .code(),
            kUnimplemented);
  for (const MechanismEvent& sampled :
       {MechanismEvent(SampledWithoutReplacement{100, 10, gaussian}),
        MechanismEvent(SampledWithReplacement{100, 10, gaussian}),
        MechanismEvent(TruncatedPoissonSampled{0.1, 12, 100, gaussian})}) {
    for (const NeighboringRelation relation : kBatchRelations) {
      EXPECT_EQ(Batches(sampled, relation, 2).status().code(), kUnimplemented);
    }
  }
}

// Noise that is stated for replaced records moves a sum by 1, not by 2, where one takes the place
// of another.
TEST(BatchProfiles, ReadTheNoiseAsItIsStated) {
  Setting stated;
  stated.sensitivity_relation = SensitivityRelation::kReplaceOne;
  const auto profiles = ProfilesOf(SampledWithoutReplacement{4, 1, MechanismEvent(Gaussian{1})},
                                   stated, 1, Accountant::kPld);
  const auto poisson =
      ProfilesOf(PoissonSampled{0.25, MechanismEvent(Gaussian{1})}, stated, 1, Accountant::kPld);
  ASSERT_TRUE(profiles.ok() && poisson.ok());
  for (const double epsilon : kBatchEpsilons) {
    EXPECT_NEAR(profiles->remove->LogDelta(epsilon).upper, poisson->remove->LogDelta(epsilon).upper,
                1e-12);
  }
}

}  // namespace
}  // namespace epsledger::accounting
