#include "accounting/profile/random_allocation_profile.h"

#include <cmath>
#include <functional>

#include "accounting/profile/approximate_dp_profile.h"
#include "accounting/profile/gaussian_profile.h"
#include "accounting/profile/laplace_profile.h"
#include "accounting/profile/poisson_sampled_profile.h"
#include "accounting/profile/profiles_of.h"
#include "gtest/gtest.h"
#include "tests/accounting/profile/profile_checks.h"

namespace epsledger::accounting {
namespace {

constexpr double kAllocationEpsilons[] = {-1, -0.3, -0.1, 0, 0.02, 0.1, 0.3, 0.7, 1.5};

double UpperDelta(const PrivacyProfile& profile, double epsilon) {
  return std::exp(profile.LogDelta(epsilon).upper);
}

DirectedProfiles BothWays(const std::shared_ptr<const PrivacyProfile>& profile) {
  return {profile, profile};
}

// E_Q of f(G), G the average of `rounds` ratios that are `high` with probability p, otherwise
// `low`.
double OfTwoValues(int rounds, double p, double high, double low,
                   const std::function<double(double)>& f) {
  double sum = 0;
  for (int k = 0; k <= rounds; ++k) {
    const double log_mass = std::lgamma(rounds + 1.0) - std::lgamma(k + 1.0) -
                            std::lgamma(rounds - k + 1.0) + k * std::log(p) +
                            (rounds - k) * std::log1p(-p);
    sum += std::exp(log_mass) * f((k * high + (rounds - k) * low) / rounds);
  }
  return sum;
}

// Binary randomized response: e^epsilon with probability 1 / (1 + e^epsilon).
TEST(RandomAllocationProfiles, AreAboveTheEnumerationOfTwoValues) {
  for (const double loss : {0.3, 1.0, 3.0}) {
    const auto inner = std::make_shared<const ApproximateDpProfile>(Bounds{loss, loss}, 0, true);
    const double p = 1 / (1 + std::exp(loss));
    for (const int rounds : {2, 3, 7, 100, 1000}) {
      const DirectedProfiles profiles = RandomAllocationProfiles(BothWays(inner), rounds);
      for (const double epsilon : kAllocationEpsilons) {
        const double x = std::exp(epsilon);
        const double remove = OfTwoValues(rounds, p, std::exp(loss), std::exp(-loss),
                                          [&](double g) { return std::max(0.0, g - x); });
        const double add = OfTwoValues(rounds, p, std::exp(loss), std::exp(-loss),
                                       [&](double g) { return std::max(0.0, 1 - x * g); });
        EXPECT_GE(UpperDelta(*profiles.remove, epsilon), remove * (1 - 1e-9))
            << loss << " " << rounds << " " << epsilon;
        EXPECT_GE(UpperDelta(*profiles.add, epsilon), add * (1 - 1e-9))
            << loss << " " << rounds << " " << epsilon;
        EXPECT_LE(UpperDelta(*profiles.remove, epsilon), remove * 1.1 + 1e-3)
            << loss << " " << rounds << " " << epsilon;
        EXPECT_LE(UpperDelta(*profiles.add, epsilon), add * 1.1 + 1e-3)
            << loss << " " << rounds << " " << epsilon;
      }
    }
  }
}

// Two and three rounds of ratios with a density, by nested sums over their quantiles' grid.
struct RatioGrid {
  std::vector<double> ratios;
  std::vector<double> masses;
};

RatioGrid GaussianGrid(double mu, double step) {
  RatioGrid grid;
  double total = 0;
  for (double t = -9; t <= 9 + mu; t += step) {
    grid.ratios.push_back(std::exp(mu * t - 0.5 * mu * mu));
    grid.masses.push_back(std::exp(-0.5 * t * t));
    total += grid.masses.back();
  }
  for (double& mass : grid.masses) mass /= total;
  return grid;
}

double OfTwoRounds(const RatioGrid& a, const RatioGrid& b, double share,
                   const std::function<double(double)>& f) {
  double sum = 0;
  for (size_t i = 0; i < a.ratios.size(); ++i) {
    for (size_t j = 0; j < b.ratios.size(); ++j) {
      sum += a.masses[i] * b.masses[j] * f(share * a.ratios[i] + (1 - share) * b.ratios[j]);
    }
  }
  return sum;
}

TEST(RandomAllocationProfiles, AreJustAboveTwoRoundsOfAGaussian) {
  for (const double mu : {0.3, 1.0, 2.0}) {
    const auto inner = std::make_shared<const GaussianProfile>(Bounds{mu, mu});
    const DirectedProfiles profiles = RandomAllocationProfiles(BothWays(inner), 2);
    const RatioGrid grid = GaussianGrid(mu, 0.01);
    for (const double epsilon : kAllocationEpsilons) {
      const double x = std::exp(epsilon);
      const double remove =
          OfTwoRounds(grid, grid, 0.5, [&](double g) { return std::max(0.0, g - x); });
      const double add =
          OfTwoRounds(grid, grid, 0.5, [&](double g) { return std::max(0.0, 1 - x * g); });
      EXPECT_GE(UpperDelta(*profiles.remove, epsilon), remove * (1 - 1e-5)) << mu << " " << epsilon;
      EXPECT_GE(UpperDelta(*profiles.add, epsilon), add * (1 - 1e-5)) << mu << " " << epsilon;
      EXPECT_LE(UpperDelta(*profiles.remove, epsilon), remove * 1.02 + 1e-9)
          << mu << " " << epsilon;
      EXPECT_LE(UpperDelta(*profiles.add, epsilon), add * 1.02 + 1e-9) << mu << " " << epsilon;
    }
  }
}

// The mean of G is 1 and its variance that of one ratio over t: a normal law for many rounds.
TEST(RandomAllocationProfiles, ApproachTheNormalLawOfManyRounds) {
  const double mu = 0.5;
  const int64_t rounds = 100000;
  const auto inner = std::make_shared<const GaussianProfile>(Bounds{mu, mu});
  const DirectedProfiles profiles = RandomAllocationProfiles(BothWays(inner), rounds);
  const double sigma = std::sqrt(std::expm1(mu * mu) / static_cast<double>(rounds));
  for (const double z : {-2.0, 0.0, 1.0, 3.0}) {
    // E(sigma N - sigma z)_+ = sigma (phi(z) - z Phi(-z)).
    const double truth = sigma * (std::exp(-0.5 * z * z) / std::sqrt(2 * M_PI) -
                                  z * 0.5 * std::erfc(z / std::sqrt(2)));
    const double epsilon = std::log1p(sigma * z);
    EXPECT_NEAR(UpperDelta(*profiles.remove, epsilon) / truth, 1, 0.06) << z;
    EXPECT_NEAR(UpperDelta(*profiles.add, epsilon) / truth, 1, 0.06) << z;
  }
}

TEST(RandomAllocationProfiles, FallWithTheRounds) {
  const auto inner = std::make_shared<const LaplaceProfile>(Bounds{1, 1});
  DirectedProfiles before = BothWays(inner);
  for (const int64_t rounds : {2, 4, 16, 100, 10000, 1 << 20}) {
    const DirectedProfiles profiles = RandomAllocationProfiles(BothWays(inner), rounds);
    for (const double epsilon : kAllocationEpsilons) {
      EXPECT_LE(UpperDelta(*profiles.remove, epsilon),
                UpperDelta(*before.remove, epsilon) * (1 + 1e-3) + 1e-40)
          << rounds << " " << epsilon;
      EXPECT_LE(UpperDelta(*profiles.add, epsilon),
                UpperDelta(*before.add, epsilon) * (1 + 1e-3) + 1e-40)
          << rounds << " " << epsilon;
    }
    before = profiles;
  }
  const DirectedProfiles more = RandomAllocationProfiles(BothWays(inner), int64_t{1} << 53);
  EXPECT_EQ(more.remove->LogDelta(0.01).upper, before.remove->LogDelta(0.01).upper);
}

// What is told stays told, in either direction: with the record it is told in one round of t.
TEST(RandomAllocationProfiles, KeepWhatIsTold) {
  const auto inner = std::make_shared<const ApproximateDpProfile>(Bounds{1, 1}, 1e-3, true);
  const DirectedProfiles profiles = RandomAllocationProfiles(BothWays(inner), 10);
  EXPECT_GE(profiles.remove->InfinityMass(), 1e-3);
  EXPECT_LE(profiles.remove->InfinityMass(), 1.001e-3);
  // Without the record all of the rounds must tell it.
  EXPECT_GE(profiles.add->InfinityMass(), 1e-30 * (1 - 1e-9));
  EXPECT_GE(UpperDelta(*profiles.remove, 2), 1e-3);
}

TEST(RandomAllocationProfiles, SatisfyTheLaws) {
  const std::vector<double> epsilons = {-30, -3, -1, -0.1, -1e-3, 0, 1e-3, 0.1, 0.5, 1, 3, 30};
  Setting setting;
  for (const MechanismEvent& event :
       {MechanismEvent(Gaussian{0.2}), MechanismEvent(Gaussian{50}), MechanismEvent(Gaussian{1e6}),
        MechanismEvent(Laplace{0.1}), MechanismEvent(DiscreteLaplace{0.3, 2}),
        MechanismEvent(DiscreteGaussian{3, 2}), MechanismEvent(ExponentialMechanism{0.8}),
        MechanismEvent(ApproximateDp{0.5, 1e-5}), MechanismEvent(ApproximateDp{0, 0.5}),
        MechanismEvent(PureDp{0}), MechanismEvent(Zcdp{0.1, 0}),
        MechanismEvent(TradeOffCurve{{0, 0.25, 1}, {0.9, 0.5, 0}}),
        MechanismEvent(PoissonSampled{1e-6, MechanismEvent(Gaussian{1})})}) {
    for (const int64_t rounds : {2, 3, 1000}) {
      const auto profiles =
          ProfilesOf(RandomAllocation{rounds, 1, NestedEvent(event)}, setting, 1, Accountant::kPld);
      ASSERT_TRUE(profiles.ok()) << profiles.status();
      const std::string name = Describe(event);
      ExpectConsistent(*profiles->remove, epsilons, name.c_str());
      ExpectConsistent(*profiles->add, epsilons, name.c_str());
      // A record that takes part in every round has no less.
      const auto whole = ProfilesOf(event, setting, 1, Accountant::kPld);
      for (const double epsilon : kAllocationEpsilons) {
        const double slack = 1e-4 * UpperDelta(*whole->remove, epsilon) + 1e-9;
        EXPECT_LE(UpperDelta(*profiles->remove, epsilon),
                  UpperDelta(*whole->remove, epsilon) + slack)
            << name << " " << rounds << " " << epsilon;
      }
    }
  }
}

TEST(RandomAllocationProfiles, AreRefusedWhereNothingIsProved) {
  const auto code = [](const MechanismEvent& event, NeighboringRelation relation, int64_t group) {
    Setting setting;
    setting.relation = relation;
    return ProfilesOf(event, setting, group, Accountant::kPld).status().code();
  };
  const NestedEvent gaussian{MechanismEvent(Gaussian{1})};
  const NestedEvent pure{MechanismEvent(PureDp{1})};
  constexpr auto kAddOrRemove = NeighboringRelation::kAddOrRemoveOne;
  constexpr auto kZeroed = NeighboringRelation::kReplaceSpecial;
  EXPECT_EQ(code(RandomAllocation{10, 1, gaussian}, kAddOrRemove, 1), absl::StatusCode::kOk);
  EXPECT_EQ(code(RandomAllocation{10, 1, gaussian}, kZeroed, 1), absl::StatusCode::kOk);
  EXPECT_EQ(code(RandomAllocation{10, 1, pure}, kAddOrRemove, 1), absl::StatusCode::kOk);
  EXPECT_EQ(code(RandomAllocation{10, 1, pure}, kZeroed, 1), absl::StatusCode::kUnimplemented);
  EXPECT_EQ(code(RandomAllocation{10, 1, gaussian}, NeighboringRelation::kReplaceOne, 1),
            absl::StatusCode::kUnimplemented);
  EXPECT_EQ(code(RandomAllocation{10, 1, gaussian}, kAddOrRemove, 2),
            absl::StatusCode::kUnimplemented);
}

TEST(RatioTableProfile, IsTheSumOverItsTable) {
  const RatioTableProfile profile({0.5, 1, 2}, {0.25, 0.5, 0.1}, 0.05, 0);
  for (const double epsilon : {-2.0, -0.3, 0.0, 0.5}) {
    const double x = std::exp(epsilon);
    const double truth = 0.05 + 0.25 * std::max(0.0, 0.5 - x) + 0.5 * std::max(0.0, 1 - x) +
                         0.1 * std::max(0.0, 2 - x);
    const double floor = std::max(0.0, 1 - x);
    EXPECT_NEAR(UpperDelta(profile, epsilon), std::max(floor, truth), 1e-14) << epsilon;
  }
  EXPECT_NEAR(UpperDelta(profile, 2), 0.05, 1e-15);
  EXPECT_NEAR(profile.TailUnderQ(0.1).upper, 0.1, 1e-15);
  EXPECT_NEAR(profile.TailUnderQ(0).upper, 0.6, 1e-14);  // at the value itself
  EXPECT_NEAR(profile.TailUnderQ(0).lower, 0.1, 1e-14);
}

}  // namespace
}  // namespace epsledger::accounting
