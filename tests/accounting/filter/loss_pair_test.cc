#include "accounting/filter/loss_pair.h"

#include <cmath>

#include "gtest/gtest.h"

#include "accounting/event/history.h"
#include "accounting/event/mechanism_event.h"
#include "accounting/profile/profiles_of.h"

namespace epsledger::accounting {
namespace {

DirectedProfiles ProfilesOf(const MechanismEvent& event,
                            NeighboringRelation relation = NeighboringRelation::kAddOrRemoveOne) {
  return *accounting::ProfilesOf(event, Setting{relation, {}, {}}, 1, Accountant::kPld);
}

// H of the pair at e^epsilon, in one order, in long double.
double ProfileOf(const LossPair& pair, double epsilon, bool reversed) {
  long double sum = 0;
  long double finite = 0;
  for (size_t i = 0; i < pair.masses.size(); ++i) {
    const long double loss =
        static_cast<long double>(pair.first + static_cast<int64_t>(i)) * pair.interval;
    const long double p = reversed ? pair.masses[i] * std::exp(-loss) : pair.masses[i];
    const long double here = reversed ? -loss : loss;
    finite += p;
    if (here > epsilon) sum += p * -std::expm1(epsilon - here);
  }
  return static_cast<double>(sum + std::max(0.0L, 1 - finite));
}

MechanismEvent Sampled(double q, MechanismEvent event) {
  return PoissonSampled{q, std::move(event)};
}

const MechanismEvent kEvents[] = {Sampled(.01, Gaussian{1.1}),
                                  Sampled(.2, Gaussian{.7}),
                                  Gaussian{1},
                                  Gaussian{50},
                                  Laplace{1},
                                  PureDp{.7},
                                  Sampled(.3, PureDp{2}),
                                  ApproximateDp{1, 1e-6},
                                  DiscreteLaplace{.5, 2},
                                  Zcdp{.01, 0},
                                  ExponentialMechanism{.5}};

// The whole promise: at points of the lattice, between them, and beyond them.
TEST(DominatingLossPair, IsAboveBothProfilesEverywhere) {
  for (const MechanismEvent& event : kEvents) {
    const DirectedProfiles profiles = ProfilesOf(event);
    for (const double interval : {0.0009765625, 0.03125}) {
      const absl::StatusOr<LossPair> pair =
          DominatingLossPair(profiles, interval, std::log(1e-14), 1 << 16);
      ASSERT_TRUE(pair.ok()) << Describe(event) << ": " << pair.status();
      EXPECT_TRUE(IsLossPair(*pair));
      for (double epsilon = -3; epsilon <= 6; epsilon += 0.0371) {
        // Doubles here, so that both may be off by a few units of 2^-53.
        EXPECT_GE(ProfileOf(*pair, epsilon, false),
                  profiles.remove->At(std::abs(epsilon)).delta.lower * (epsilon >= 0) - 1e-15)
            << Describe(event) << " remove at " << epsilon;
        EXPECT_GE(ProfileOf(*pair, epsilon, true),
                  profiles.add->At(std::abs(epsilon)).delta.lower * (epsilon >= 0) - 1e-15)
            << Describe(event) << " add at " << epsilon;
      }
    }
  }
}

TEST(DominatingLossPair, IsTightOnAFineLattice) {
  const DirectedProfiles profiles = ProfilesOf(Sampled(.01, Gaussian{1.1}));
  const LossPair pair = *DominatingLossPair(profiles, 0.0009765625, std::log(1e-14), 1 << 16);
  for (const double epsilon : {0.25, 0.5, 1.0}) {
    const double truth = profiles.remove->At(epsilon).delta.upper;
    EXPECT_LE(ProfileOf(pair, epsilon, false), truth * (1 + 1e-4)) << epsilon;
  }
}

TEST(DominatingLossPair, MassesAreWholeAndSumToAtMostOne) {
  for (const MechanismEvent& event : kEvents) {
    const LossPair pair =
        *DominatingLossPair(ProfilesOf(event), 0.0078125, std::log(1e-12), 1 << 16);
    for (const double mass : pair.masses) {
      EXPECT_EQ(std::ldexp(mass, 100), std::floor(std::ldexp(mass, 100)));
    }
    EXPECT_GE(InfinityMassOfP(pair), 0);
    EXPECT_LE(InfinityMassOfP(pair), 2e-6) << Describe(event);
  }
}

TEST(DominatingLossPair, RefusesMorePointsThanItMayTake) {
  EXPECT_EQ(DominatingLossPair(ProfilesOf(Laplace{.1}), 0.0001220703125, std::log(1e-12), 1000)
                .status()
                .code(),
            absl::StatusCode::kResourceExhausted);
}

TEST(IsLossPair, RefusesWhatIsNone) {
  const LossPair good{.interval = 0.5, .first = -1, .masses = {0.125, 0.25, 0.5}};
  EXPECT_TRUE(IsLossPair(good));
  LossPair bad = good;
  bad.masses[0] = -0.125;
  EXPECT_FALSE(IsLossPair(bad));
  bad = good;
  bad.masses[2] = 0.75;  // more than 1 in all
  EXPECT_FALSE(IsLossPair(bad));
  bad = good;
  bad.masses[0] = 0.75;  // more than 1 of the other law
  EXPECT_FALSE(IsLossPair(bad));
  bad = good;
  bad.masses[1] = std::nan("");
  EXPECT_FALSE(IsLossPair(bad));
  bad = good;
  bad.masses[1] = 1e-31;  // finer than 2^-100
  EXPECT_FALSE(IsLossPair(bad));
  bad = good;
  bad.interval = 0.1;  // more than 29 bits
  EXPECT_FALSE(IsLossPair(bad));
  bad = good;
  bad.interval = 0;
  EXPECT_FALSE(IsLossPair(bad));
  bad.masses.clear();
  EXPECT_FALSE(IsLossPair(bad));
}

}  // namespace
}  // namespace epsledger::accounting
