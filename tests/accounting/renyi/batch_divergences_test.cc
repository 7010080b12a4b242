// Divergences of releases on batches of a fixed size and on truncated ones, held against every pair
// of neighbors of a few records.

#include <cmath>

#include "accounting/renyi/divergences.h"
#include "accounting/renyi/poisson_sampled.h"
#include "accounting/renyi/sampled_gaussian.h"
#include "gtest/gtest.h"
#include "tests/accounting/profile/batch_laws.h"

namespace epsledger::accounting {
namespace {

constexpr double kBatchOrders[] = {1.3, 2.0, 3.7, 8.0};
// The error of a sum over the grid: Laplace densities have a kink.
constexpr double kGridSlack = 3e-5;
constexpr NeighboringRelation kBatchRelations[] = {NeighboringRelation::kAddOrRemoveOne,
                                                   NeighboringRelation::kReplaceOne,
                                                   NeighboringRelation::kReplaceSpecial};

Setting Of(NeighboringRelation relation) {
  Setting setting;
  setting.relation = relation;
  return setting;
}

absl::StatusOr<RenyiDivergences> Divergences(const MechanismEvent& event, const Setting& setting) {
  return RenyiDivergences::Create({{&event, 1}}, setting, Accountant::kRenyi, 1);
}

using LawOf = std::function<SumLaw(const Contributions& data)>;

void ExpectAboveEveryPair(const MechanismEvent& event, NeighboringRelation relation,
                          const LawOf& law_of, const Density& density, double reach) {
  Setting setting = Of(relation);
  const auto both = Divergences(event, setting);
  ASSERT_TRUE(both.ok()) << both.status();
  setting.adjacency = Adjacency::kRemove;
  const auto remove = Divergences(event, setting);
  setting.adjacency = Adjacency::kAdd;
  const auto add = Divergences(event, setting);
  ASSERT_TRUE(remove.ok() && add.ok());
  const bool absent = relation == NeighboringRelation::kAddOrRemoveOne;
  const Contributions instead =
      relation == NeighboringRelation::kReplaceOne ? Contributions{-1, 0, 0.4} : Contributions{0};
  for (const Contributions& others : SomeOthers(3)) {
    Contributions with = others;
    with.push_back(1);
    const std::vector<double> p = OnGrid(law_of(with), density, reach);
    for (const Contributions& neighbor : NeighborsOf(others, absent, instead)) {
      const std::vector<double> q = OnGrid(law_of(neighbor), density, reach);
      for (const double order : kBatchOrders) {
        const double one = RenyiOf(p, q, order);
        const double other = RenyiOf(q, p, order);
        EXPECT_LE(one, remove->Divergence(order) * (1 + kGridSlack)) << order;
        EXPECT_LE(other, add->Divergence(order) * (1 + kGridSlack)) << order;
        EXPECT_LE(std::max(one, other), both->Divergence(order) * (1 + kGridSlack)) << order;
      }
    }
  }
}

TEST(BatchDivergences, AreAboveEveryPairOfNeighbors) {
  const struct {
    MechanismEvent event;
    Density density;
    double reach;
  } noises[] = {{Gaussian{1.5}, NormalDensity(1.5), 24}, {Laplace{2}, LaplaceDensity(2), 40}};
  for (const auto& noise : noises) {
    for (const NeighboringRelation relation : kBatchRelations) {
      for (const double q : {0.3, 0.8, 1.0}) {
        for (const int capacity : {1, 2, 3}) {
          ExpectAboveEveryPair(
              TruncatedPoissonSampled{q, capacity, 4, NestedEvent(noise.event)}, relation,
              [&](const Contributions& data) { return TruncatedPoissonLaw(data, q, capacity); },
              noise.density, noise.reach);
        }
      }
      const bool laplace = noise.event.As<Laplace>() != nullptr;
      if (laplace && relation == NeighboringRelation::kReplaceOne) continue;
      for (const int size : {1, 2, 4}) {
        ExpectAboveEveryPair(
            SampledWithoutReplacement{4, size, NestedEvent(noise.event)}, relation,
            [&](const Contributions& data) { return WithoutReplacementLaw(data, size); },
            noise.density, noise.reach);
      }
    }
  }
}

// All others contribute the opposite of the record.
TEST(BatchDivergences, OfAFixedSizeAreAttainedWhereARecordIsAddedOrRemoved) {
  const MechanismEvent event = SampledWithoutReplacement{4, 2, MechanismEvent(Gaussian{1.5})};
  const auto p = OnGrid(WithoutReplacementLaw({-1, -1, -1, 1}, 2), NormalDensity(1.5), 30);
  const auto q = OnGrid(WithoutReplacementLaw({-1, -1, -1}, 2), NormalDensity(1.5), 30);
  Setting setting;
  for (const double order : kBatchOrders) {
    setting.adjacency = Adjacency::kRemove;
    EXPECT_NEAR(Divergences(event, setting)->Divergence(order) / RenyiOf(p, q, order), 1, 1e-6);
    setting.adjacency = Adjacency::kAdd;
    EXPECT_NEAR(Divergences(event, setting)->Divergence(order) / RenyiOf(q, p, order), 1, 1e-6);
  }
}

TEST(BatchDivergences, AreThoseOfPoissonSamplingWhereBatchesAreHardlyCut) {
  for (const NeighboringRelation relation : kBatchRelations) {
    const MechanismEvent plain = PoissonSampled{0.1, MechanismEvent(Gaussian{1})};
    const MechanismEvent cut = TruncatedPoissonSampled{0.1, 90, 100, MechanismEvent(Gaussian{1})};
    for (const double order : kBatchOrders) {
      EXPECT_NEAR(Divergences(cut, Of(relation))->Divergence(order) /
                      Divergences(plain, Of(relation))->Divergence(order),
                  1, 1e-9);
    }
  }
}

TEST(MixtureRenyi, IsTheLogarithmOfTheMixedMoments) {
  for (const double order : {1.5, 2.0, 10.0}) {
    for (const double w : {0.0, 0x1p-30, 0.25, 1.0}) {
      const double truth =
          std::log((1 - w) * std::exp((order - 1) * 0.2) + w * std::exp((order - 1) * 3)) /
          (order - 1);
      EXPECT_NEAR(MixtureRenyi(order, 0.2, 3, {w, w}), truth, 1e-13) << order << " " << w;
      EXPECT_NEAR(MixtureRenyi(order, 3, 0.2, {1 - w, 1 - w}), truth, 1e-13) << order << " " << w;
      EXPECT_GE(MixtureRenyi(order, 0.2, 3, {w, w}), truth * (1 - 1e-15));
    }
    EXPECT_EQ(MixtureRenyi(order, 0, 0, {0.5, 0.5}), 0);
    EXPECT_NEAR(MixtureRenyi(order, 1e-18, 0, {0.5, 0.5}), 5e-19, 1e-30);
    // If the weights are not known exactly, the worse one counts.
    EXPECT_EQ(MixtureRenyi(order, 1, 2, {0.2, 0.4}), MixtureRenyi(order, 1, 2, {0.4, 0.4}));
    EXPECT_EQ(MixtureRenyi(order, 2, 1, {0.2, 0.4}), MixtureRenyi(order, 2, 1, {0.2, 0.2}));
    EXPECT_EQ(MixtureRenyi(order, 1, INFINITY, {0.2, 0.4}), INFINITY);
  }
}

}  // namespace
}  // namespace epsledger::accounting
