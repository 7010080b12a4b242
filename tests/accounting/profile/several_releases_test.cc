// Several releases of one sample, and histories of finite pairs, against sums over all outcomes.

#include "accounting/profile/several_releases.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "accounting/answer.h"
#include "gtest/gtest.h"
#include "tests/accounting/questions.h"

namespace epsledger::accounting {
namespace {

using Law = std::vector<double>;

Guarantee Answered(Accountant accountant, const MechanismEvent& event, int64_t count,
                   const Query& query, std::optional<Adjacency> adjacency = std::nullopt) {
  Question question = Ask(accountant, {{event, count}}, query);
  question.relation = NeighboringRelation::kAddOrRemoveOne;
  question.adjacency = adjacency;
  const auto answer = Answer(question);
  EXPECT_TRUE(answer.ok()) << answer.status();
  return answer.value_or(Guarantee());
}

// The law of `times` independent outcomes of `one`, outcome by outcome.
Law Sequence(const Law& one, int times) {
  Law all = {1};
  for (int i = 0; i < times; ++i) {
    Law next;
    for (const double before : all) {
      for (const double p : one) next.push_back(before * p);
    }
    all = std::move(next);
  }
  return all;
}
double DeltaOf(const Law& p, const Law& q, double epsilon) {
  double sum = 0;
  for (size_t i = 0; i < p.size(); ++i) sum += std::max(0.0, p[i] - std::exp(epsilon) * q[i]);
  return sum;
}
Law Mixed(const Law& with, const Law& without, double q) {
  Law law(with.size());
  for (size_t i = 0; i < law.size(); ++i) law[i] = (1 - q) * without[i] + q * with[i];
  return law;
}

// One step of the sampled composition; sampling each release by itself is another mechanism.
void ExpectDelta(const MechanismEvent& inner, const Law& with, const Law& without, double q) {
  const MechanismEvent sampled = PoissonSampled{q, inner};
  const Law mixed = Mixed(with, without, q);
  for (const double epsilon : {0.0, 0.01, 0.1, 0.4}) {
    const double remove = DeltaOf(mixed, without, epsilon);
    const double add = DeltaOf(without, mixed, epsilon);
    for (const Adjacency adjacency : {Adjacency::kRemove, Adjacency::kAdd}) {
      const double truth = adjacency == Adjacency::kRemove ? remove : add;
      const Guarantee answer =
          Answered(Accountant::kPld, sampled, 1, DeltaAtEpsilon{epsilon}, adjacency);
      ASSERT_TRUE(answer.upper.has_value() && answer.lower.has_value());
      EXPECT_GE(*answer.upper, truth - 1e-13) << epsilon;
      EXPECT_LE(*answer.lower, truth + 1e-13) << epsilon;
      EXPECT_LE(*answer.upper - *answer.lower, 1e-3 * truth + 1e-13) << epsilon;
    }
  }
}

TEST(SeveralReleases, OfDiscreteLaplaceNoiseAreSummedOverAllOutputs) {
  // Noise of 0.7 on integers from -60 to 60, which hold all but 1e-18.
  Law at_zero, at_one;
  const double norm = std::tanh(0.35);
  for (int k = -60; k <= 60; ++k) {
    at_zero.push_back(norm * std::exp(-0.7 * std::abs(k)));
    at_one.push_back(norm * std::exp(-0.7 * std::abs(k - 1)));
  }
  const MechanismEvent twice = SelfComposed{NestedEvent(DiscreteLaplace{0.7, 1}), 2};
  ExpectDelta(twice, Sequence(at_one, 2), Sequence(at_zero, 2), 0.1);
}

TEST(SeveralReleases, OfPairsAreSummedOverAllSequences) {
  const Law p = {0.5, 0.3, 0.15, 0.05}, q = {0.2, 0.3, 0.1, 0.4};
  const MechanismEvent inner = SelfComposed{NestedEvent(DominatingPair{p, q}), 4};
  ExpectDelta(inner, Sequence(p, 4), Sequence(q, 4), 0.2);
  // Randomized response is what pureDp promises at least.
  const double e = std::exp(0.5);
  const Law likely = {e / (1 + e), 1 / (1 + e)}, unlikely = {1 / (1 + e), e / (1 + e)};
  const MechanismEvent pure = SelfComposed{NestedEvent(PureDp{0.5}), 5};
  ExpectDelta(pure, Sequence(likely, 5), Sequence(unlikely, 5), 0.2);
}

// One sample released twice, on a grid of both outputs.
TEST(SeveralReleases, OfLaplaceNoiseAreIntegralsOverBothOutputs) {
  constexpr double q = 0.05, kCell = 0.02, kEnd = 12;
  const MechanismEvent sampled =
      PoissonSampled{q, MechanismEvent(SelfComposed{NestedEvent(Laplace{1}), 2})};
  for (const double epsilon : {0.0, 0.02, 0.1, 0.2}) {
    double truth = 0;
    for (double s = -kEnd + 0.5 * kCell; s < kEnd + 1; s += kCell) {
      for (double t = -kEnd + 0.5 * kCell; t < kEnd + 1; t += kCell) {
        const double without = 0.25 * std::exp(-std::abs(s) - std::abs(t));
        const double with = 0.25 * std::exp(-std::abs(s - 1) - std::abs(t - 1));
        const double mixed = (1 - q) * without + q * with;
        truth += std::max(0.0, mixed - std::exp(epsilon) * without) * kCell * kCell;
      }
    }
    const Guarantee answer =
        Answered(Accountant::kPld, sampled, 1, DeltaAtEpsilon{epsilon}, Adjacency::kRemove);
    ASSERT_TRUE(answer.upper.has_value() && answer.lower.has_value());
    EXPECT_NEAR(*answer.upper, truth, 5e-4 * truth + 1e-6) << epsilon;
    EXPECT_NEAR(*answer.lower, truth, 5e-4 * truth + 1e-6) << epsilon;
  }
  // Many samples: two-sided, below what Renyi divergences prove.
  const Query at = EpsilonAtDelta::FromDelta(1e-6);
  const Guarantee many = Answered(Accountant::kPld, sampled, 50, at);
  ASSERT_TRUE(many.upper.has_value() && many.lower.has_value());
  EXPECT_LE(*many.upper - *many.lower, 2e-3 * *many.upper);
  EXPECT_LT(*many.upper, *Answered(Accountant::kRenyi, sampled, 50, at).upper);
}

// sum over the numbers of each outcome, multinomially: 231 ratios instead of 3^20 sequences.
TEST(ComposedFinitePairs, HaveTheTradeOffFunctionOfTheirCounts) {
  const Law p = {0.5, 0.3, 0.2}, q = {0.35, 0.27, 0.38};
  constexpr int kCount = 20;
  struct Outcome {
    double p;
    double q;
  };
  std::vector<Outcome> all;
  for (int i = 0; i <= kCount; ++i) {
    for (int j = 0; i + j <= kCount; ++j) {
      const int k = kCount - i - j;
      const double ways = std::tgamma(kCount + 1.0) /
                          (std::tgamma(i + 1.0) * std::tgamma(j + 1.0) * std::tgamma(k + 1.0));
      all.push_back({ways * std::pow(p[0], i) * std::pow(p[1], j) * std::pow(p[2], k),
                     ways * std::pow(q[0], i) * std::pow(q[1], j) * std::pow(q[2], k)});
    }
  }
  // The lemma of Neyman and Pearson: the likeliest outcomes first, the last one in part.
  std::sort(all.begin(), all.end(),
            [](const Outcome& a, const Outcome& b) { return a.p * b.q > b.p * a.q; });
  for (const double alpha : {0.01, 0.05, 0.3}) {
    double left = alpha, power = 0;
    for (const Outcome& outcome : all) {
      const double share = std::min(1.0, left / outcome.q);
      power += share * outcome.p;
      left -= share * outcome.q;
      if (left <= 0) break;
    }
    const Guarantee answer = Answered(Accountant::kPld, MechanismEvent(DominatingPair{p, q}),
                                      kCount, TypeTwoErrorAt{alpha}, Adjacency::kRemove);
    ASSERT_TRUE(answer.upper.has_value() && answer.lower.has_value());
    EXPECT_LE(*answer.lower, 1 - power + 1e-12);
    EXPECT_GE(*answer.upper, 1 - power - 1e-12);
    EXPECT_LE(*answer.upper - *answer.lower, 1e-3) << alpha;
  }
}

TEST(ProductOf, RefusesWhatIsTooLarge) {
  FinitePair many;
  for (int i = 0; i < 2000; ++i) many.outcomes.push_back({std::exp(5 - i * 0.005), 5e-4});
  EXPECT_FALSE(ProductOf(many, many).has_value());
  FinitePair tiny;
  tiny.outcomes = {{1, 1e-200}};
  EXPECT_FALSE(ProductOf(tiny, tiny).has_value());
}

}  // namespace
}  // namespace epsledger::accounting
