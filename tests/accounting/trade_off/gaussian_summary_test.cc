#include "accounting/trade_off/gaussian_summary.h"

#include <cmath>

#include "accounting/trade_off/transformation.h"
#include "gtest/gtest.h"

namespace epsledger::accounting {
namespace {

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
