#include "accounting/trade_off/operating_point.h"

#include <cmath>

#include "accounting/trade_off/transformation.h"
#include "gtest/gtest.h"

namespace epsledger::accounting {
namespace {

TEST(Advantage, HasClosedForms) {
  // 2 Phi(1/2) - 1, (e - 1)/(e + 1) = tanh(1/2), 1 - e^{-1/2}.
  EXPECT_NEAR(Advantage(*TradeOffFunction::Gaussian(1)).upper, 0.38292492254802620728, 1e-14);
  EXPECT_NEAR(Advantage(*TradeOffFunction::ApproximateDp(1, 0)).upper, std::tanh(0.5), 1e-14);
  EXPECT_NEAR(Advantage(*TradeOffFunction::Laplace(1)).lower, 1 - std::exp(-0.5), 1e-14);
  EXPECT_EQ(Advantage(TradeOffFunction::Identity()).upper, 0);
}

TEST(TruePositiveRate, IsTheComplementOfTheTypeTwoError) {
  // An (epsilon, delta) mechanism has TPR <= e^epsilon FPR + delta.
  const auto f = *TradeOffFunction::ApproximateDp(1, 0.01);
  EXPECT_NEAR(TruePositiveRate(f, 0.1).upper, std::exp(1.0) * 0.1 + 0.01, 1e-14);
  EXPECT_GE(TruePositiveRate(f, 0.1).upper, std::exp(1.0) * 0.1 + 0.01 - 1e-16);
  EXPECT_EQ(TruePositiveRate(f, 1).upper, 1);
}

TEST(BayesError, IsTheSmallestWeightedError) {
  const auto f = *TradeOffFunction::Gaussian(1);
  for (const double prior : {0.01, 0.3, 0.5, 0.9}) {
    double least = 1;
    for (double a = 0; a <= 1; a += 1e-4) {
      least = std::min(least, prior * a + (1 - prior) * f.At(a).lower);
    }
    const Bounds error = BayesError(f, prior);
    EXPECT_NEAR(error.lower, least, 1e-7) << prior;
    EXPECT_LE(error.lower, least) << prior;
    EXPECT_LE(error.lower, error.upper) << prior;
    EXPECT_LE(error.upper, std::min(prior, 1 - prior) + 1e-15) << prior;
  }
  // Equal priors: (1 - advantage) / 2.
  EXPECT_NEAR(BayesError(f, 0.5).lower, 0.5 * (1 - 0.38292492254802620728), 1e-14);
  EXPECT_EQ(BayesError(f, 0).upper, 0);
  EXPECT_EQ(BayesError(f, 1).upper, 0);
}

TEST(SummarizeAsGaussian, IsExactForGaussians) {
  for (const double mu : {0.1, 1.0, 3.0}) {
    const auto summary = SummarizeAsGaussian(*TradeOffFunction::Gaussian(mu), 1e-6);
    ASSERT_TRUE(summary.ok());
    EXPECT_NEAR(summary->mu, mu, 1e-7);
    EXPECT_NEAR(summary->regret, 0, 1e-8);
  }
}

// The far tail of a sampled Gaussian is that of the unsampled one, so mu grows with the range, and
// what it loses elsewhere is the regret.
TEST(SummarizeAsGaussian, DependsOnTheRangeForASampledGaussian) {
  const auto f = *SubsampleSymmetrized(*TradeOffFunction::Gaussian(1), 0.1);
  const auto narrow = *SummarizeAsGaussian(f, 1e-2);
  const auto wide = *SummarizeAsGaussian(f, 1e-8);
  EXPECT_LT(narrow.mu, 0.35);
  EXPECT_GT(wide.mu, narrow.mu + 0.1);
  EXPECT_LT(wide.mu, 1);
  EXPECT_GT(wide.regret, narrow.regret);
  // G_mu is below f within the range.
  for (const double alpha : {0.01, 0.1, 0.5, 0.9, 0.99}) {
    EXPECT_LE(TradeOffFunction::Gaussian(narrow.mu)->At(alpha).lower, f.At(alpha).upper + 1e-9);
  }
  EXPECT_FALSE(SummarizeAsGaussian(f, 0.5).ok());
  EXPECT_FALSE(SummarizeAsGaussian(f, 0).ok());
}

}  // namespace
}  // namespace epsledger::accounting
