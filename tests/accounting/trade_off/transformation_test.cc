#include "accounting/trade_off/transformation.h"

#include <cmath>
#include <limits>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tests/accounting/trade_off/brackets.h"
#include "tests/accounting/trade_off/fdp_rows.h"

namespace epsledger::accounting {
namespace {

constexpr double kTransformedAlphas[] = {1e-6, 0.001, 0.05, 0.3, 0.7, 0.99};

TEST(Subsample, AgreesWithTheTable) {
  for (const auto& row : kSubsampledRows) {
    const auto f = Subsample(*TradeOffFunction::Gaussian(row.mu), row.probability);
    ASSERT_TRUE(f.ok());
    EXPECT_NEAR(f->At(row.alpha).lower, row.value, 1e-13 * row.value);
    ExpectBrackets(f->At(row.alpha), row.value, 1e-12 * row.value,
                   absl::StrCat(row.mu, " ", row.probability, " ", row.alpha));
  }
}

TEST(Subsample, ItsInverseAgreesWithTheTable) {
  for (const auto& row : kSubsampledInverseRows) {
    const auto f = Subsample(*TradeOffFunction::Gaussian(row.mu), row.probability);
    ASSERT_TRUE(f.ok());
    ExpectBrackets(Inverse(*f).At(row.alpha), row.value, 1e-11 * row.value + 1e-14,
                   absl::StrCat(row.mu, " ", row.probability, " ", row.alpha));
  }
}

TEST(Subsample, ProfilesOfBothOrdersAreTheConjugates) {
  // The closed forms of a mixture against its base, and of the reverse, against the conjugates of
  // f_p and its inverse.
  const auto f = *Subsample(*TradeOffFunction::Laplace(1.5), 0.3);
  for (const double epsilon : {-3.0, -0.3, std::log(0.7), -0.1, 0.0, 0.1, 0.5, 1.0, 3.0}) {
    const Bounds forward = f.Delta(epsilon);
    const Bounds reverse = f.InverseDelta(epsilon);
    double sup_forward = 0, sup_reverse = 0;
    for (double a = 0; a <= 1; a += 1e-4) {
      const double beta = f.At(a).lower;
      sup_forward = std::max(sup_forward, 1 - beta - std::exp(epsilon) * a);
      sup_reverse = std::max(sup_reverse, 1 - a - std::exp(epsilon) * beta);
    }
    EXPECT_GE(forward.upper, sup_forward - 1e-14) << epsilon;
    EXPECT_NEAR(forward.upper, sup_forward, 1e-6) << epsilon;
    EXPECT_GE(reverse.upper, sup_reverse - 1e-14) << epsilon;
    EXPECT_NEAR(reverse.upper, sup_reverse, 1e-6) << epsilon;
    EXPECT_NEAR(forward.lower, forward.upper, 1e-13) << epsilon;
    EXPECT_NEAR(reverse.lower, reverse.upper, 1e-13) << epsilon;
  }
}

TEST(Subsample, KnowsItsEnds) {
  const auto f = *TradeOffFunction::Gaussian(1);
  EXPECT_EQ(Subsample(f, 0)->At(0.3).lower, 0.7);
  EXPECT_EQ(Subsample(f, 1)->At(0.3).lower, f.At(0.3).lower);
  EXPECT_FALSE(Subsample(f, 1.5).ok());
  EXPECT_FALSE(Subsample(f, std::nan("")).ok());
}

TEST(SubsampleSymmetrized, AgreesWithTheTable) {
  for (const auto& row : kSubsampledSymmetrizedRows) {
    const auto f = SubsampleSymmetrized(*TradeOffFunction::Gaussian(row.mu), row.probability);
    ASSERT_TRUE(f.ok());
    ExpectBrackets(f->At(row.alpha), row.value, 1e-8 * row.value + 1e-11,
                   absl::StrCat(row.mu, " ", row.probability, " ", row.alpha));
  }
}

TEST(SubsampleSymmetrized, ItsProfileAgreesWithTheTable) {
  for (const auto& row : kSubsampledDeltaRows) {
    const auto f = SubsampleSymmetrized(*TradeOffFunction::Gaussian(row.mu), row.probability);
    ASSERT_TRUE(f.ok());
    ExpectBrackets(f->Delta(row.epsilon), row.value, 1e-11 * row.value,
                   absl::StrCat(row.mu, " ", row.probability, " ", row.epsilon));
  }
}

// C_p(f) is its own inverse, below f_p and f_p^-1, and above f.
TEST(SubsampleSymmetrized, IsSymmetricAndBelowBothOrders) {
  const auto base = *TradeOffFunction::Gaussian(2);
  const auto f = *Subsample(base, 0.5);
  const auto c = *SubsampleSymmetrized(base, 0.5);
  for (const double alpha : kTransformedAlphas) {
    const Bounds at = c.At(alpha);
    EXPECT_LE(at.lower, std::min(f.At(alpha).upper, f.InverseAt(alpha).upper));
    EXPECT_GE(at.upper, base.At(alpha).lower);
    EXPECT_NEAR(c.At(at.lower).lower, alpha, 1e-6) << alpha;
  }
}

TEST(Symmetrize, IsTheHullOfBothOrdersOfATabulatedCurve) {
  const auto f = TradeOffFunction::FromPoints({0, 0.1, 1}, {1, 0.4, 0}, "curve");
  ASSERT_TRUE(f.ok());
  const auto s = Symmetrize(*f);
  // Vertices (0,1), (.1,.4), (.4,.1), (1,0): by hand.
  EXPECT_NEAR(s.At(0.05).lower, 0.7, 1e-8);
  EXPECT_NEAR(s.At(0.25).lower, 0.25, 1e-8);
  EXPECT_NEAR(s.At(0.25).upper, 0.25, 1e-8);
  EXPECT_NEAR(s.At(0.7).lower, 0.05, 1e-8);
  // f(.4375) = .25.
  EXPECT_NEAR(Inverse(*f).At(0.25).lower, 0.4375, 1e-12);
}

// f = (0, 3/4), (1/4, 1/4), (1, 0) is below T(P, Q) = T(Q, P), P = (3/4, 1/4), Q = (1/4, 3/4), with
// corner (1/4, 1/4). So it bounds both orders, and f^S is T itself: better than f and than f^-1.
TEST(MaximumOfOrders, OfABoundOnBothOrdersIsABetterBoundOnBoth) {
  const auto f = *TradeOffFunction::FromPoints({0, 0.25, 1}, {0.75, 0.25, 0}, "curve");
  const auto truth = *TradeOffFunction::FromPoints({0, 0.25, 1}, {1, 0.25, 0}, "truth");
  const auto larger = MaximumOfOrders(f);
  for (int i = 0; i <= 64; ++i) {
    const double alpha = i / 64.0;
    ExpectBrackets(larger.At(alpha), alpha <= 0.25 ? 1 - 3 * alpha : (1 - alpha) / 3, 1e-9,
                   absl::StrCat(alpha));
    EXPECT_LE(f.At(alpha).lower, truth.At(alpha).upper) << alpha;
    EXPECT_LE(larger.At(alpha).lower, truth.At(alpha).upper) << alpha;
    EXPECT_LE(larger.At(alpha).lower, truth.InverseAt(alpha).upper) << alpha;
  }
  EXPECT_LT(f.At(0.125).upper, 0.5001);       // 5/8 is larger's
  EXPECT_LT(f.InverseAt(0.5).upper, 0.1251);  // 1/6 is larger's
  // T is (log 3, 0)-DP with delta(0) = 1/2 and delta(log 2) = 1/4; f alone has 1/4 at log 3.
  const double log3 = std::log(3);
  EXPECT_GT(f.Delta(log3).lower, 0.2499);
  EXPECT_LT(larger.Delta(log3).upper, 1e-8);
  EXPECT_NEAR(larger.Delta(0).upper, 0.5, 1e-8);
  EXPECT_NEAR(larger.Delta(std::log(2)).upper, 0.25, 1e-8);
  EXPECT_NEAR(larger.Delta(-log3).upper, 2.0 / 3, 1e-8);
  for (const double epsilon : {-1.0, 0.0, 0.3, 1.0}) {
    EXPECT_GE(larger.Delta(epsilon).upper, truth.Delta(epsilon).lower) << epsilon;
    EXPECT_LE(larger.Delta(epsilon).lower, larger.Delta(epsilon).upper) << epsilon;
  }
}

// f = T(P, Q), P = (9/10, 1/10), Q = (1/2, 1/2), bounds one order. All tests of two outcomes: "the
// second one" has errors 1/10 and 1/2 in this order, and 1/2 and 1/10 in the other. The maximum
// claims more than both, and Symmetrize does not.
TEST(MaximumOfOrders, OfABoundOnOneOrderIsBelowNoTruth) {
  const double p[] = {0.9, 0.1};
  const double q[] = {0.5, 0.5};
  const auto f = *TradeOffFunction::FromPoints({0, 0.1, 1}, {1, 0.5, 0}, "curve");
  const auto larger = MaximumOfOrders(f);
  const auto sound = Symmetrize(f);
  int refuted = 0;
  for (unsigned rejected = 0; rejected < 4; ++rejected) {
    double p_mass = 0, q_mass = 0;
    for (unsigned outcome = 0; outcome < 2; ++outcome) {
      if ((rejected >> outcome & 1U) == 0) continue;
      p_mass += p[outcome];
      q_mass += q[outcome];
    }
    EXPECT_LE(f.At(p_mass).lower, 1 - q_mass + 1e-12) << rejected;
    EXPECT_LE(sound.At(p_mass).lower, 1 - q_mass + 1e-12) << rejected;
    EXPECT_LE(sound.At(q_mass).lower, 1 - p_mass + 1e-12) << rejected;
    refuted += larger.At(p_mass).lower > 1 - q_mass + 0.01;
    refuted += larger.At(q_mass).lower > 1 - p_mass + 0.01;
  }
  EXPECT_GE(refuted, 2);
  EXPECT_NEAR(larger.At(0.1).lower, 0.82, 1e-9);
  EXPECT_NEAR(larger.At(5.0 / 14).lower, 5.0 / 14, 1e-9);
  EXPECT_LT(larger.Delta(std::log(1.8)).upper, 1e-8);
  EXPECT_NEAR(f.Delta(std::log(1.8)).upper, 0.32, 1e-8);
  EXPECT_NEAR(sound.Delta(std::log(1.8)).upper, 0.32, 1e-8);
}

TEST(MaximumOfOrders, OfASymmetricFunctionIsTheFunction) {
  const auto g = *TradeOffFunction::Gaussian(1);
  const auto sampled = MaximumOfOrders(*Subsample(g, 0.5));
  for (const double alpha : kTransformedAlphas) {
    EXPECT_EQ(MaximumOfOrders(g).At(alpha).lower, g.At(alpha).lower);
    EXPECT_NEAR(sampled.At(sampled.At(alpha).lower).lower, alpha, 1e-6) << alpha;
  }
}

TEST(Inverse, TakenTwiceIsTheFunction) {
  const auto f = *TradeOffFunction::FromPoints({0, 0.1, 1}, {0.95, 0.4, 0}, "curve");
  const auto p = *Subsample(*TradeOffFunction::Gaussian(1), 0.2);
  for (const double alpha : kTransformedAlphas) {
    EXPECT_NEAR(Inverse(Inverse(f)).At(alpha).lower, f.At(alpha).lower, 1e-12);
    EXPECT_EQ(Inverse(Inverse(p)).At(alpha).lower, p.At(alpha).lower);
    EXPECT_NEAR(p.InverseAt(p.At(alpha).lower).upper, alpha, 1e-9);
  }
}

TEST(GroupPrivacy, AgreesWithTheTable) {
  for (const auto& row : kGaussianGroupRows) {
    const auto f = GroupPrivacy(*TradeOffFunction::Gaussian(row.parameter), row.size);
    EXPECT_NEAR(f->At(row.alpha).lower, row.value, 1e-12 * row.value);
    EXPECT_NEAR(f->At(row.alpha).upper, row.value, 1e-12 * row.value);
  }
  for (const auto& row : kLaplaceGroupRows) {
    const auto f = GroupPrivacy(*TradeOffFunction::Laplace(row.parameter), row.size);
    ExpectBrackets(f->At(row.alpha), row.value, 1e-14 * row.value, absl::StrCat(row.alpha));
  }
  for (const auto& row : kApproximateDpGroupRows) {
    const auto f =
        GroupPrivacy(*TradeOffFunction::ApproximateDp(row.parameter, row.delta), row.size);
    ExpectBrackets(f->At(row.alpha), row.value, 1e-11, absl::StrCat(row.alpha, " ", row.size));
  }
}

TEST(GroupPrivacy, IsTheClosedFormWhenIterated) {
  // A Gaussian behind a mixture that does nothing, so that the iteration is used.
  const auto iterated =
      *GroupPrivacy(*RevealWithProbability(*TradeOffFunction::Gaussian(0.5), 1e-15), 4);
  for (const double alpha : kTransformedAlphas) {
    EXPECT_NEAR(iterated.At(alpha).lower, TradeOffFunction::Gaussian(2)->At(alpha).lower, 1e-11);
  }
  // delta(epsilon) of G_2 at 1.
  EXPECT_NEAR(iterated.Delta(1).upper, TradeOffFunction::Gaussian(2)->Delta(1).upper, 1e-9);
  EXPECT_FALSE(GroupPrivacy(iterated, 0).ok());
}

// With epsilon = mu / k, the group guarantee of k records tends to T(Lap(0,1), Lap(mu,1)).
TEST(GroupPrivacy, TendsToLaplaceForManyRecordsOfLittleLoss) {
  const double mu = 1.5;
  const auto limit = *TradeOffFunction::Laplace(mu);
  double before = 1;
  for (const int size : {1, 10, 100, 1000}) {
    const auto f = *GroupPrivacy(*TradeOffFunction::ApproximateDp(mu / size, 0), size);
    double worst = 0;
    for (const double alpha : {0.01, 0.1, 0.3, 0.5, 0.8}) {
      worst = std::max(worst, std::abs(f.At(alpha).lower - limit.At(alpha).lower));
    }
    EXPECT_LT(worst, before) << size;
    before = worst;
  }
  EXPECT_LT(before, 1e-6);
}

TEST(RevealWithProbability, IsTheProductWithATotalLeak) {
  const auto f = *RevealWithProbability(*TradeOffFunction::Gaussian(1), 0.1);
  const auto g = *TradeOffFunction::Gaussian(1);
  EXPECT_NEAR(f.At(0.45).lower, 0.9 * g.At(0.5).lower, 1e-13);
  EXPECT_EQ(f.At(0.95).upper, 0);
  EXPECT_NEAR(f.Delta(1).upper, 0.1 + 0.9 * g.Delta(1).upper, 1e-14);
  EXPECT_EQ(RevealWithProbability(g, 1)->At(0.2).upper, 0);
}

}  // namespace
}  // namespace epsledger::accounting
