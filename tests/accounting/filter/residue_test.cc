#include "accounting/filter/residue.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iterator>
#include <random>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

#include "accounting/answer.h"
#include "accounting/profile/profiles_of.h"
#include "tests/accounting/filter/event_pricer.h"
#include "tests/accounting/filter/residue_game.h"

namespace epsledger::accounting {
namespace {

constexpr NeighboringRelation kNeighbors = NeighboringRelation::kAddOrRemoveOne;

MechanismEvent Sampled(double q, double z) {
  return PoissonSampled{q, MechanismEvent(Gaussian{z})};
}

double EpsilonByPld(const MechanismEvent& event, int64_t count, double delta) {
  Question question;
  question.accountant = Accountant::kPld;
  question.events = {{event, count}};
  question.query = EpsilonAtDelta::FromDelta(delta);
  return *Answer(question)->lower;
}

// Steps that PLD proves at delta 1e-5: pessimistic counts of dp_accounting 0.6, within .5 %.
TEST(MakeReference, AdmitsWhatPrivacyLossDistributionsProve) {
  struct Row {
    double q, z, epsilon;
    int64_t pld;
  };
  for (const Row& row : {Row{.01, 1.1, 1, 420}, Row{.01, 1.1, 3, 3712}, Row{.01, .8, 2, 287},
                         Row{.05, 2, 2, 321}, Row{.2, 4, 3, 191}}) {
    const absl::StatusOr<Reference> reference =
        MakeReference(Sampled(row.q, row.z), kNeighbors, row.epsilon, 1e-5);
    ASSERT_TRUE(reference.ok()) << reference.status();
    EXPECT_GE(static_cast<double>(reference->units), 0.985 * static_cast<double>(row.pld));
    // And no more than is true: a lower bound of another route, on what so many steps spend.
    EXPECT_LE(EpsilonByPld(Sampled(row.q, row.z), reference->units, 1e-5), row.epsilon);
    EXPECT_GT(reference->slack, 0);
    EXPECT_TRUE(IsLossPair(reference->pair));
  }
}

TEST(MakeReference, SaysWhyAnEventIsNone) {
  EXPECT_EQ(MakeReference(NonPrivate{"x"}, kNeighbors, 1, 1e-5).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(
      MakeReference(Composed{{{MechanismEvent(Gaussian{1}), 1}, {MechanismEvent(Laplace{1}), 1}}},
                    kNeighbors, 1, 1e-5)
          .status()
          .code(),
      absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(MakeReference(Gaussian{.5}, kNeighbors, 1, 1e-5).status().code(),
            absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(MakeReference(RandomizedResponse{.5, 4}, kNeighbors, 1, 1e-5).status().code(),
            absl::StatusCode::kUnimplemented);
}

// A computation that nobody waits for ends at the next place where it asks, wherever it is, and
// never with an answer.
template <class Compute>
void ExpectEndsWhenAbandoned(const Compute& compute) {
  int asked = 0;
  ASSERT_TRUE(compute([&] { return ++asked < 0; }).ok());
  ASSERT_GE(asked, 3);
  for (const int last : {1, 2, asked / 2, asked - 1, asked}) {
    int times = 0;
    EXPECT_EQ(compute([&] { return ++times >= last; }).status().code(),
              absl::StatusCode::kCancelled)
        << last;
  }
}

TEST(MakeReference, EndsWhenNobodyWaits) {
  ExpectEndsWhenAbandoned([](absl::FunctionRef<bool()> abandoned) {
    return MakeReference(Sampled(.05, 2), kNeighbors, 2, 1e-5, abandoned);
  });
  ExpectEndsWhenAbandoned([](absl::FunctionRef<bool()> abandoned) {
    return MakeReferenceOfUnits(Sampled(.05, 2), kNeighbors, 100, 1e-5, abandoned);
  });
  const Reference small = *MakeReference(Sampled(.05, 2), kNeighbors, 1, 1e-5);
  ExpectEndsWhenAbandoned(
      [&](absl::FunctionRef<bool()> abandoned) { return WithCap(small, 2, 1e-5, abandoned); });
}

TEST(WithCap, KeepsThePairAndTheSlackOfAUnit) {
  const Reference small = *MakeReference(Sampled(.05, 2), kNeighbors, 1, 1e-5);
  const Reference large = *WithCap(small, 2, 1e-5);
  EXPECT_EQ(large.pair.masses, small.pair.masses);
  EXPECT_GT(large.units, small.units);
  EXPECT_NEAR(large.slack / static_cast<double>(large.units),
              small.slack / static_cast<double>(small.units), 1e-12 * small.slack);
  EXPECT_EQ(WithCap(small, 1e-4, 1e-5).status().code(), absl::StatusCode::kFailedPrecondition);
}

// As tight far from the smallest delta as near it, also where the truth is 0.
TEST(EpsilonOfUnits, IsCloseToTheTruthAtEveryDelta) {
  const MechanismEvent event = Sampled(.01, 1.1);
  constexpr double kDeltas[] = {1e-6, 1e-4, 1e-3, 1e-2, 1e-1};
  double of_fewer_units[std::size(kDeltas)] = {};
  for (const int64_t units : {10, 100}) {
    const absl::StatusOr<Reference> reference =
        MakeReferenceOfUnits(event, kNeighbors, units, kDeltas[0], [] { return false; });
    ASSERT_TRUE(reference.ok()) << reference.status();
    for (size_t i = 0; i < std::size(kDeltas); ++i) {
      const double epsilon = EpsilonOfUnits(*reference, kDeltas[i]);
      const double truth = EpsilonByPld(event, units, kDeltas[i]);
      EXPECT_GE(epsilon, truth) << units << " " << kDeltas[i];
      EXPECT_LE(epsilon, 1.01 * truth + 1e-4) << units << " " << kDeltas[i];
      EXPECT_GE(epsilon, of_fewer_units[i]) << units << " " << kDeltas[i];
      of_fewer_units[i] = epsilon;
    }
  }
}

class ResiduePricerTest : public testing::Test {
 protected:
  const Reference reference_ = *MakeReference(Sampled(.05, 2), kNeighbors, 2, 1e-5);
  EventPricer pricer_{reference_};

  int64_t Price(const MechanismEvent& event, int64_t count, int64_t level) {
    const absl::StatusOr<UnitPrice> price = pricer_.PriceOf(event, kNeighbors, count, level);
    EXPECT_TRUE(price.ok()) << price.status();
    return price.ok() ? price->units : -1;
  }
};

TEST_F(ResiduePricerTest, TheReferenceCostsOneUnitAtEveryLevel) {
  for (const int64_t level : {reference_.units, reference_.units / 2, int64_t{2}, int64_t{1}}) {
    EXPECT_EQ(Price(Sampled(.05, 2), 1, level), 1);
  }
  EXPECT_EQ(Price(Sampled(.05, 2), 20, reference_.units), 20);
}

TEST_F(ResiduePricerTest, PricesRiseAsUnitsRunOut) {
  int64_t before = 0;
  for (int64_t left = reference_.units; left > 20; left = left * 2 / 3) {
    const absl::StatusOr<UnitPrice> price = pricer_.PriceOf(Sampled(.1, 2), kNeighbors, 1, left);
    if (!price.ok()) break;
    EXPECT_GE(price->units, before) << left;
    before = price->units;
  }
  EXPECT_GT(before, 4);
}

// Every price is proved, one unit more is, and one unit less is not.
TEST_F(ResiduePricerTest, IsTheSmallestThatIsProved) {
  for (const MechanismEvent& event :
       {Sampled(.1, 2), MechanismEvent(Gaussian{20}), MechanismEvent(Laplace{30}),
        MechanismEvent(PureDp{.05}), MechanismEvent(ApproximateDp{.02, 1e-9})}) {
    for (const int64_t count : {1, 3}) {
      const absl::StatusOr<UnitPrice> price =
          pricer_.PriceOf(event, kNeighbors, count, reference_.units);
      ASSERT_TRUE(price.ok()) << Describe(event) << price.status();
      const auto proved = [&](int64_t units) {
        return *pricer_.IsProved(event, kNeighbors, count, reference_.units,
                                 UnitPrice{units, price->reserve});
      };
      EXPECT_TRUE(proved(price->units)) << Describe(event);
      EXPECT_TRUE(proved(price->units + 1)) << Describe(event);
      if (price->units > 1) EXPECT_FALSE(proved(price->units - 1)) << Describe(event);
    }
  }
}

// The laws of `uses` of one order of a pair, by direct sums in extended precision.
struct Law {
  int64_t first = 0;
  std::vector<long double> masses = {1};
  long double infinite = 0;
};
Law UsesOfOrder(const residue_game::Order& order, int64_t uses) {
  Law law;
  for (int64_t k = 0; k < uses; ++k) {
    std::vector<long double> masses(law.masses.size() + order.masses.size() - 1);
    for (size_t a = 0; a < law.masses.size(); ++a) {
      for (size_t b = 0; b < order.masses.size(); ++b) {
        masses[a + b] += law.masses[a] * order.masses[b];
      }
    }
    law.masses = std::move(masses);
    law.first += order.first;
    law.infinite += (1 - law.infinite) * order.infinite;
  }
  return law;
}

// The largest of (h x B^(level - units))(g) - R_level(g) over g = e^0, e^{interval / 2}, ...: h is
// the event's own profile, without a lattice, a transform or a pricer.
double LargestExcessBySums(const Reference& reference, const PrivacyProfile& profile, bool reversed,
                           int64_t level, int64_t units) {
  const residue_game::Order order = residue_game::OrderOf(reference.pair, reversed);
  const Law rest = UsesOfOrder(order, level - units);
  const Law chain = UsesOfOrder(order, level);
  const double half = reference.pair.interval / 2;
  double largest = -1;
  const int64_t last = 2 * (chain.first + static_cast<int64_t>(chain.masses.size()));
  for (int64_t j = 0; j <= last; ++j) {
    long double excess = rest.infinite - chain.infinite;
    for (size_t i = 0; i < rest.masses.size(); ++i) {
      const int64_t at = j - 2 * (rest.first + static_cast<int64_t>(i));
      excess += rest.masses[i] * profile.At(static_cast<double>(at) * half).delta.upper;
    }
    for (size_t i = 0; i < chain.masses.size(); ++i) {
      const int64_t at = j - 2 * (chain.first + static_cast<int64_t>(i));
      if (at < 0) excess += chain.masses[i] * std::expm1(static_cast<long double>(at) * half);
    }
    largest = std::max(largest, static_cast<double>(excess));
  }
  return largest;
}

// The condition of the theorem, by another route than the one that made the price.
TEST(ResiduePricer, PricesHoldByDirectSums) {
  std::mt19937 random(15);
  int checked = 0;
  int one_less = 0;
  int one_less_fails = 0;
  for (int i = 0; i < residue_game::FamilyCount(10); ++i) {
    const residue_game::Game game = residue_game::RandomGame(random, 3, 12);
    const Reference& reference = game.reference;
    EventPricer pricer(reference);
    for (const MechanismEvent& event : game.events) {
      const absl::StatusOr<DirectedProfiles> profiles =
          ProfilesOf(event, Setting{kNeighbors, {}, {}}, 1, Accountant::kPld);
      ASSERT_TRUE(profiles.ok());
      for (const int64_t level : {reference.units, (reference.units + 1) / 2}) {
        const absl::StatusOr<UnitPrice> price = pricer.PriceOf(event, kNeighbors, 1, level);
        if (!price.ok()) continue;
        const auto excess = [&](int64_t units) {
          return std::max(LargestExcessBySums(reference, *profiles->remove, false, level, units),
                          LargestExcessBySums(reference, *profiles->add, true, level, units));
        };
        const auto allowed = [&](int64_t units) {
          return static_cast<double>(units) * reference.slack /
                     static_cast<double>(reference.units) +
                 price->reserve + 1e-13;
        };
        EXPECT_LE(excess(price->units), allowed(price->units))
            << Describe(event) << " under " << Describe(game.reference_event) << " at " << level;
        ++checked;
        if (price->units == 1) continue;
        ++one_less;
        one_less_fails += excess(price->units - 1) > allowed(price->units - 1) ? 1 : 0;
      }
    }
  }
  std::printf("%d prices hold; one unit less fails for %d of %d\n", checked, one_less_fails,
              one_less);
  EXPECT_GT(checked, 20);
  EXPECT_GT(one_less_fails, one_less / 2) << "these sums would not notice a price that is too low";
}

TEST_F(ResiduePricerTest, ABlockCostsNoMoreThanItsPartsHere) {
  EXPECT_LT(Price(Sampled(.025, 2), 100, reference_.units), 50);
  EXPECT_GE(Price(Sampled(.025, 2), 100, reference_.units), 20);
}

TEST_F(ResiduePricerTest, TakesLargeDeltasFromTheReserve) {
  const absl::StatusOr<UnitPrice> price =
      pricer_.PriceOf(ApproximateDp{.05, 2e-8}, kNeighbors, 1, reference_.units);
  ASSERT_TRUE(price.ok()) << price.status();
  EXPECT_GE(price->reserve, 2e-8);
  EXPECT_LE(price->reserve, 2.1e-8);
  EXPECT_EQ(
      pricer_.PriceOf(ApproximateDp{.05, 1e-6}, kNeighbors, 1, reference_.units).status().code(),
      absl::StatusCode::kFailedPrecondition);
}

TEST_F(ResiduePricerTest, EndsWhenNobodyWaits) {
  const ResiduePricer pricer(reference_);
  Composed kinds;
  for (int i = 0; i < 20; ++i) kinds.events.push_back({Sampled(.05, 8 + i), 1});
  const MechanismEvent event(std::move(kinds));
  ExpectEndsWhenAbandoned([&](absl::FunctionRef<bool()> abandoned) {
    return pricer.Prepare(event, kNeighbors, abandoned);
  });
  const std::shared_ptr<const PreparedEvent> prepared = *pricer.Prepare(event, kNeighbors);
  ExpectEndsWhenAbandoned([&](absl::FunctionRef<bool()> abandoned) {
    return pricer.PriceOf(*prepared, 1, reference_.units, abandoned);
  });
}

TEST_F(ResiduePricerTest, RefusesWhatItHasNoProofFor) {
  EXPECT_EQ(pricer_.PriceOf(NonPrivate{"x"}, kNeighbors, 1, 10).status().code(),
            absl::StatusCode::kUnimplemented);
  EXPECT_EQ(pricer_.PriceOf(Gaussian{.2}, kNeighbors, 1, reference_.units).status().code(),
            absl::StatusCode::kFailedPrecondition);
}

// Under replace-special a sampled black box keeps its epsilon: it may tell what it drew.
TEST_F(ResiduePricerTest, DoesNotAmplifyABlackBoxUnderReplaceSpecial) {
  const PoissonSampled box{.01, MechanismEvent(PureDp{.4})};
  const auto price = [&](NeighboringRelation relation) {
    const absl::StatusOr<UnitPrice> found = pricer_.PriceOf(box, relation, 1, reference_.units);
    EXPECT_TRUE(found.ok()) << found.status();
    return found.ok() ? found->units : -1;
  };
  EXPECT_GT(price(NeighboringRelation::kReplaceSpecial), 5 * price(kNeighbors));
}

TEST(CostsOneUnit, FollowsTheOrderOfSampledGaussians) {
  const MechanismEvent reference = Sampled(.01, 1.1);
  EXPECT_TRUE(CostsOneUnit(reference, reference, kNeighbors));
  EXPECT_TRUE(CostsOneUnit(Sampled(.005, 1.1), reference, kNeighbors));
  EXPECT_TRUE(CostsOneUnit(Sampled(.01, 1.2), reference, kNeighbors));
  EXPECT_FALSE(CostsOneUnit(Sampled(.02, 2), reference, kNeighbors));
  EXPECT_FALSE(CostsOneUnit(Sampled(.005, 1), reference, kNeighbors));
  EXPECT_FALSE(CostsOneUnit(Gaussian{50}, reference, kNeighbors));
  EXPECT_FALSE(CostsOneUnit(Sampled(.005, 1.1), reference, NeighboringRelation::kReplaceOne));
  EXPECT_TRUE(CostsOneUnit(reference, reference, NeighboringRelation::kReplaceOne));
}

TEST(LevelAtMost, IsATableThatEndsAtOne) {
  for (const int64_t units : {1, 2, 9, 100, 400'000}) {
    int64_t steps = 0;
    for (int64_t left = units; left >= 1;) {
      const int64_t level = LevelAtMost(units, left);
      EXPECT_LE(level, left);
      EXPECT_GE(level, 1);
      EXPECT_GE(static_cast<double>(level), 0.97 * static_cast<double>(left) - 1);
      EXPECT_EQ(LevelAtMost(units, level), level);
      left = level - 1;
      ++steps;
    }
    EXPECT_LE(steps, 500);
  }
}

}  // namespace
}  // namespace epsledger::accounting
