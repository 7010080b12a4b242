#include "accounting/trade_off/tabulated_trade_off.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "accounting/gaussian/profile.h"
#include "accounting/gaussian/trade_off.h"
#include "accounting/trade_off/trade_off_function.h"
#include "accounting/trade_off/type_two_error.h"
#include "gtest/gtest.h"
#include "rapidcheck/gtest.h"

namespace epsledger::accounting {
namespace {

using Profile = std::function<Bounds(double epsilon)>;

std::vector<double> Alphas() {
  std::vector<double> alphas = {0, 1e-300, 1e-12, 1e-9};
  for (double alpha = 1e-7; alpha < 0.01; alpha *= 1.3) alphas.push_back(alpha);
  for (int i = 1; i < 100; ++i) alphas.push_back(i / 100.0);
  for (double rest = 0.009; rest > 1e-7; rest /= 1.3) alphas.push_back(1 - rest);
  alphas.push_back(1);
  return alphas;
}

Profile GaussianProfileOf(double mu) {
  return [mu](double epsilon) {
    const Bounds log_delta = GaussianLogDelta(Bounds{mu, mu}, epsilon);
    return Bounds{std::exp(log_delta.lower) * (1 - 1e-15),
                  std::min(1.0, std::exp(log_delta.upper) * (1 + 1e-15))};
  };
}

// f lies in the bounds, which are as narrow as wanted.
void ExpectTabulates(const TabulatedTradeOff& table, const std::function<Bounds(double)>& f,
                     const SamplingOptions& options, const std::string& what) {
  for (const double alpha : Alphas()) {
    const Bounds truth = f(alpha);
    const Bounds bounds = table.At(alpha);
    EXPECT_LE(bounds.lower, truth.upper) << what << " at " << alpha;
    EXPECT_GE(bounds.upper, truth.lower) << what << " at " << alpha;
    const double smaller = std::min(truth.upper, 1 - truth.upper);
    EXPECT_LE(bounds.upper - bounds.lower,
              2 * options.absolute_width + 4 * options.relative_width * smaller)
        << what << " at " << alpha << " is " << truth.lower;
  }
}

// Convex and non-increasing, up to the rounding of one hull.
void ExpectTradeOffFunction(const std::function<double(double)>& f, const std::string& what) {
  const std::vector<double> alphas = Alphas();
  for (size_t i = 1; i < alphas.size(); ++i) {
    EXPECT_LE(f(alphas[i]), f(alphas[i - 1]) + 1e-15) << what << " at " << alphas[i];
  }
  for (size_t i = 1; i + 1 < alphas.size(); ++i) {
    const double share = (alphas[i] - alphas[i - 1]) / (alphas[i + 1] - alphas[i - 1]);
    const double chord = f(alphas[i - 1]) + share * (f(alphas[i + 1]) - f(alphas[i - 1]));
    EXPECT_LE(f(alphas[i]), chord + 1e-11) << what << " at " << alphas[i];
  }
}

TEST(TabulatedTradeOff, BracketsGaussians) {
  for (const double mu : {1e-3, 0.05, 0.5, 1.0, 2.0, 5.0, 12.0}) {
    const SamplingOptions options;
    const auto samples = SampleProfile(GaussianProfileOf(mu), options);
    const TabulatedTradeOff table(samples, samples);
    ExpectTabulates(
        table,
        [mu](double alpha) {
          return GaussianTradeOff(Bounds{mu, mu}, alpha);
        },
        options, absl::StrCat("mu ", mu));
    ExpectTradeOffFunction([&](double alpha) { return table.At(alpha).lower; }, "lower");
    ExpectTradeOffFunction([&](double alpha) { return table.At(alpha).upper; }, "upper");
  }
}

TEST(TabulatedTradeOff, AsksLittleWhereALineIsEnough) {
  // f_{epsilon, delta} ([DRS19] Prop 2.5): kinks in the profile at +-epsilon.
  for (const double epsilon : {1e-4, 0.1, 1.0, 20.0}) {
    for (const double delta : {0.0, 1e-6, 0.1}) {
      const auto f = TradeOffFunction::ApproximateDp(epsilon, delta);
      ASSERT_TRUE(f.ok());
      SamplingOptions options;
      options.largest_epsilon = epsilon;
      const auto samples = SampleProfile([&](double e) { return f->Delta(e); }, options);
      EXPECT_LT(samples.size(), 120u) << epsilon << " " << delta;
      const TabulatedTradeOff table(samples, samples, 1 - delta, 1 - delta);
      ExpectTabulates(
          table, [&](double alpha) { return f->At(alpha); }, options,
          absl::StrCat("epsilon ", epsilon, " delta ", delta));
      EXPECT_NEAR(table.At(0).upper, 1 - delta, 1e-15);
    }
  }
}

TEST(TabulatedTradeOff, FindsAKinkThatItIsNotTold) {
  const auto f = TradeOffFunction::ApproximateDp(1, 0);
  const SamplingOptions options;
  const auto samples = SampleProfile([&](double e) { return f->Delta(e); }, options);
  EXPECT_LT(samples.size(), 200u);
  ExpectTabulates(
      TabulatedTradeOff(samples, samples), [&](double alpha) { return f->At(alpha); }, options,
      "randomized response");
}

TEST(TabulatedTradeOff, KnowsOneDirectionFromBothProfiles) {
  // Q = N(0, 1), P = (1-q) Q + q N(mu, 1).
  const double q = 0.2;
  const Profile inner = GaussianProfileOf(1.5);
  const Profile remove = [&](double epsilon) {
    const Bounds d = inner(std::log1p(std::expm1(epsilon) / q));
    return Bounds{q * d.lower * (1 - 1e-13), q * d.upper * (1 + 1e-13)};
  };
  const Profile add = [&](double epsilon) {
    const double c = q - (1 - q) * std::expm1(epsilon);
    if (!(c > 1e-9)) return Bounds{0, 1e-9};
    const Bounds d = inner(std::log(q * std::exp(epsilon) / c));
    return Bounds{c * d.lower * (1 - 1e-13), c * d.upper * (1 + 1e-13)};
  };
  const auto both_signs = [](const Profile& one, const Profile& reverse, double epsilon) {
    if (epsilon >= 0) return one(epsilon);
    const Bounds d = reverse(-epsilon);
    return Bounds{-std::expm1(epsilon) + std::exp(epsilon) * d.lower - 1e-16,
                  -std::expm1(epsilon) + std::exp(epsilon) * d.upper + 1e-16};
  };
  const SamplingOptions options;
  const auto remove_samples = SampleProfile(remove, options);
  const auto add_samples = SampleProfile(add, options);
  ExpectTabulates(
      TabulatedTradeOff(remove_samples, add_samples),
      [&](double alpha) {
        return TypeTwoError([&](double e) { return both_signs(remove, add, e); }, alpha);
      },
      options, "remove");
  ExpectTabulates(
      TabulatedTradeOff(add_samples, remove_samples),
      [&](double alpha) {
        return TypeTwoError([&](double e) { return both_signs(add, remove, e); }, alpha);
      },
      options, "add");
}

TEST(TabulatedTradeOff, AnswersEndsAndNonsense) {
  const auto samples = SampleProfile(GaussianProfileOf(1), SamplingOptions{});
  const TabulatedTradeOff table(samples, samples);
  EXPECT_EQ(table.At(1).upper, 0);
  EXPECT_EQ(table.At(std::nan("")).lower, 0);
  EXPECT_EQ(table.At(std::nan("")).upper, 1);
  EXPECT_GE(table.At(0).lower, 1 - 2e-7);
  EXPECT_EQ(table.At(0).upper, 1);
  // A profile of which nothing is known.
  const auto unknown = SampleProfile([](double) { return Bounds{0, 1}; }, SamplingOptions{});
  const TabulatedTradeOff nothing(unknown, unknown);
  EXPECT_EQ(nothing.At(0.3).lower, 0);
  EXPECT_GE(nothing.At(0.3).upper, 0.7);
  // Nothing is spent.
  const auto zero = SampleProfile([](double) { return Bounds{0, 0}; }, SamplingOptions{});
  EXPECT_EQ(zero.size(), 1u);
  EXPECT_NEAR(TabulatedTradeOff(zero, zero).At(0.3).lower, 0.7, 1e-14);
}

// Bounds of any width, however they lie around delta, give bounds.
RC_GTEST_PROP(TabulatedTradeOff, HoldsWhateverTheWidthOfTheSamples, ()) {
  const double mu = std::exp(*rc::gen::inRange(-3000, 2500) / 1000.0);
  const double noise = std::exp(-*rc::gen::inRange(1000, 20000) / 1000.0);
  const auto seed = *rc::gen::inRange(0, 1000);
  const Profile exact = GaussianProfileOf(mu);
  int asked = 0;
  const auto samples = SampleProfile(
      [&](double epsilon) {
        const Bounds d = exact(epsilon);
        ++asked;
        return Bounds{std::max(0.0, d.lower - noise * std::abs(std::sin(seed + 7 * asked))),
                      std::min(1.0, d.upper + noise * std::abs(std::sin(seed + 11 * asked)))};
      },
      SamplingOptions{});
  RC_ASSERT(asked <= 2200);
  const TabulatedTradeOff table(samples, samples);
  for (const double alpha : Alphas()) {
    const Bounds truth = GaussianTradeOff(Bounds{mu, mu}, alpha);
    const Bounds bounds = table.At(alpha);
    RC_ASSERT(bounds.lower <= truth.upper);
    RC_ASSERT(bounds.upper >= truth.lower);
    RC_ASSERT(0 <= bounds.lower && bounds.lower <= bounds.upper);
  }
  for (double epsilon = -5; epsilon < 5; epsilon += 0.37) {
    const Bounds delta = table.Delta(epsilon);
    const Bounds truth = GaussianLogDelta(Bounds{mu, mu}, epsilon);
    RC_ASSERT(delta.lower <= std::exp(truth.upper));
    RC_ASSERT(delta.upper >= std::exp(truth.lower));
  }
}

}  // namespace
}  // namespace epsledger::accounting
