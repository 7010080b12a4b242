// A pair of output laws that is given as numbers, under every accountant: against the mechanisms
// whose laws they are, and against sums over all outcomes of a whole sequence.

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include "accounting/answer.h"
#include "gtest/gtest.h"
#include "tests/accounting/questions.h"

namespace epsledger::accounting {
namespace {

using Law = std::vector<double>;

Guarantee Answered(const MechanismEvent& event, int64_t count, const Query& query,
                   Accountant accountant, NeighboringRelation relation,
                   std::optional<Adjacency> adjacency = std::nullopt) {
  Question question = Ask(accountant, {{event, count}}, query);
  question.relation = relation;
  question.adjacency = adjacency;
  const auto answer = Answer(question);
  EXPECT_TRUE(answer.ok()) << answer.status();
  return answer.value_or(Guarantee());
}

constexpr NeighboringRelation kAddOrRemove = NeighboringRelation::kAddOrRemoveOne;
constexpr NeighboringRelation kReplace = NeighboringRelation::kReplaceOne;

// sum (p - x q)_+ over all sequences of `count` outcomes, one after the other.
double DeltaOfSequence(const Law& p, const Law& q, int count, double epsilon, double p_mass = 1,
                       double q_mass = 1) {
  if (count == 0) return std::max(0.0, p_mass - std::exp(epsilon) * q_mass);
  double sum = 0;
  for (size_t i = 0; i < p.size(); ++i) {
    sum += DeltaOfSequence(p, q, count - 1, epsilon, p_mass * p[i], q_mass * q[i]);
  }
  return sum;
}

TEST(DominatingPair, OfAKnownMechanismIsThatMechanism) {
  // Randomized response over three values: 1 - p + p/3 and p/3, p = 3/8.
  const MechanismEvent numbers = DominatingPair{{0.75, 0.125, 0.125}, {0.125, 0.75, 0.125}};
  const MechanismEvent response = RandomizedResponse{0.375, 3};
  for (const Accountant accountant :
       {Accountant::kPld, Accountant::kRenyi, Accountant::kBasic, Accountant::kAdvanced,
        Accountant::kOptimal, Accountant::kZcdp, Accountant::kBest}) {
    for (const Query& query : {Query(EpsilonAtDelta::FromDelta(1e-6)), Query(DeltaAtEpsilon{3})}) {
      const Guarantee known = Answered(response, 10, query, accountant, kReplace);
      const Guarantee given = Answered(numbers, 10, query, accountant, kReplace);
      EXPECT_NEAR(*given.upper, *known.upper, 2e-3 * *known.upper) << Name(accountant);
      ASSERT_EQ(given.lower.has_value(), known.lower.has_value()) << Name(accountant);
      if (known.lower.has_value()) {
        EXPECT_LE(*given.lower, *known.upper);
        EXPECT_LE(*known.lower, *given.upper);
      }
    }
  }
}

TEST(DominatingPair, BracketsTheSumOverAllSequences) {
  const Law p = {0.5, 0.3, 0.15, 0.05};
  const Law q = {0.2, 0.3, 0.1, 0.4};
  const MechanismEvent event = DominatingPair{p, q};
  for (const double epsilon : {0.0, 0.5, 1.0, 2.0, 4.0, 5.5}) {
    const double remove = DeltaOfSequence(p, q, 6, epsilon);
    const double add = DeltaOfSequence(q, p, 6, epsilon);
    const auto expect = [&](std::optional<Adjacency> adjacency, double truth) {
      const Guarantee answer =
          Answered(event, 6, DeltaAtEpsilon{epsilon}, Accountant::kPld, kAddOrRemove, adjacency);
      ASSERT_TRUE(answer.lower.has_value() && answer.upper.has_value());
      EXPECT_LE(*answer.lower, truth + 1e-12) << epsilon;
      EXPECT_GE(*answer.upper, truth - 1e-12) << epsilon;
      EXPECT_LE(*answer.upper, truth * 1.002 + 1e-12) << epsilon;
    };
    expect(Adjacency::kRemove, remove);
    expect(Adjacency::kAdd, add);
    expect(std::nullopt, std::max(remove, add));
  }
}

// A neighbor pair may be met in either order by each use: no order of the sequence is above the
// answer, which has no lower bound.
TEST(DominatingPair, UnderReplaceOneCoversEveryMixOfOrders) {
  const Law p = {0.6, 0.3, 0.1};
  const Law q = {0.3, 0.3, 0.4};
  const MechanismEvent event = DominatingPair{p, q};
  for (const double epsilon : {0.0, 0.3, 1.0, 2.5}) {
    const Guarantee answer =
        Answered(event, 2, DeltaAtEpsilon{epsilon}, Accountant::kPld, kReplace);
    EXPECT_FALSE(answer.lower.has_value());
    Law first;
    Law second;
    for (size_t i = 0; i < p.size(); ++i) {
      for (size_t j = 0; j < p.size(); ++j) {
        first.push_back(p[i] * q[j]);
        second.push_back(q[i] * p[j]);
      }
    }
    EXPECT_GE(*answer.upper + 1e-12, DeltaOfSequence(p, q, 2, epsilon));
    EXPECT_GE(*answer.upper + 1e-12, DeltaOfSequence(q, p, 2, epsilon));
    EXPECT_GE(*answer.upper + 1e-12, DeltaOfSequence(first, second, 1, epsilon));
  }
}

TEST(DominatingPair, OnAPoissonSampleIsThePairOfTheMixture) {
  const Law p = {0.5, 0.25, 0.25};
  const Law q = {0.125, 0.25, 0.625};
  Law mixture;
  for (size_t i = 0; i < p.size(); ++i) mixture.push_back(0.75 * q[i] + 0.25 * p[i]);
  const MechanismEvent sampled = PoissonSampled{0.25, MechanismEvent(DominatingPair{p, q})};
  const MechanismEvent given = DominatingPair{mixture, q};
  for (const Accountant accountant : {Accountant::kPld, Accountant::kRenyi}) {
    for (const auto adjacency : {Adjacency::kRemove, Adjacency::kAdd}) {
      const auto ask = [&](const MechanismEvent& event) {
        return *Answered(event, 50, EpsilonAtDelta::FromDelta(1e-5), accountant, kAddOrRemove,
                         adjacency)
                    .upper;
      };
      EXPECT_NEAR(ask(sampled), ask(given), 2e-3 * ask(given)) << Name(accountant);
    }
  }
}

// Where its record is replaced by nothing, randomized response is one of two known laws.
TEST(RandomizedResponse, AgainstNothingIsTheUniformLaw) {
  const NeighboringRelation nothing = NeighboringRelation::kReplaceSpecial;
  const MechanismEvent response = RandomizedResponse{0.375, 3};
  const MechanismEvent given = DominatingPair{{0.75, 0.25}, {1.0 / 3, 2.0 / 3}};
  for (const Accountant accountant : {Accountant::kPld, Accountant::kRenyi, Accountant::kBasic,
                                      Accountant::kOptimal, Accountant::kBest}) {
    for (const Query& query : {Query(EpsilonAtDelta::FromDelta(1e-6)), Query(DeltaAtEpsilon{2})}) {
      const double wanted = *Answered(given, 8, query, accountant, nothing).upper;
      EXPECT_NEAR(*Answered(response, 8, query, accountant, nothing).upper, wanted, 3e-3 * wanted)
          << Name(accountant);
    }
  }
  // log(1 / p) is the larger loss: a value that is not the record's.
  EXPECT_NEAR(*Answered(response, 1, EpsilonAtDelta::FromDelta(0), Accountant::kPld, nothing).upper,
              std::log(8.0 / 3), 1e-9);
  const auto refused = Answer(AskEpsilon(Accountant::kPld, response, 1, 1e-5));
  EXPECT_TRUE(absl::IsUnimplemented(refused.status()));
  // Nothing is left of a probability below the smallest double.
  EXPECT_GE(*Answered(RandomizedResponse{5e-324, 2}, 1, EpsilonAtDelta::FromDelta(1e-5),
                      Accountant::kBasic, nothing)
                 .upper,
            std::log(2) * (1 - 1e-9));
}

TEST(DominatingPair, MissingMassIsRevealed) {
  const double missing = 0x1p-31;
  const MechanismEvent event = DominatingPair{{0.5, 0.5 - missing}, {0.5, 0.5}};
  for (const Accountant accountant :
       {Accountant::kPld, Accountant::kRenyi, Accountant::kBasic, Accountant::kOptimal}) {
    const Guarantee at_zero =
        Answered(event, 3, EpsilonAtDelta::FromDelta(0), accountant, kAddOrRemove);
    EXPECT_EQ(*at_zero.upper, std::numeric_limits<double>::infinity()) << Name(accountant);
    const Guarantee far = Answered(event, 3, DeltaAtEpsilon{5}, accountant, kAddOrRemove);
    EXPECT_GE(*far.upper, 3 * missing * (1 - 2 * missing)) << Name(accountant);
  }
}

TEST(DominatingPair, HasAFiniteEpsilonWhereBothLawsHaveEveryOutcome) {
  // 0.1 + 0.2 + 0.7 is not 1 in doubles, which reveals nothing.
  const MechanismEvent event = DominatingPair{{0.1, 0.2, 0.7}, {0.2, 0.2, 0.6}};
  for (const Accountant accountant : {Accountant::kPld, Accountant::kBasic, Accountant::kBest}) {
    const Guarantee pure =
        Answered(event, 1, EpsilonAtDelta::FromDelta(0), accountant, kAddOrRemove);
    EXPECT_GE(*pure.upper, std::log(2)) << Name(accountant);
    EXPECT_LE(*pure.upper, std::log(2) + 1e-9) << Name(accountant);
  }
  Question group = AskEpsilon(Accountant::kBasic, event, 1, 0);
  group.group_size = 3;
  EXPECT_NEAR(*Answer(group)->upper, 3 * std::log(2), 1e-9);
}

TEST(DominatingPair, RevealsNothingWhereBothLawsAreOne) {
  const MechanismEvent event = DominatingPair{{0.25, 0.75}, {0.25, 0.75}};
  for (const Accountant accountant :
       {Accountant::kPld, Accountant::kRenyi, Accountant::kBasic, Accountant::kZcdp}) {
    const Guarantee answer = Answered(event, 1000, DeltaAtEpsilon{1e-6}, accountant, kReplace);
    EXPECT_LE(*answer.upper, 1e-6) << Name(accountant);
  }
}

TEST(DominatingPair, RevealsAllWhereTheLawsHaveNothingInCommon) {
  const MechanismEvent event = DominatingPair{{1, 0}, {0, 1}};
  for (const Accountant accountant : {Accountant::kPld, Accountant::kRenyi, Accountant::kBasic,
                                      Accountant::kZcdp, Accountant::kOptimal}) {
    EXPECT_EQ(*Answered(event, 1, EpsilonAtDelta::FromDelta(0.5), accountant, kAddOrRemove).upper,
              std::numeric_limits<double>::infinity())
        << Name(accountant);
  }
}

// The smallest mu of the direction REMOVE, from the vertices of its function by binomial tails with
// 40 digits. The answer covers both directions, so it is no bound from below on either.
TEST(DominatingPairs, AFitInOneDirectionIsBoundedFromAboveOnly) {
  constexpr double kRemove = 9.0954085925;
  constexpr double kAdd = 9.4816347406;
  const MechanismEvent event = DominatingPair{{0.3828125, 0.6171875}, {0.8125, 0.1875}};
  for (const Adjacency direction : {Adjacency::kAdd, Adjacency::kRemove}) {
    Question question = Ask(Accountant::kPld, {{event, 100}}, GaussianDpMu{0.01});
    question.adjacency = direction;
    const auto mu = Answer(question);
    ASSERT_TRUE(mu.ok()) << mu.status();
    EXPECT_GE(*mu->upper, (direction == Adjacency::kAdd ? kAdd : kRemove) - 1e-9);
    EXPECT_FALSE(mu->lower.has_value());
  }
}

}  // namespace
}  // namespace epsledger::accounting
