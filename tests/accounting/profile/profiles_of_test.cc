#include "accounting/profile/profiles_of.h"

#include <cmath>

#include "accounting/gaussian/profile.h"
#include "accounting/gaussian/trade_off.h"
#include "gtest/gtest.h"
#include "tests/accounting/profile/atoms_truth.h"
#include "tests/accounting/profile/profile_checks.h"

namespace epsledger::accounting {
namespace {

const std::vector<double> kEpsilons = {-30, -3, -1, -0.5, -0.1, -1e-3, 0, 1e-3, 0.1, 0.5, 1, 3, 30};

Setting Of(NeighboringRelation relation) {
  Setting setting;
  setting.relation = relation;
  return setting;
}
const Setting kAddOrRemove = Of(NeighboringRelation::kAddOrRemoveOne);
const Setting kReplace = Of(NeighboringRelation::kReplaceOne);

absl::StatusOr<DirectedProfiles> Profiles(const MechanismEvent& event, const Setting& setting,
                                          int64_t group_size = 1) {
  return ProfilesOf(event, setting, group_size, Accountant::kPld);
}

TEST(ProfilesOf, EveryKnownEventSatisfiesTheLaws) {
  const std::vector<MechanismEvent> events = {
      Gaussian{1.5},
      GaussianDp{0.7},
      TreeAggregation{4, 100},
      MatrixMechanism{.noise_multiplier = 4,
                      .strategy = MatrixStrategy::kSquareRoot,
                      .steps = 100,
                      .max_participations = 4,
                      .min_separation = 25,
                      .bands = 25},
      Laplace{2},
      DiscreteLaplace{0.3, 2},
      DiscreteGaussian{3, 2},
      DiscreteGaussian{1e7, 1},
      ExponentialMechanism{0.8},
      PermuteAndFlip{0.8},
      PureDp{0.5},
      ApproximateDp{0.5, 1e-5},
      UnverifiedClaim{0.5, 1e-5, "x"},
      Zcdp{0.1, 0},
      RenyiCurve{{2, 8, 32}, {0.1, 0.4, 2}},
      TradeOffCurve{{0, 0.25, 0.5, 1}, {0.9375, 0.5, 0.25, 0}},
      MixtureOfGaussians{1, {0, 1, 2}, {0.5, 0.25, 0.25}},
      ReportNoisyMax{Noise::kExponential, 2, false},
      ReportNoisyMax{Noise::kGumbel, 2, true},
      AboveThreshold{2, 20, 5, false},
      PartitionSelection{Noise::kLaplace, 1, 12},
      PartitionSelection{Noise::kGaussian, 1, 5},
      TruncatedGeometricSelection{1, 1e-5},
      PoissonSampled{0.1, MechanismEvent(PartitionSelection{Noise::kLaplace, 1, 12})},
      PoissonSampled{0.1, MechanismEvent(Laplace{1})},
      PoissonSampled{0.1, MechanismEvent(DiscreteGaussian{2, 1})},
      PoissonSampled{0.1, MechanismEvent(TradeOffCurve{{0, 0.25, 1}, {0.9, 0.5, 0}})},
      PoissonSampled{0.1, MechanismEvent(PoissonSampled{0.5, MechanismEvent(Gaussian{1})})},
      PoissonSampled{0.1, MechanismEvent(ApproximateDp{1, 1e-3})}};
  for (const MechanismEvent& event : events) {
    const auto profiles = Profiles(event, kAddOrRemove);
    ASSERT_TRUE(profiles.ok()) << profiles.status();
    const std::string name = Describe(event);
    ExpectConsistent(*profiles->remove, kEpsilons, name.c_str());
    ExpectConsistent(*profiles->add, kEpsilons, name.c_str());
    if (profiles->remove->exact()) {
      ExpectReverses(*profiles->remove, *profiles->add, kEpsilons, name.c_str());
    }
  }
}

TEST(ProfilesOf, BoundedRangeIsTheMaximumOverPositionsOfTheRange) {
  const double range = 1.3;
  const auto profiles = Profiles(ExponentialMechanism{range}, kAddOrRemove);
  ASSERT_TRUE(profiles.ok());
  for (double epsilon = -1.29; epsilon < 1.3; epsilon += 0.1) {
    double best = 0;
    for (double t = 0; t <= range; t += 1e-4) {
      const double high = std::exp(t), low = std::exp(t - range);
      const double mass = (1 - low) / (high - low);  // E_Q[e^L] = 1
      const double x = std::exp(epsilon);
      best = std::max(best, mass * std::max(0.0, high - x) + (1 - mass) * std::max(0.0, low - x));
    }
    const Bounds log_delta = profiles->remove->LogDelta(epsilon);
    EXPECT_GE(std::exp(log_delta.upper), best * (1 - 1e-12)) << epsilon;
    EXPECT_LE(std::exp(log_delta.lower), best + 1e-7) << epsilon;
  }
}

TEST(ProfilesOf, TradeOffCurveThroughTheGaussianOneTendsToItsProfile) {
  TradeOffCurve curve;
  for (int i = 0; i <= 400; ++i) {
    const double a = i / 400.0;
    curve.type_one.push_back(a);
    curve.type_two.push_back(i == 0 ? 1 : i == 400 ? 0 : GaussianTradeOff({1, 1}, a).lower);
  }
  const auto profiles = Profiles(curve, kAddOrRemove);
  ASSERT_TRUE(profiles.ok());
  for (const double epsilon : {-1.0, 0.0, 0.5, 1.0, 2.0}) {
    const double truth = std::exp(GaussianLogDelta(1, epsilon).upper);
    // The chords lie above the convex curve: the promise is a little stronger than mu = 1.
    EXPECT_NEAR(std::exp(profiles->remove->LogDelta(epsilon).upper), truth, 1e-3) << epsilon;
    EXPECT_LE(std::exp(profiles->remove->LogDelta(epsilon).upper), truth + 1e-12) << epsilon;
  }
}

TEST(ProfilesOf, GroupOfASampledGaussianIsTheBinomialMixture) {
  const double q = 0.25;
  const auto profiles = Profiles(PoissonSampled{q, MechanismEvent(Gaussian{2})}, kAddOrRemove, 3);
  ASSERT_TRUE(profiles.ok()) << profiles.status();
  const double weights[] = {27.0 / 64, 27.0 / 64, 9.0 / 64, 1.0 / 64};
  for (const double epsilon : {-0.4, 0.0, 0.3, 1.0, 2.5}) {
    double remove = 0, add = 0;
    const double h = 1e-3;
    for (double t = -12; t < 14; t += h) {
      double p = 0;
      for (int i = 0; i < 4; ++i) p += weights[i] * std::exp(-0.5 * (t - 0.5 * i) * (t - 0.5 * i));
      const double density = std::exp(-0.5 * t * t);
      remove += h / std::sqrt(2 * M_PI) * std::max(0.0, p - std::exp(epsilon) * density);
      add += h / std::sqrt(2 * M_PI) * std::max(0.0, density - std::exp(epsilon) * p);
    }
    EXPECT_NEAR(std::exp(profiles->remove->LogDelta(epsilon).upper), remove, 1e-6) << epsilon;
    EXPECT_NEAR(std::exp(profiles->add->LogDelta(epsilon).upper), add, 1e-6) << epsilon;
  }
}

TEST(ProfilesOf, ReplacedRecordsUnderSamplingHaveTheirPairs) {
  // The pair of opposite contributions: (1-q) N(0) + q N(1) against (1-q) N(0) + q N(-1).
  const double q = 0.2;
  const auto poisson = Profiles(PoissonSampled{q, MechanismEvent(Gaussian{1})}, kReplace);
  ASSERT_TRUE(poisson.ok()) << poisson.status();
  const auto fixed =
      Profiles(SampledWithoutReplacement{10, 2, MechanismEvent(Gaussian{1})}, kReplace);
  ASSERT_TRUE(fixed.ok()) << fixed.status();
  for (const double epsilon : {-1.0, -0.2, 0.0, 0.2, 0.5, 1.5}) {
    double truth = 0;
    const double h = 1e-3;
    for (double t = -12; t < 12; t += h) {
      const double middle = (1 - q) * std::exp(-0.5 * t * t);
      const double p = middle + q * std::exp(-0.5 * (t - 1) * (t - 1));
      const double r = middle + q * std::exp(-0.5 * (t + 1) * (t + 1));
      truth += h / std::sqrt(2 * M_PI) * std::max(0.0, p - std::exp(epsilon) * r);
    }
    const Bounds exact = poisson->remove->LogDelta(epsilon);
    EXPECT_NEAR(std::exp(exact.upper), truth, 1e-6) << epsilon;
    EXPECT_NEAR(std::exp(exact.lower), truth, 1e-6) << epsilon;
    // In a batch of a fixed size another record takes the place: (1-q) N(-1) + q N(1) against
    // N(-1).
    if (epsilon >= 0) {
      double other = 0;
      for (double t = -12; t < 12; t += h) {
        const double r = std::exp(-0.5 * (t + 1) * (t + 1));
        const double p = (1 - q) * r + q * std::exp(-0.5 * (t - 1) * (t - 1));
        other += h / std::sqrt(2 * M_PI) * std::max(0.0, p - std::exp(epsilon) * r);
      }
      EXPECT_NEAR(std::exp(fixed->remove->LogDelta(epsilon).upper), other, 1e-6) << epsilon;
    }
  }
}

TEST(ProfilesOf, SampledLossesCoverWhatOnlyOneSideHas) {
  // Half of an (1, 1/2)-DP pair is revealed: the loss of the added record is then -log(1 - q), and
  // that of a removed one log(1 - q).
  const auto profiles =
      Profiles(PoissonSampled{0.25, MechanismEvent(ApproximateDp{1, 0.5})}, kAddOrRemove);
  ASSERT_TRUE(profiles.ok());
  EXPECT_GE(profiles->add->LargestLoss(), -std::log(0.75));
  EXPECT_LE(profiles->remove->SmallestLoss(), std::log(0.75));
}

TEST(ProfilesOf, RefusesWhatIsNotProved) {
  const MechanismEvent gaussian = Gaussian{1};
  EXPECT_FALSE(Profiles(RandomizedResponse{0.5, 2}, kAddOrRemove).ok());
  EXPECT_TRUE(Profiles(RandomizedResponse{0.5, 2}, kReplace).ok());
  EXPECT_EQ(Profiles(RandomAllocation{10, 1, gaussian}, kReplace).status().code(),
            absl::StatusCode::kUnimplemented);
  for (const MechanismEvent& event : {MechanismEvent(RepeatAndSelect{gaussian, 3, 1}),
                                      MechanismEvent(BandedMatrixFactorization{1, 2, 10, 0.1})}) {
    EXPECT_EQ(Profiles(event, kAddOrRemove).status().code(), absl::StatusCode::kUnimplemented);
  }
  EXPECT_FALSE(Profiles(PoissonSampled{0.1, MechanismEvent(Laplace{1})}, kAddOrRemove, 2).ok());
  // Promised for replacing, and nothing said of leaving out: the output may tell whether the record
  // was drawn.
  const auto told = Profiles(PoissonSampled{0.1, MechanismEvent(PureDp{1})}, kReplace);
  ASSERT_TRUE(told.ok());
  EXPECT_FALSE(told->remove->exact());
  EXPECT_TRUE(Profiles(SampledWithoutReplacement{10, 2, MechanismEvent(PureDp{1})}, kReplace).ok());
  EXPECT_FALSE(Profiles(MixtureOfGaussians{1, {1}, {1}}, kAddOrRemove, 2).ok());
}

}  // namespace
}  // namespace epsledger::accounting
