// What a guarantee says about attacks, against the best attacks themselves: closed forms,
// enumeration and quadrature of the laws of the outputs.

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "accounting/answer.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/accounting/questions.h"

namespace epsledger::accounting {
namespace {

using ::testing::HasSubstr;

double Phi(double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); }

double Density(double x) { return std::exp(-0.5 * x * x) / std::sqrt(2 * M_PI); }

// The success of the best test of N(0, 1) against N(mu, 1) with a prior on the second.
double GaussianTestSuccess(double mu, double prior) {
  const double threshold = mu / 2 + std::log((1 - prior) / prior) / mu;
  return prior * Phi(mu - threshold) + (1 - prior) * Phi(threshold);
}

// The integral of max(prior p, (1 - prior) q).
template <class P, class Q>
double BestTest(double prior, P p, Q q) {
  double sum = 0;
  const double h = 1e-4;
  for (double x = -30; x < 30; x += h) sum += h * std::max(prior * p(x), (1 - prior) * q(x));
  return sum;
}

absl::StatusOr<Guarantee> Of(Accountant accountant, const MechanismEvent& event, Query query,
                             NeighboringRelation relation = NeighboringRelation::kAddOrRemoveOne) {
  Question question = Ask(accountant, {{event, 1}}, std::move(query));
  question.relation = relation;
  return Answer(question);
}

void ExpectBracket(const absl::StatusOr<Guarantee>& answer, double truth, double slack,
                   const std::string& what) {
  ASSERT_TRUE(answer.ok()) << what << ": " << answer.status();
  ASSERT_TRUE(answer->upper.has_value() && answer->lower.has_value()) << what;
  EXPECT_EQ(answer->kind, GuaranteeKind::kUpperBound) << what;
  EXPECT_GE(*answer->upper, truth * (1 - 1e-12)) << what;
  EXPECT_LE(*answer->lower, truth * (1 + 1e-12)) << what;
  EXPECT_NEAR(*answer->upper, truth, slack) << what;
  EXPECT_NEAR(*answer->lower, truth, slack) << what;
}

TEST(BayesSuccess, OfAGaussianIsThatOfTheThresholdTest) {
  for (const double mu : {0.1, 1.0, 4.0}) {
    for (const double prior : {1e-6, 0.1, 0.3, 0.5, 0.7, 0.999}) {
      const double truth = GaussianTestSuccess(mu, prior);
      ExpectBracket(Of(Accountant::kGaussian, GaussianDp{mu}, BayesSuccessAt{prior}), truth, 1e-12,
                    "mu " + std::to_string(mu) + " prior " + std::to_string(prior));
    }
  }
}

TEST(BayesSuccess, OfSampledNoiseIsThatOfTheBestTestForTheRecordBeingThere) {
  const double q = 0.2;
  const auto without = [](double x) { return Density(x); };
  const auto with = [&](double x) { return (1 - q) * Density(x) + q * Density(x - 2); };
  for (const double prior : {0.05, 0.4, 0.5, 0.6, 0.95}) {
    ExpectBracket(Of(Accountant::kPld, SampledGaussianEvent(q, 0.5), BayesSuccessAt{prior}),
                  BestTest(prior, with, without), 1e-3, std::to_string(prior));
  }
  // The two directions differ: a prior of .6 is not a prior of .4.
  EXPECT_GT(std::abs(BestTest(0.7, with, without) - BestTest(0.3, with, without)), 0.01);
}

TEST(BayesSuccess, OfRandomizedResponseIsThatOfTheEnumeratedTest) {
  const double flip = 0.4;
  const int buckets = 3;
  const double told = 1 - flip + flip / buckets, other = flip / buckets;
  for (const double prior : {0.1, 0.3, 0.5, 0.8}) {
    // The records are values 0 and 1.
    const double truth = std::max(prior * told, (1 - prior) * other) +
                         std::max(prior * other, (1 - prior) * told) +
                         std::max(prior, 1 - prior) * other;
    const auto answer = Of(Accountant::kBest, RandomizedResponse{flip, buckets},
                           BayesSuccessAt{prior}, NeighboringRelation::kReplaceOne);
    ExpectBracket(answer, truth, 1e-3, std::to_string(prior));
  }
}

TEST(BayesSuccess, IsTheBetterGuessWhereNothingIsLearned) {
  for (const double prior : {5e-324, 1e-300, 0.25, 0.5, 0.75, 1 - 0x1p-53}) {
    const auto answer = Answer(Ask(Accountant::kBest, {}, BayesSuccessAt{prior}));
    ASSERT_TRUE(answer.ok()) << answer.status();
    EXPECT_GE(*answer->upper, std::max(prior, 1 - prior));
    EXPECT_NEAR(*answer->upper, std::max(prior, 1 - prior), 1e-15);
    EXPECT_LE(*answer->lower, std::max(prior, 1 - prior));
  }
  const auto at_half = Of(Accountant::kPld, Laplace{1}, BayesSuccessAt{0.5});
  const auto advantage = Of(Accountant::kPld, Laplace{1}, Advantage{});
  EXPECT_NEAR(*at_half->upper, 0.5 * (1 + *advantage->upper), 1e-15);
}

TEST(TruePositiveRate, IsOneMinusTheTypeTwoError) {
  for (const double mu : {0.5, 2.0}) {
    for (const double rate : {1e-9, 0.01, 0.5}) {
      // P[N(mu, 1) > t] where P[N(0, 1) > t] = rate.
      double low = -10, high = 10;
      for (int i = 0; i < 200; ++i) {
        const double middle = 0.5 * (low + high);
        (Phi(-middle) > rate ? low : high) = middle;
      }
      ExpectBracket(Of(Accountant::kGaussian, GaussianDp{mu}, TruePositiveRateAt{rate}),
                    Phi(mu - low), 1e-12, std::to_string(rate));
    }
  }
  const auto clt = Of(Accountant::kClt, Gaussian{1}, TruePositiveRateAt{0.1});
  ASSERT_TRUE(clt.ok());
  EXPECT_EQ(clt->kind, GuaranteeKind::kApproximation);
  EXPECT_FALSE(clt->lower.has_value());
  EXPECT_GT(*clt->upper, 0.1);
}

TEST(ReconstructionSuccess, BoundsTheBestGuessOfAMemberOfASimplex) {
  // The record is one of k orthogonal vectors of length mu with equal probability; noise N(0, I).
  // The most likely one is right with probability E[Phi(g + mu)^(k - 1)].
  for (const double mu : {0.3, 1.0, 3.0}) {
    for (const int k : {2, 10, 1000}) {
      double attack = 0;
      const double h = 1e-3;
      for (double g = -12; g < 12; g += h) attack += h * Density(g) * std::pow(Phi(g + mu), k - 1);
      const auto bound = Of(Accountant::kBest, GaussianDp{mu}, ReconstructionSuccessAt{1.0 / k});
      ASSERT_TRUE(bound.ok()) << bound.status();
      EXPECT_GE(*bound->upper, attack - 1e-9) << mu << " " << k;
      EXPECT_GE(*bound->upper, 1.0 / k);
      EXPECT_FALSE(bound->lower.has_value());
      EXPECT_THAT(bound->theorem, HasSubstr("[HMB23]"));
    }
  }
}

TEST(ReconstructionSuccess, BoundsTheBestGuessOfAnAttributeUnderRandomizedResponse) {
  const double flip = 0.3;
  const int buckets = 4;
  const double told = 1 - flip + flip / buckets, other = flip / buckets;
  for (const std::vector<double>& prior :
       {std::vector<double>{0.25, 0.25, 0.25, 0.25}, {0.7, 0.1, 0.1, 0.1}, {0.4, 0.4, 0.2, 0}}) {
    double attack = 0;
    for (int output = 0; output < buckets; ++output) {
      double best = 0;
      for (int z = 0; z < buckets; ++z) {
        best = std::max(best, prior[static_cast<size_t>(z)] * (z == output ? told : other));
      }
      attack += best;
    }
    const double baseline = *std::max_element(prior.begin(), prior.end());
    const auto bound = Of(Accountant::kBest, RandomizedResponse{flip, buckets},
                          ReconstructionSuccessAt{baseline}, NeighboringRelation::kReplaceOne);
    ASSERT_TRUE(bound.ok()) << bound.status();
    EXPECT_GE(*bound->upper, attack * (1 - 1e-12)) << baseline;
    EXPECT_LE(*bound->upper, std::min(1.0, told / other * baseline) * (1 + 1e-6)) << baseline;
  }
}

TEST(ReconstructionSuccess, ReadsTheDirectionFromWithoutToWith) {
  // A record that is sampled with probability q and then revealed: the guess is right if it was
  // sampled, and else by chance.
  const double q = 0.3;
  const MechanismEvent revealed = PoissonSampled{q, MechanismEvent(ApproximateDp{0, 1})};
  for (const double baseline : {0.0, 0.1, 0.5, 1.0}) {
    const auto bound = Of(Accountant::kPld, revealed, ReconstructionSuccessAt{baseline});
    ASSERT_TRUE(bound.ok()) << bound.status();
    EXPECT_GE(*bound->upper, q + (1 - q) * baseline - 1e-15);
    EXPECT_NEAR(*bound->upper, q + (1 - q) * baseline, 1e-3);
  }
}

TEST(AttackQueries, RefuseWhatHasNoMeaning) {
  for (const double prior : {0.0, 1.0, -0.1, std::numeric_limits<double>::quiet_NaN()}) {
    const auto answer = Of(Accountant::kBest, Gaussian{1}, BayesSuccessAt{prior});
    EXPECT_TRUE(absl::IsInvalidArgument(answer.status())) << prior;
    EXPECT_THAT(answer.status().message(), HasSubstr("query.bayesSuccessAt: got"));
  }
  EXPECT_THAT(Of(Accountant::kBest, Gaussian{1}, TruePositiveRateAt{1.5}).status().message(),
              HasSubstr("query.truePositiveRateAt: got 1.5, want in [0, 1]"));
  EXPECT_THAT(Of(Accountant::kBest, Gaussian{1}, ReconstructionSuccessAt{-1}).status().message(),
              HasSubstr("query.reconstructionSuccessAt: got -1, want in [0, 1]"));
  Question question =
      Ask(Accountant::kBest, {{MechanismEvent(Gaussian{1}), 1}}, BayesSuccessAt{0.5});
  question.adjacency = Adjacency::kAdd;
  EXPECT_THAT(Answer(question).status().message(), HasSubstr("adjacency: got ADD, want nothing"));
  question.query = ReconstructionSuccessAt{0.5};
  EXPECT_TRUE(absl::IsInvalidArgument(Answer(question).status()));
  question.query = Advantage{};
  auto history = ComposedHistory::Create(question);
  ASSERT_TRUE(history.ok());
  EXPECT_TRUE(absl::IsInvalidArgument(history->Ask(BayesSuccessAt{0.5}).status()));
  EXPECT_TRUE(history->Ask(TruePositiveRateAt{0.5}).ok());
}

TEST(AttackQueries, KnowThatNothingIsHiddenWithoutPrivacy) {
  for (const Query& query : {Query(TruePositiveRateAt{0}), Query(BayesSuccessAt{0.5}),
                             Query(ReconstructionSuccessAt{0})}) {
    const auto answer = Of(Accountant::kBest, NonPrivate{"published"}, query);
    ASSERT_TRUE(answer.ok()) << answer.status();
    EXPECT_EQ(*answer->upper, 1);
  }
}

TEST(AttackQueries, BestIsTheSmallestOfAllProved) {
  const std::vector<CountedEvent> events = {{SampledGaussianEvent(0.02, 1), 300}};
  for (const Query& query : {Query(TruePositiveRateAt{0.01}), Query(BayesSuccessAt{0.3}),
                             Query(ReconstructionSuccessAt{0.001})}) {
    const auto best = Answer(Ask(Accountant::kBest, events, query));
    ASSERT_TRUE(best.ok()) << best.status();
    for (const Accountant other :
         {Accountant::kPld, Accountant::kTradeOff, Accountant::kRenyi, Accountant::kZcdp}) {
      const auto answer = Answer(Ask(other, events, query));
      ASSERT_TRUE(answer.ok()) << answer.status();
      EXPECT_EQ(answer->kind, GuaranteeKind::kUpperBound);
      EXPECT_LE(*best->upper, *answer->upper * 1.002) << Name(other);
      if (best->lower.has_value()) {
        EXPECT_LE(*best->lower, *answer->upper);
      }
    }
  }
}

}  // namespace
}  // namespace epsledger::accounting
