#include "accounting/audit/binomial_tail.h"
#include "accounting/numeric/constants.h"

#include <cmath>

#include "gtest/gtest.h"

namespace epsledger::accounting {
namespace {

// scipy 1.10: binom.sf(k - 1, n, 1 / (1 + exp(-t))).
TEST(BinomialUpperTail, AgreesWithScipyFromAbove) {
  struct Row {
    double logit;
    int64_t trials;
    int64_t successes;
    double tail;
  };
  for (const Row& row :
       {Row{0.0, 10, 8, 0.0546875}, Row{1.0, 100, 80, 0.0715562468048367},
        Row{-3.0, 1000, 70, 0.000964304229528402}, Row{0.5, 100000, 63000, 4.28377988058555e-07},
        Row{8.0, 1000, 1000, 0.715047451400114}}) {
    const double tail = BinomialUpperTail(row.logit, row.trials, row.successes);
    EXPECT_NEAR(tail / row.tail, 1, 2e-11) << row.successes << " of " << row.trials;
    const BinomialTail both = BinomialUpperTailAndMass(row.logit, row.trials, row.successes);
    EXPECT_EQ(both.tail, tail);
    EXPECT_LE(both.mass, both.tail);
    EXPECT_GT(both.mass, 0);
  }
}

// 2^-n, exactly; rounded up, never down.
TEST(BinomialUpperTail, IsNeverBelowAnExactPower) {
  for (const int64_t trials : {1, 2, 10, 53, 500, 1000}) {
    const double exact = std::ldexp(1.0, static_cast<int>(-trials));
    EXPECT_GE(BinomialUpperTail(0, trials, trials), exact) << trials;
    EXPECT_LE(BinomialUpperTail(0, trials, trials), exact * (1 + 1e-11)) << trials;
  }
}

TEST(BinomialUpperTail, KnowsItsEnds) {
  EXPECT_EQ(BinomialUpperTail(0, 10, 0), 1);
  EXPECT_EQ(BinomialUpperTail(0, 10, 11), 0);
  EXPECT_EQ(BinomialUpperTail(kInfinity, 10, 10), 1);
  EXPECT_EQ(BinomialUpperTail(std::nan(""), 10, 10), 1);
  EXPECT_GT(BinomialUpperTail(-kInfinity, 10, 1), 0);  // asked at the smallest logit it knows
  EXPECT_LT(BinomialUpperTail(-kInfinity, 10, 1), 1e-300);
}

struct ProportionRow {
  int64_t successes;
  int64_t trials;
  double failure_probability;
  double lower;
  double upper;
};

// scipy 1.10: beta.ppf(a, k, n - k + 1) and beta.isf(a, k + 1, n - k).
constexpr ProportionRow kClopperPearson[] = {
    {1, 10, 0.05, 0.0051161968918237, 0.394163302436505},
    {5, 10, 0.025, 0.187086028447399, 0.812913971552601},
    {10, 10, 0.05, 0.741134449106948, 1},
    {999, 1000, 1e-06, 0.983441835825256, 0.999999998999999},
    {50000, 100000, 5e-07, 0.492261123259504, 0.507738876740496},
    {312, 100000, 5e-07, 0.00233192168564327, 0.00407113328649431},
    {2, 100000, 0.025, 2.42210196270315e-06, 7.22449893650479e-05},
};

TEST(LogitBounds, AreThoseOfClopperAndPearson) {
  for (const ProportionRow& row : kClopperPearson) {
    const double lower = LogitLowerBound(row.successes, row.trials, row.failure_probability);
    const double upper = LogitUpperBound(row.successes, row.trials, row.failure_probability);
    EXPECT_NEAR(ProportionDown(lower) / row.lower, 1, 1e-10)
        << row.successes << " of " << row.trials;
    EXPECT_NEAR(ProportionUp(upper) / row.upper, 1, 1e-10) << row.successes << " of " << row.trials;
    // The direction: what is returned is verified by the tail.
    EXPECT_LE(BinomialUpperTail(lower, row.trials, row.successes), row.failure_probability);
    if (row.successes < row.trials) {
      EXPECT_LE(BinomialUpperTail(-upper, row.trials, row.trials - row.successes),
                row.failure_probability);
    }
  }
}

TEST(LogitBounds, AreOpenWhereNothingWasSeen) {
  EXPECT_EQ(LogitLowerBound(0, 100, 0.05), -kInfinity);
  EXPECT_EQ(LogitUpperBound(100, 100, 0.05), kInfinity);
  EXPECT_EQ(ProportionDown(-kInfinity), 0);
  EXPECT_EQ(ProportionUp(kInfinity), 1);
  // The rule of three: 1 - .05^(1/100).
  EXPECT_NEAR(ProportionUp(LogitUpperBound(0, 100, 0.05)), 0.029513049607926, 1e-12);
}

TEST(LogitBounds, WidenWithTheConfidence) {
  double lower = kInfinity;
  double upper = -kInfinity;
  for (const double failure : {0.4, 0.1, 1e-2, 1e-6, 1e-12, 1e-100, 1e-300}) {
    const double next_lower = LogitLowerBound(700, 1000, failure);
    const double next_upper = LogitUpperBound(700, 1000, failure);
    EXPECT_LT(next_lower, lower) << failure;
    EXPECT_GT(next_upper, upper) << failure;
    lower = next_lower;
    upper = next_upper;
  }
}

// The definition, by counting: over all outcomes of the truth, the bound misses it with probability
// at most the failure probability.
TEST(LogitBounds, CoverEveryProportion) {
  constexpr int64_t kTrials = 40;
  for (const double truth : {0.01, 0.1, 0.37, 0.5, 0.9, 0.999}) {
    double missed_below = 0;
    double missed_above = 0;
    double mass = std::pow(1 - truth, kTrials);
    for (int64_t k = 0; k <= kTrials; ++k) {
      if (ProportionDown(LogitLowerBound(k, kTrials, 0.05)) > truth) missed_below += mass;
      if (ProportionUp(LogitUpperBound(k, kTrials, 0.05)) < truth) missed_above += mass;
      mass *= static_cast<double>(kTrials - k) / static_cast<double>(k + 1) * truth / (1 - truth);
    }
    EXPECT_LE(missed_below, 0.05) << truth;
    EXPECT_LE(missed_above, 0.05) << truth;
  }
}

}  // namespace
}  // namespace epsledger::accounting
