#include "accounting/trade_off/trade_off_function.h"
#include "accounting/numeric/constants.h"

#include <cmath>
#include <memory>
#include <vector>

#include "absl/strings/str_cat.h"
#include "accounting/gaussian/profile.h"
#include "accounting/gaussian/trade_off.h"
#include "accounting/trade_off/type_two_error.h"
#include "gtest/gtest.h"
#include "tests/accounting/gaussian/trade_off_rows.h"
#include "tests/accounting/mpfr_real.h"
#include "tests/accounting/trade_off/brackets.h"
#include "tests/accounting/trade_off/fdp_rows.h"

namespace epsledger::accounting {
namespace {

constexpr double kFunctionAlphas[] = {1e-12, 1e-6, 0.001, 0.01, 0.1, 0.3, 0.5, 0.8, 0.99, 0.999999};

// The profile of (N(1, s^2) with probability q, otherwise N(0, s^2)) against N(0, s^2), or the
// reverse.
class SampledGaussianProfile : public PrivacyProfile {
 public:
  SampledGaussianProfile(double q, double mu, bool remove) : q_(q), mu_(mu), remove_(remove) {}
  Bounds LogDelta(double epsilon) const override {
    const double x = std::exp(epsilon);
    double delta = 0;
    if (remove_) {
      delta = x > 1 - q_ ? q_ * std::exp(GaussianLogDelta(mu_, std::log(1 + (x - 1) / q_)).upper)
                         : 1 - x;
    } else if (const double c = 1 - x * (1 - q_); c > 0) {
      delta = c * std::exp(GaussianLogDelta(mu_, std::log(q_ * x / c)).upper);
    }
    return Bounds{std::log(delta * (1 - 1e-14)), std::min(0.0, std::log(delta * (1 + 1e-14)))};
  }
  Bounds TailUnderQ(double) const override { return Bounds{0, 1}; }

 private:
  const double q_, mu_;
  const bool remove_;
};

// A profile that is only an upper bound.
class InexactProfile : public SampledGaussianProfile {
 public:
  using SampledGaussianProfile::SampledGaussianProfile;
  bool exact() const override { return false; }
};

TEST(TradeOffFunction, GaussianAgreesWithTheTable) {
  for (const auto& row : kTradeOffRows) {
    const auto f = TradeOffFunction::Gaussian(row.mu);
    ASSERT_TRUE(f.ok());
    EXPECT_NEAR(f->At(row.alpha).lower, row.value, 1e-11) << row.mu << " " << row.alpha;
    EXPECT_NEAR(f->At(row.alpha).upper, row.value, 1e-11) << row.mu << " " << row.alpha;
  }
}

TEST(TradeOffFunction, ApproximateDpAgreesWithTheTable) {
  for (const auto& row : kApproximateDpRows) {
    const auto f = TradeOffFunction::ApproximateDp(row.epsilon, row.delta);
    ASSERT_TRUE(f.ok());
    ExpectBrackets(f->At(row.alpha), row.value, 4e-14,
                   absl::StrCat(row.epsilon, " ", row.delta, " ", row.alpha));
  }
}

TEST(TradeOffFunction, LaplaceAgreesWithTheTable) {
  for (const auto& row : kLaplaceTradeOffRows) {
    const auto f = TradeOffFunction::Laplace(row.theta);
    ASSERT_TRUE(f.ok());
    ExpectBrackets(f->At(row.alpha), row.value, 4e-15 * row.value + 1e-300,
                   absl::StrCat(row.theta, " ", row.alpha));
  }
}

TEST(TradeOffFunction, LaplaceBracketsHighPrecisionAtItsBreaks) {
  for (const double theta : {1e-9, 0.3, 1.0, 20.0, 600.0}) {
    const double kink = 0.5 * std::exp(-theta);
    for (const double alpha : {kink, std::nextafter(kink, 0), std::nextafter(kink, 1), 0.5}) {
      // All three branches agree there; the middle one is the smallest of them nowhere else.
      const Real truth = alpha >= 0.5 ? Exp(-Real(theta)) * (Real(1) - alpha)
                                      : Exp(-Real(theta)) / (Real(4) * alpha);
      const Bounds f = TradeOffFunction::Laplace(Bounds{theta, theta}).At(alpha);
      EXPECT_TRUE(Real(f.lower) <= truth) << theta << " " << alpha;
      EXPECT_TRUE(truth <= Real(f.upper) + 1e-30) << theta << " " << alpha;
    }
  }
}

TEST(TradeOffFunction, AnswersTheEndsAndNotANumber) {
  const auto sampled = std::make_shared<SampledGaussianProfile>(0.1, 1, true);
  const TradeOffFunction all[] = {TradeOffFunction::Identity(), *TradeOffFunction::Gaussian(2),
                                  *TradeOffFunction::ApproximateDp(1, 0.1),
                                  *TradeOffFunction::Laplace(1),
                                  TradeOffFunction::FromProfiles({sampled, sampled})};
  for (const TradeOffFunction& f : all) {
    EXPECT_EQ(f.At(1).upper, 0);
    EXPECT_EQ(f.At(std::nan("")).lower, 0);
    EXPECT_EQ(f.At(std::nan("")).upper, 1);
    EXPECT_EQ(f.Delta(std::nan("")).upper, 1);
    EXPECT_EQ(f.Delta(-kInfinity).upper, 1);
    EXPECT_LE(f.At(0).lower, f.At(0).upper);
    EXPECT_LE(f.At(0.3).upper, 0.7 + 1e-15);
    EXPECT_GE(f.Delta(-2).lower, 1 - std::exp(-2.0) - 1e-14);
  }
  EXPECT_NEAR(all[2].At(0).lower, 0.9, 3e-14);
  EXPECT_NEAR(all[2].Delta(kInfinity).lower, 0.1, 3e-14);
  EXPECT_EQ(TradeOffFunction::ApproximateDp(kInfinity, 0)->At(0.3).lower, 0);
  EXPECT_EQ(TradeOffFunction::Laplace(kInfinity)->At(0.3).upper, 0);
  EXPECT_EQ(TradeOffFunction::Identity().At(0.25).lower, 0.75);
}

TEST(TradeOffFunction, RefusesParametersOutsideTheirDomain) {
  EXPECT_FALSE(TradeOffFunction::Gaussian(-1).ok());
  EXPECT_FALSE(TradeOffFunction::Gaussian(std::nan("")).ok());
  EXPECT_FALSE(TradeOffFunction::ApproximateDp(1, 1.5).ok());
  EXPECT_FALSE(TradeOffFunction::ApproximateDp(-1, 0).ok());
  EXPECT_FALSE(TradeOffFunction::Laplace(-0.5).ok());
}

// f from its own profile is f: conjugating twice changes nothing.
TEST(TypeTwoError, RecoversClosedFormsFromTheirProfiles) {
  int most = 0;
  for (const TradeOffFunction& f :
       {*TradeOffFunction::Gaussian(0.05), *TradeOffFunction::Gaussian(1),
        *TradeOffFunction::Gaussian(6), *TradeOffFunction::Laplace(0.3),
        *TradeOffFunction::Laplace(4), *TradeOffFunction::ApproximateDp(1, 1e-5),
        *TradeOffFunction::ApproximateDp(8, 0), TradeOffFunction::Identity()}) {
    for (const double alpha : kFunctionAlphas) {
      int evaluations = 0;
      const Bounds found = TypeTwoError(
          [&](double epsilon) {
            ++evaluations;
            return f.Delta(epsilon);
          },
          alpha);
      most = std::max(most, evaluations);
      const Bounds truth = f.At(alpha);
      EXPECT_LE(found.lower, truth.upper) << alpha;
      EXPECT_GE(found.upper, truth.lower) << alpha;
      EXPECT_GE(found.lower, truth.lower * (1 - 1e-8) - 1e-11) << alpha << " " << truth.lower;
      EXPECT_LE(found.upper, truth.upper * (1 + 1e-8) + 1e-11) << alpha << " " << truth.upper;
    }
  }
  EXPECT_LE(most, 40);
}

TEST(TypeTwoError, StaysABoundForAProfileThatIsOnlyAbove) {
  // The profile is inflated by up to 10%; f may only fall, and the upper end knows nothing.
  const auto exact = *TradeOffFunction::Gaussian(1);
  for (const double alpha : kFunctionAlphas) {
    const Bounds f = TypeTwoError(
        [&](double epsilon) {
          return Bounds{0, std::min(1.0, 1.1 * exact.Delta(epsilon).upper)};
        },
        alpha);
    EXPECT_LE(f.lower, exact.At(alpha).upper);
    EXPECT_GE(f.upper, exact.At(alpha).upper * (1 - 1e-12));
  }
  EXPECT_EQ(TypeTwoError([](double) { return Bounds{std::nan(""), std::nan("")}; }, 0.3).lower, 0);
}

TEST(DeltaFromTradeOff, RecoversProfilesFromTheirFunctions) {
  for (const TradeOffFunction& f :
       {*TradeOffFunction::Gaussian(1), *TradeOffFunction::Gaussian(4),
        *TradeOffFunction::Laplace(2), *TradeOffFunction::ApproximateDp(1, 1e-3)}) {
    for (const double epsilon : {-30.0, -3.0, -0.5, 0.0, 0.2, 1.0, 3.0, 8.0}) {
      const Bounds found = DeltaFromTradeOff([&](double a) { return f.At(a); }, f.At(0), epsilon);
      const Bounds truth = f.Delta(epsilon);
      EXPECT_LE(found.lower, truth.upper) << epsilon;
      EXPECT_GE(found.upper, truth.lower) << epsilon;
      EXPECT_NEAR(found.upper, truth.upper, 1e-8 * truth.upper + 1e-10) << epsilon;
      EXPECT_NEAR(found.lower, truth.lower, 1e-8 * truth.upper + 1e-10) << epsilon;
    }
  }
}

// Symmetrising is a trap: max(f, f^-1) of a sampled Gaussian with q = .5, mu = 2 would have
// delta(1) = 0. The truth is q delta_2(log(1 + (e - 1)/q)) = .2105.
TEST(TradeOffFunction, AnUnorderedRelationTakesTheSmallerFunctionNotTheLarger) {
  const auto remove = std::make_shared<SampledGaussianProfile>(0.5, 2, true);
  const auto add = std::make_shared<SampledGaussianProfile>(0.5, 2, false);
  const auto one = TradeOffFunction::FromProfiles({remove, remove});
  const auto other = TradeOffFunction::FromProfiles({add, add});
  const auto both = TradeOffFunction::FromProfiles({remove, add});
  EXPECT_NEAR(both.Delta(1).upper, 0.2105, 5e-5);
  EXPECT_NEAR(other.Delta(1).upper, 0, 1e-12);
  for (const double alpha : kFunctionAlphas) {
    const double smaller = std::min(one.At(alpha).upper, other.At(alpha).upper);
    EXPECT_LE(both.At(alpha).lower, smaller) << alpha;
  }
  // In the middle the envelope is strictly below both.
  EXPECT_LT(both.At(0.2).upper, std::min(one.At(0.2).lower, other.At(0.2).lower) + 1e-9);
}

TEST(TradeOffFunction, ProfilesInBothOrdersAreInverses) {
  const auto removed = std::make_shared<SampledGaussianProfile>(0.25, 0.5, true);
  const auto added = std::make_shared<SampledGaussianProfile>(0.25, 0.5, false);
  const auto remove = TradeOffFunction::FromProfiles({removed, removed});
  const auto add = TradeOffFunction::FromProfiles({added, added});
  for (const double alpha : {0.001, 0.05, 0.4, 0.9}) {
    EXPECT_NEAR(add.At(alpha).lower, remove.InverseAt(alpha).lower, 1e-8) << alpha;
    EXPECT_NEAR(add.At(remove.At(alpha).upper).lower, alpha, 1e-8) << alpha;
  }
  for (const double epsilon : {-2.0, 0.0, 0.2, 1.0, 4.0}) {
    EXPECT_NEAR(add.Delta(epsilon).upper, remove.InverseDelta(epsilon).upper, 1e-9) << epsilon;
  }
}

TEST(TradeOffFunction, AProfileThatIsNotExactHasNoUpperBound) {
  const auto profile = std::make_shared<InexactProfile>(0.5, 2, true);
  const auto f = TradeOffFunction::FromProfiles({profile, profile});
  EXPECT_GT(f.At(0.1).lower, 0.2);
  EXPECT_GE(f.At(0.1).upper, 0.9);
}

}  // namespace
}  // namespace epsledger::accounting
