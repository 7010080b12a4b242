// What releases nothing, and what releases everything, under every accountant and relation.

#include <limits>
#include <vector>

#include "accounting/answer.h"
#include "accounting/event/history.h"
#include "accounting/filter/filter.h"
#include "gtest/gtest.h"
#include "tests/accounting/questions.h"

namespace epsledger::accounting {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

constexpr Accountant kBounds[] = {
    Accountant::kBasic,    Accountant::kAdvanced, Accountant::kOptimal,  Accountant::kRenyi,
    Accountant::kMoments,  Accountant::kZcdp,     Accountant::kGaussian, Accountant::kPld,
    Accountant::kTradeOff, Accountant::kBest};
constexpr NeighboringRelation kRelations[] = {NeighboringRelation::kAddOrRemoveOne,
                                              NeighboringRelation::kReplaceOne,
                                              NeighboringRelation::kReplaceSpecial};

// Events that are not known under every relation or to any accountant, around or beside which
// nothing is released.
std::vector<MechanismEvent> Nothings() {
  const MechanismEvent gaussian = Gaussian{1};
  const MechanismEvent unknown = SampledWithReplacement{10, 2, gaussian};
  const MechanismEvent empty = Composed{};
  const MechanismEvent never = PoissonSampled{0, unknown};
  return {empty,
          never,
          PoissonSampled{0, gaussian},
          PoissonSampled{0.5, empty},
          TruncatedPoissonSampled{0, 5, 10, gaussian},
          SampledWithoutReplacement{10, 2, never},
          SampledWithReplacement{10, 2, empty},
          RandomAllocation{10, 2, empty},
          RepeatAndSelect{never, 3, 1},
          RepeatAndSelect{empty, 3, kInf},
          SelfComposed{empty, 1000},
          BandedMatrixFactorization{1, 2, 10, 0},
          Composed{{{empty, 3}, {never, 2}, {MechanismEvent(Composed{{{never, 1}}}), 5}}}};
}

std::vector<MechanismEvent> Exacts() {
  return {Gaussian{0},
          Laplace{0},
          DiscreteGaussian{0, 1},
          RandomizedResponse{0, 2},
          MixtureOfGaussians{0, {1}, {1}},
          TreeAggregation{0, 4},
          BandedMatrixFactorization{0, 2, 10, 0.1},
          NonPrivate{"x"},
          PoissonSampled{0.01, MechanismEvent(Gaussian{0})},
          PoissonSampled{0, MechanismEvent(Gaussian{0})},
          RepeatAndSelect{MechanismEvent(Laplace{0}), 3, 1},
          Composed{{{MechanismEvent(PureDp{1}), 1}, {MechanismEvent(Laplace{0}), 1}}}};
}

double UpperOf(const std::vector<CountedEvent>& events, const Query& query, Accountant accountant,
               NeighboringRelation relation) {
  Question question = Ask(accountant, events, query);
  question.relation = relation;
  const auto answer = Answer(question);
  EXPECT_TRUE(answer.ok()) << Name(accountant) << " " << Describe(*events[0].event) << ": "
                           << answer.status();
  return answer.ok() ? answer->upper.value_or(-1) : -1;
}

TEST(Nothing, CostsNothing) {
  for (const MechanismEvent& event : Nothings()) {
    EXPECT_TRUE(ReleasesNothing(event)) << Describe(event);
    EXPECT_TRUE(Flatten(event).empty()) << Describe(event);
    for (const NeighboringRelation relation : kRelations) {
      for (const Accountant accountant : kBounds) {
        const std::vector<CountedEvent> events = {{event, 1'000'000}};
        EXPECT_EQ(UpperOf(events, EpsilonAtDelta::FromDelta(0), accountant, relation), 0);
        EXPECT_EQ(UpperOf(events, DeltaAtEpsilon{0}, accountant, relation), 0);
      }
      for (const CellQuantity quantity : {CellQuantity::kEpsilon, CellQuantity::kRenyi}) {
        EXPECT_EQ(CostUpperBound(event, relation, {.quantity = quantity, .order = 2}), 0)
            << Describe(event);
      }
    }
  }
}

TEST(Nothing, BesideAnEventChangesNothing) {
  const CountedEvent step{SampledGaussianEvent(0.1, 1), 100};
  for (const Accountant accountant :
       {Accountant::kRenyi, Accountant::kZcdp, Accountant::kPld, Accountant::kBest}) {
    const double alone = UpperOf({step}, EpsilonAtDelta::FromDelta(1e-5), accountant,
                                 NeighboringRelation::kAddOrRemoveOne);
    for (const MechanismEvent& nothing : Nothings()) {
      EXPECT_EQ(UpperOf({{nothing, 7}, step, {nothing, 1}}, EpsilonAtDelta::FromDelta(1e-5),
                        accountant, NeighboringRelation::kAddOrRemoveOne),
                alone)
          << Describe(nothing);
    }
  }
}

TEST(Something, IsNotNothing) {
  for (const MechanismEvent& event :
       {MechanismEvent(PureDp{0}), MechanismEvent(Gaussian{1e300}),
        MechanismEvent(PoissonSampled{5e-324, MechanismEvent(Gaussian{1})}),
        MechanismEvent(
            Composed{{{MechanismEvent(Composed{}), 1}, {MechanismEvent(PureDp{0}), 1}}})}) {
    EXPECT_FALSE(ReleasesNothing(event)) << Describe(event);
    EXPECT_EQ(Flatten(event).size(), 1u) << Describe(event);
  }
}

TEST(NoNoise, IsNoPrivacy) {
  for (const MechanismEvent& event : Exacts()) {
    EXPECT_TRUE(ContainsNonPrivate(event)) << Describe(event);
    for (const NeighboringRelation relation : kRelations) {
      for (const Accountant accountant : kBounds) {
        const std::vector<CountedEvent> events = {{MechanismEvent(PureDp{0.1}), 1}, {event, 1}};
        EXPECT_EQ(UpperOf(events, EpsilonAtDelta::FromDelta(0.999), accountant, relation), kInf)
            << Describe(event);
        EXPECT_EQ(UpperOf(events, DeltaAtEpsilon{100}, accountant, relation), 1);
      }
      for (const CellQuantity quantity : {CellQuantity::kEpsilon, CellQuantity::kRenyi}) {
        EXPECT_EQ(CostUpperBound(event, relation, {.quantity = quantity, .order = 2}), kInf)
            << Describe(event);
      }
    }
  }
}

TEST(LittleNoise, IsNotNoNoise) {
  for (const MechanismEvent& event :
       {MechanismEvent(Gaussian{5e-324}), MechanismEvent(RandomizedResponse{5e-324, 2}),
        MechanismEvent(PureDp{1e300})}) {
    EXPECT_FALSE(ContainsNonPrivate(event)) << Describe(event);
  }
}

}  // namespace
}  // namespace epsledger::accounting
