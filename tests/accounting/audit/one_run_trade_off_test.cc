#include "accounting/audit/one_run_trade_off.h"

#include <cmath>
#include <random>
#include <vector>

#include "accounting/audit/certified_trade_off.h"
#include "accounting/gaussian/calibration.h"
#include "gtest/gtest.h"
#include "tests/accounting/audit/simulated_canaries.h"
#include "tests/accounting/questions.h"

namespace epsledger::accounting {
namespace {

struct MuRow {
  OneRunCounts counts;
  double confidence;
  double mu;
};

// Algorithm 3 of [MMC24] with k = 2 as its authors print it (r and h over the number of guesses),
// written in numpy with norm.cdf(norm.ppf(x) - mu) and bisected on mu.
constexpr MuRow kMu[] = {
    {{100, 100, 80}, 0.95, 0.530689088},      {{1000, 1000, 600}, 0.95, 0.163849808},
    {{1000, 100, 98}, 0.95, 0.970439027},     {{1000, 1000, 500}, 0.95, 0},
    {{1000, 10, 10}, 0.99, 0.159059695},      {{5000, 5000, 4500}, 0.999999, 0.423992364},
    {{5000, 5000, 4500}, 0.95, 0.8804315933}, {{1000, 100, 100}, 0.95, 1.2255334524},
};

TEST(AuditOneRunGaussian, AgreesWithThePublishedRecursion) {
  for (const MuRow& row : kMu) {
    const auto audit =
        *AuditOneRunGaussian(row.counts, {.delta = 1e-5, .confidence = row.confidence});
    EXPECT_LE(audit.mu_lower, row.mu + 1e-8) << row.mu;
    EXPECT_GE(audit.mu_lower, row.mu * (1 - 3e-6)) << row.mu;
    if (audit.mu_lower > 0) {
      EXPECT_TRUE(ContradictsTradeOff(row.counts, *TradeOffFunction::Gaussian(audit.mu_lower),
                                      1 - row.confidence));
    }
  }
}

struct TradeOffPValueRow {
  double mu;
  OneRunCounts counts;
  double p_value;
};

constexpr TradeOffPValueRow kTradeOffPValues[] = {
    {1, {100, 100, 80}, 0.47092757},
    {1, {1000, 100, 75}, 1},
    {0.5, {1000, 1000, 650}, 0.542252418},
    {2, {50, 50, 50}, 0.185487692},
};

TEST(OneRunTradeOffPValue, AgreesWithThePublishedRecursion) {
  for (const TradeOffPValueRow& row : kTradeOffPValues) {
    const double p = OneRunTradeOffPValue(row.counts, *TradeOffFunction::Gaussian(row.mu));
    EXPECT_GE(p, row.p_value * (1 - 1e-8)) << row.mu;
    EXPECT_LE(p, row.p_value * (1 + 0x1p-9)) << row.mu;
  }
}

// The statement itself on mechanisms small enough to enumerate: W of randomized response with
// abstention, which is f_{epsilon, 0}-DP in each canary, has exactly known tails. They are never
// above the p-value.
TEST(OneRunTradeOffPValue, IsAboveTheTailsOfMechanismsThatAreKnown) {
  for (const double epsilon : {0.0, 0.3, 1.0, 2.5}) {
    const auto f = *TradeOffFunction::ApproximateDp(epsilon, 0);
    const double right = 1 / (1 + std::exp(-epsilon));
    for (const int64_t canaries : {1, 2, 5, 12}) {
      // Independent answers: W ~ Bin(m, q).
      double tail = 0;
      double mass = std::pow(right, static_cast<double>(canaries));
      for (int64_t v = canaries; v >= 0; --v) {
        tail += mass;
        EXPECT_GE(OneRunTradeOffPValue({canaries, canaries, v}, f), tail * (1 - 1e-12))
            << epsilon << " " << canaries << " " << v;
        if (v > 0) {
          mass *=
              static_cast<double>(v) / static_cast<double>(canaries - v + 1) * (1 - right) / right;
        }
      }
    }
    // One canary: the p-value IS the tail, sup of P[right] = q. So the bound is attained.
    EXPECT_NEAR(OneRunTradeOffPValue({1, 1, 1}, f), right, 1e-3) << epsilon;
  }
  // With probability delta everything is told, otherwise nothing is: (0, delta)-DP, and
  // P[W >= m] = delta + (1 - delta) 2^-m.
  const double delta = 0.1;
  const auto f = *TradeOffFunction::ApproximateDp(0, delta);
  for (const int64_t canaries : {1, 2, 5, 12}) {
    const double all_right = delta + (1 - delta) * std::ldexp(1.0, static_cast<int>(-canaries));
    EXPECT_GE(OneRunTradeOffPValue({canaries, canaries, canaries}, f), all_right) << canaries;
  }
}

// The case that an audit of independent canaries forgets: the outcomes hang together. One coin of
// probability tau tells all canaries at once, within mu-GDP as long as tau is small.
TEST(ContradictsTradeOff, AllowsWhatHangsTogether) {
  // (0, delta)-DP tells m = 1000 canaries right with probability delta; at a failure probability
  // below delta this must not be a contradiction, though 1000 independent guesses would be.
  const auto f = *TradeOffFunction::ApproximateDp(0, 0.01);
  EXPECT_FALSE(ContradictsTradeOff({1000, 1000, 1000}, f, 0.0099));
  EXPECT_TRUE(ContradictsTradeOff({1000, 1000, 1000}, f, 0.05));
}

TEST(ContradictsTradeOff, NeverOfAFunctionThatPromisesNothing) {
  const auto nothing = *TradeOffFunction::ApproximateDp(0, 1);
  EXPECT_FALSE(ContradictsTradeOff({1000, 1000, 1000}, nothing, 1));
  EXPECT_EQ(OneRunTradeOffPValue({1000, 1000, 1000}, nothing), 1);
  // No right guess is no evidence.
  EXPECT_FALSE(ContradictsTradeOff({1000, 1000, 0}, TradeOffFunction::Identity(), 0.5));
}

TEST(ContradictsTradeOff, GrowsWithWhatWasGuessedAndWithTheProbability) {
  const auto f = *TradeOffFunction::Gaussian(0.5);
  bool last = false;
  for (int64_t correct = 500; correct <= 1000; correct += 10) {
    const bool contradicts = ContradictsTradeOff({1000, 1000, correct}, f, 0.05);
    EXPECT_TRUE(contradicts || !last) << correct;
    last = contradicts;
  }
  EXPECT_TRUE(last);
  double p = 1;
  for (int64_t correct = 500; correct <= 1000; correct += 50) {
    const double next = OneRunTradeOffPValue({1000, 1000, correct}, f);
    EXPECT_LE(next, p * (1 + 1e-3)) << correct;
    p = next;
  }
}

TEST(AuditOneRunGaussian, FallsWithConfidenceAndIsZeroOfNullScores) {
  double last = 100;
  for (const double confidence : {0.5, 0.9, 0.99, 1 - 1e-6}) {
    const double mu =
        AuditOneRunGaussian({1000, 200, 190}, {.delta = 1e-5, .confidence = confidence})->mu_lower;
    EXPECT_LT(mu, last) << confidence;
    EXPECT_GT(mu, 0);
    last = mu;
  }
  // 20 draws of null scores at 1 - 1e-6.
  SimulatedCanaries canaries(41);
  for (int run = 0; run < 20; ++run) {
    const auto counts = *CountGuesses(canaries.OneRun(0, 2000), 2000);
    const auto audit = *AuditOneRunGaussian(counts, {.delta = 1e-5, .confidence = 1 - 1e-6});
    EXPECT_EQ(audit.mu_lower, 0);
    EXPECT_EQ(audit.epsilon_lower_if_gaussian, 0);
  }
}

// Below the truth as often as it says, and above what the (epsilon, delta) audit of the same
// guesses shows.
TEST(AuditOneRunGaussian, IsBelowTheTruthAndAboveTheEpsilonDeltaAudit) {
  const AuditTarget target{.delta = 1e-5, .confidence = 0.9};
  for (const double epsilon : {1.0, 4.0}) {
    const double mu = LargestGaussianMu(epsilon, std::log(1e-5));
    SimulatedCanaries canaries(43);
    int above = 0;
    int better = 0;
    for (int run = 0; run < 100; ++run) {
      const auto counts = *CountGuesses(canaries.OneRun(mu, 1000), 250);
      const auto audit = *AuditOneRunGaussian(counts, target);
      above += audit.mu_lower > mu;
      better += audit.epsilon_lower_if_gaussian >= *OneRunEpsilonLowerBound(counts, target);
    }
    EXPECT_LT(above, 25) << epsilon;
    EXPECT_GT(better, 80) << epsilon;
  }
}

TEST(CertifiedTradeOff, IsBelowTheFunctionOfTheHistory) {
  const Question gaussian = AskEpsilon(Accountant::kBest, Gaussian{1}, 1, 1e-5);
  const auto f = *CertifiedTradeOff(gaussian);
  const auto truth = *TradeOffFunction::Gaussian(1);
  for (const double alpha : {0.0, 1e-9, 1e-4, 0.1, 0.5, 0.9, 0.999}) {
    EXPECT_LE(f.At(alpha).lower, truth.At(alpha).upper) << alpha;
    EXPECT_GE(f.At(alpha).lower, truth.At(alpha).lower * 0.995 - 1e-9) << alpha;
  }
}

TEST(CertifiedTradeOff, IsContradictedByWhatTheHistoryDoesNotAllow) {
  // DP-SGD: sampling probability .01, noise multiplier 1, 100 steps, certified by every accountant.
  const Question history = AskEpsilon(Accountant::kBest, SampledGaussianEvent(0.01, 1), 100, 1e-5);
  const auto f = *CertifiedTradeOff(history);
  // Half of the guesses right is what it allows, nine tenths of 1000 is not.
  EXPECT_FALSE(ContradictsTradeOff({1000, 1000, 520}, f, 1e-6));
  EXPECT_TRUE(ContradictsTradeOff({1000, 1000, 900}, f, 1e-3));
  EXPECT_LE(OneRunTradeOffPValue({1000, 1000, 900}, f), 1e-3);
}

TEST(CertifiedTradeOff, OfANonPrivateHistoryIsZero) {
  const auto f = *CertifiedTradeOff(AskEpsilon(Accountant::kBest, NonPrivate{"x"}, 1, 1e-5));
  EXPECT_EQ(f.At(0.01).lower, 0);
  EXPECT_FALSE(ContradictsTradeOff({1000, 1000, 1000}, f, 1));
}

TEST(CertifiedTradeOff, IsOfBothDirections) {
  Question question = AskEpsilon(Accountant::kBest, Gaussian{1}, 1, 1e-5);
  question.adjacency = Adjacency::kAdd;
  EXPECT_EQ(CertifiedTradeOff(question).status().message(),
            "adjacency: got ADD, want none: an audit is of both directions");
}

}  // namespace
}  // namespace epsledger::accounting
