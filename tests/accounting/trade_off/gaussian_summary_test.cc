#include "accounting/trade_off/gaussian_summary.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>

#include "accounting/trade_off/gaussian_fit.h"
#include "accounting/trade_off/transformation.h"
#include "gtest/gtest.h"

namespace epsledger::accounting {
namespace {

double UpperTailOf(double x) { return 0.5 * std::erfc(x / std::sqrt(2.0)); }

// The t with 1 - Phi(t) = p, by bisection.
double TailPoint(double p) {
  double low = -40, high = 40;
  for (int i = 0; i < 60; ++i) {
    const double middle = 0.5 * (low + high);
    (UpperTailOf(middle) > p ? low : high) = middle;
  }
  return 0.5 * (low + high);
}

double GaussianCurve(double mu, double alpha) { return UpperTailOf(mu - TailPoint(alpha)); }

// The largest -Phi^-1(alpha) - Phi^-1(f(alpha)) on a dense grid of the range.
double SmallestMu(const std::function<double(double)>& f, double smallest_alpha) {
  double largest = 0;
  const double end = std::log((1 - smallest_alpha) / smallest_alpha);
  for (int i = 0; i <= 3000; ++i) {
    const double v = end * (2 * i / 3000.0 - 1);
    const double alpha = 1 / (1 + std::exp(v));
    largest = std::max(largest, TailPoint(alpha) + TailPoint(f(alpha)));
  }
  return largest;
}

// The smallest k with f(a + k) - k <= g(a) for all a of a grid, straight from the definition.
double SmallestShift(const std::function<double(double)>& f,
                     const std::function<double(double)>& g) {
  double low = 0, high = 1;
  for (int i = 0; i < 30; ++i) {
    const double k = 0.5 * (low + high);
    bool below = true;
    for (double a = 0; a <= 1 && below; a += 5e-3) {
      below = (a + k >= 1 ? 0 : f(a + k)) - k <= g(a);
    }
    (below ? high : low) = k;
  }
  return high;
}

TEST(SummarizeAsGaussian, IsExactForGaussians) {
  for (const double mu : {0.1, 1.0, 3.0}) {
    const auto summary = SummarizeAsGaussian(*TradeOffFunction::Gaussian(mu), 1e-6);
    ASSERT_TRUE(summary.ok());
    EXPECT_NEAR(summary->mu, mu, 1e-7);
    EXPECT_NEAR(summary->regret, 0, 1e-8);
  }
}

// f_p = p G + (1 - p) Id, which is not its own inverse: both sides of the profile count.
TEST(SummarizeAsGaussian, BoundsMuAndRegretOfASampledGaussianFromAbove) {
  for (const double p : {0.02, 0.3, 0.9}) {
    for (const double mu : {0.5, 2.0}) {
      const auto f = [&](double a) { return p * GaussianCurve(mu, a) + (1 - p) * (1 - a); };
      const TradeOffFunction sampled = *Subsample(*TradeOffFunction::Gaussian(mu), p);
      for (const double smallest_alpha : {1e-2, 1e-6}) {
        const std::string what =
            std::to_string(p) + " " + std::to_string(mu) + " " + std::to_string(smallest_alpha);
        const double truth = SmallestMu(f, smallest_alpha);
        const auto summary = *SummarizeAsGaussian(sampled, smallest_alpha);
        EXPECT_GE(summary.mu, truth * (1 - 1e-9)) << what;
        EXPECT_LE(summary.mu, truth * (1 + 3e-4)) << what;
        EXPECT_LE(summary.mu_lower, truth * (1 + 1e-6)) << what;
        EXPECT_GE(summary.mu_lower, truth * (1 - 1e-3)) << what;
        const double shift =
            SmallestShift(f, [&](double a) { return GaussianCurve(summary.mu, a); });
        EXPECT_GE(summary.regret, shift - 1e-9) << what;
        EXPECT_LE(summary.regret, shift * 1.02 + 2e-6) << what;
      }
    }
  }
}

TEST(SummarizeAsGaussian, BoundsKinksFromAbove) {
  const double epsilon = 1, delta = 0.01;
  const auto f = [&](double a) {
    return std::max({0.0, 1 - delta - std::exp(epsilon) * a, std::exp(-epsilon) * (1 - delta - a)});
  };
  const TradeOffFunction kinked = *TradeOffFunction::ApproximateDp(epsilon, delta);
  // f reaches 0 at 1 - delta: no mu is large enough beyond.
  EXPECT_EQ(SummarizeAsGaussian(kinked, 1e-3)->mu, INFINITY);
  EXPECT_LE(SummarizeAsGaussian(kinked, 1e-3)->regret, 0.5);
  const auto summary = *SummarizeAsGaussian(kinked, 0.02);
  // At the kink both errors are the same; else the end of the range decides.
  const double truth = std::max(2 * TailPoint((1 - delta) / (1 + std::exp(epsilon))),
                                TailPoint(0.98) + TailPoint(f(0.98)));
  EXPECT_GE(summary.mu, truth * (1 - 1e-9));
  EXPECT_LE(summary.mu, truth * (1 + 3e-4));
}

// Lines at fixed places are a promise of their own, which the summary does not leave.
TEST(SummarizeAsGaussian, OfAFitIsNeverBelowThatOfTheCurve) {
  for (const double mu : {0.2, 1.0, 5.0}) {
    const TradeOffFunction f = *TradeOffFunction::Gaussian(mu);
    const auto fit = *FitGaussian([&](double epsilon) { return f.Delta(epsilon).upper; }, 1e-6);
    EXPECT_GE(fit.mu, mu * (1 - 1e-12)) << mu;
    EXPECT_LE(fit.mu, mu * 1.02 + 0.01) << mu;
    EXPECT_GE(fit.regret, 0);
    EXPECT_LE(fit.regret, 0.01) << mu;
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
