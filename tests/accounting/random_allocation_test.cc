// Several chosen rounds of a random allocation, against the law of the whole run.

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "accounting/answer.h"
#include "gtest/gtest.h"
#include "tests/accounting/questions.h"

namespace epsledger::accounting {
namespace {

// The expectation of (ratio - e^epsilon)_+ or, with `adds`, (1 - e^epsilon ratio)_+ under noise
// alone, where ratio is that of a record in 2 of 3 rounds: the mean over the pairs of rounds of
// e^{(x_i + x_j) mu - mu^2}, x standard Gaussian, mu = 1 / noise. By the trapezoid rule on a grid.
double DeltaOfTwoOfThree(double noise, double epsilon, bool adds) {
  constexpr int kPoints = 141;
  constexpr double kEnd = 7;
  constexpr double kStep = 2 * kEnd / (kPoints - 1);
  const double mu = 1 / noise;
  std::vector<double> weight(kPoints);
  std::vector<double> factor(kPoints);
  for (int i = 0; i < kPoints; ++i) {
    const double x = -kEnd + kStep * i;
    weight[i] = std::exp(-x * x / 2) / std::sqrt(2 * M_PI) * kStep;
    factor[i] = std::exp(mu * x - mu * mu / 2);
  }
  double sum = 0;
  for (int i = 0; i < kPoints; ++i) {
    for (int j = 0; j < kPoints; ++j) {
      for (int k = 0; k < kPoints; ++k) {
        const double ratio =
            (factor[i] * factor[j] + factor[i] * factor[k] + factor[j] * factor[k]) / 3;
        const double excess = adds ? 1 - std::exp(epsilon) * ratio : ratio - std::exp(epsilon);
        sum += weight[i] * weight[j] * weight[k] * std::max(0.0, excess);
      }
    }
  }
  return sum;
}

// Three chosen rounds of ten, say, are priced as three choices of one from blocks of three rounds:
// an upper bound, never the truth, also where a block has one round.
TEST(RandomAllocationOfSeveralRounds, SaysNothingFromBelowThatTheRunDoesNotLose) {
  for (const double noise : {1.0, 2.0}) {
    for (const double epsilon : {0.0, 1.0, 2.0}) {
      const double truth = std::max(DeltaOfTwoOfThree(noise, epsilon, false),
                                    DeltaOfTwoOfThree(noise, epsilon, true));
      for (const Accountant accountant :
           {Accountant::kPld, Accountant::kBest, Accountant::kTradeOff}) {
        const auto answer = Answer(
            Ask(accountant,
                {{MechanismEvent(RandomAllocation{3, 2, MechanismEvent(Gaussian{noise})}), 1}},
                DeltaAtEpsilon{epsilon}));
        if (!answer.ok()) continue;
        EXPECT_LE(answer->lower.value_or(0), truth + 1e-4) << Name(accountant) << " " << epsilon;
        EXPECT_GE(*answer->upper, truth - 1e-4) << Name(accountant) << " " << epsilon;
      }
    }
  }
}

TEST(RandomAllocationOfSeveralRounds, OfEveryRoundIsEveryRound) {
  const MechanismEvent every = RandomAllocation{3, 3, MechanismEvent(Gaussian{2})};
  const auto answer = Answer(Ask(Accountant::kPld, {{every, 1}}, DeltaAtEpsilon{1}));
  const auto composed =
      Answer(Ask(Accountant::kPld, {{MechanismEvent(Gaussian{2}), 3}}, DeltaAtEpsilon{1}));
  ASSERT_TRUE(answer.ok() && composed.ok());
  ASSERT_TRUE(answer->lower.has_value());
  EXPECT_LE(*answer->lower, *composed->upper);
  EXPECT_GE(*answer->upper, *composed->lower);
}

// One of four Gaussian releases, told only their sum: delta of a Gaussian release of twice the
// noise.
TEST(RandomAllocation, LosesAtLeastWhatTheSumOfItsRoundsDoes) {
  const MechanismEvent event = RandomAllocation{4, 1, MechanismEvent(Gaussian{1})};
  for (const std::optional<Adjacency> adjacency :
       {std::optional(Adjacency::kRemove), std::optional(Adjacency::kAdd)}) {
    for (const double epsilon : {0.0, 0.25, 0.5}) {
      Question question = Ask(Accountant::kPld, {{event, 1}}, DeltaAtEpsilon{epsilon});
      question.adjacency = adjacency;
      const auto answer = Answer(question);
      ASSERT_TRUE(answer.ok()) << answer.status();
      const auto phi = [](double x) { return 0.5 * std::erfc(-x / std::sqrt(2)); };
      const double sum = phi(0.25 - 2 * epsilon) - std::exp(epsilon) * phi(-0.25 - 2 * epsilon);
      ASSERT_TRUE(answer->lower.has_value());
      EXPECT_GE(*answer->lower, sum * (1 - 2e-3)) << epsilon;
      EXPECT_LE(*answer->lower, *answer->upper) << epsilon;
    }
  }
}

// One round of any mechanism is its Poisson sample.
TEST(RandomAllocation, LosesAtLeastWhatOneRoundDoes) {
  const MechanismEvent event = RandomAllocation{4, 1, MechanismEvent(Laplace{1})};
  Question question = Ask(Accountant::kPld, {{event, 1}}, DeltaAtEpsilon{0.1});
  question.adjacency = Adjacency::kAdd;
  const auto answer = Answer(question);
  ASSERT_TRUE(answer.ok()) << answer.status();
  // Noise at 0 with 3/4 and at 1 with 1/4, by the midpoint rule.
  double one_round = 0;
  constexpr double kCell = 1e-4;
  for (double t = -20 + 0.5 * kCell; t < 20; t += kCell) {
    const double without = 0.5 * std::exp(-std::abs(t));
    const double with = 0.75 * without + 0.125 * std::exp(-std::abs(t - 1));
    one_round += kCell * std::max(0.0, without - std::exp(0.1) * with);
  }
  ASSERT_TRUE(answer->lower.has_value());
  EXPECT_GE(*answer->lower, one_round * (1 - 2e-3));
  EXPECT_LE(*answer->lower, *answer->upper);
}

}  // namespace
}  // namespace epsledger::accounting
