#include "accounting/profile/thresholded_profile.h"

#include "accounting/analytics/partition.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "accounting/answer.h"
#include "accounting/profile/profiles_of.h"
#include "gtest/gtest.h"
#include "tests/accounting/profile/profile_checks.h"
#include "tests/accounting/questions.h"

namespace epsledger::accounting {
namespace {

const std::vector<double> kSeveral = {-5, -1, -0.4, -0.01, 0, 0.01, 0.2, 0.4, 0.7, 1, 2, 6};

double NoiseDensity(const PartitionSelection& event, double x) {
  const double z = event.noise_multiplier;
  if (event.noise == Noise::kGaussian) {
    return std::exp(-0.5 * x * x / (z * z)) / (z * std::sqrt(2 * M_PI));
  }
  return 0.5 * std::exp(-std::abs(x) / z) / z;
}
double NoiseTail(const PartitionSelection& event, double x) {
  const double z = event.noise_multiplier;
  if (event.noise == Noise::kGaussian) return 0.5 * std::erfc(x / z / std::sqrt(2.0));
  return x > 0 ? 0.5 * std::exp(-x / z) : 1 - 0.5 * std::exp(x / z);
}

// The law of a partition of `size` units: released with its noisy size, or not at all.
struct Partition {
  const PartitionSelection& event;
  int size;
  double Dropped() const { return size == 0 ? 1 : 1 - NoiseTail(event, event.threshold - size); }
  double Density(double y) const { return size == 0 ? 0 : NoiseDensity(event, y - size); }
};

// H_x(p || q) by quadrature over the released sizes.
double HockeyStick(const Partition& p, const Partition& q, double x) {
  double sum = std::max(0.0, p.Dropped() - x * q.Dropped());
  const double first = p.event.threshold;
  const double last = std::max(p.size, q.size) + 60 * p.event.noise_multiplier;
  const int steps = 20000;
  const double h = (last - first) / steps;
  for (int i = 0; i < steps; ++i) {
    const double y = first + (i + 0.5) * h;
    sum += h * std::max(0.0, p.Density(y) - x * q.Density(y));
  }
  return sum;
}

absl::StatusOr<DirectedProfiles> ProfilesUnder(NeighboringRelation relation,
                                               const MechanismEvent& event) {
  Setting setting;
  setting.relation = relation;
  return ProfilesOf(event, setting, 1, Accountant::kPld);
}

TEST(ThresholdedProfile, IsTheLargestOverAllSizesOfThePartition) {
  for (const PartitionSelection& event :
       {PartitionSelection{Noise::kLaplace, 1, 5}, PartitionSelection{Noise::kLaplace, 4, 2},
        PartitionSelection{Noise::kGaussian, 1.5, 6},
        PartitionSelection{Noise::kLaplace, 1, 0.5}}) {
    const auto profiles = ProfilesUnder(NeighboringRelation::kAddOrRemoveOne, event);
    ASSERT_TRUE(profiles.ok()) << profiles.status();
    for (const double epsilon : kSeveral) {
      const double x = std::exp(epsilon);
      double remove = 0, add = 0;
      for (const int size : {1, 2, 3, 5, 8, 100}) {
        const Partition with{event, size}, without{event, size - 1};
        remove = std::max(remove, HockeyStick(with, without, x));
        add = std::max(add, HockeyStick(without, with, x));
      }
      const std::string what = Describe(event) + " at " + std::to_string(epsilon);
      // The quadrature is good to 1e-5.
      EXPECT_NEAR(std::exp(profiles->remove->LogDelta(epsilon).upper), remove, 1e-5) << what;
      EXPECT_NEAR(std::exp(profiles->remove->LogDelta(epsilon).lower), remove, 1e-5) << what;
      EXPECT_NEAR(std::exp(profiles->add->LogDelta(epsilon).upper), add, 1e-5) << what;
      EXPECT_NEAR(std::exp(profiles->add->LogDelta(epsilon).lower), add, 1e-5) << what;
    }
    ExpectConsistent(*profiles->remove, kSeveral, "remove");
    ExpectConsistent(*profiles->add, kSeveral, "add");
    ExpectReverses(*profiles->remove, *profiles->add, kSeveral, "reverse");
  }
}

// The loss of the noise ends where its delta is p, so that several partitions compose.
TEST(ThresholdedProfile, ComposesNearTheNoiseAloneWhereTheThresholdIsHigh) {
  const auto epsilon = [](const MechanismEvent& event, int64_t count) {
    return *Answer(AskEpsilon(Accountant::kPld, event, count, 1e-6))->upper;
  };
  for (const double threshold : {14.0, 30.0}) {
    for (const int64_t count : {2, 10}) {
      const double noise = epsilon(Gaussian{2}, count);
      const double both = epsilon(PartitionSelection{Noise::kGaussian, 2, threshold}, count);
      EXPECT_GE(both, noise * (1 - 1e-3)) << threshold;
      EXPECT_LE(both, noise * (1 + 5e-3)) << threshold;
    }
  }
}

TEST(ThresholdedProfile, KeepsTheDigitsOfATinyProbability) {
  // e^-700 / 2 and Phi(-40).
  const Bounds laplace = LogKeptAlone({Noise::kLaplace, 1, 701});
  EXPECT_NEAR(laplace.upper, -700 - std::log(2.0), 1e-11);
  EXPECT_LE(laplace.lower, -700 - std::log(2.0));
  const Bounds gaussian = LogKeptAlone({Noise::kGaussian, 1, 41});
  EXPECT_NEAR(gaussian.upper, -804.608442013754, 1e-9);
  EXPECT_LE(gaussian.lower, gaussian.upper);
  EXPECT_NEAR(LogKeptAlone({Noise::kGaussian, 2, 1}).upper, std::log(0.5), 1e-12);
  EXPECT_NEAR(LogKeptAlone({Noise::kLaplace, 2, 0.5}).upper, std::log1p(-0.5 * std::exp(-0.25)),
              1e-12);
  EXPECT_GT(KeptAlone({Noise::kLaplace, 1e-3, 701}), 0);
  EXPECT_EQ(KeptAlone({Noise::kLaplace, 5e-324, 0.5}), 1);
}

TEST(PartitionSelectionEvents, AreRefusedWhereAUnitIsReplaced) {
  for (const MechanismEvent& event : {MechanismEvent(PartitionSelection{Noise::kLaplace, 1, 5}),
                                      MechanismEvent(TruncatedGeometricSelection{1, 1e-5})}) {
    EXPECT_TRUE(
        absl::IsUnimplemented(ProfilesUnder(NeighboringRelation::kReplaceOne, event).status()));
    EXPECT_TRUE(ProfilesUnder(NeighboringRelation::kReplaceSpecial, event).ok());
  }
}

// p_0 = 0 and the largest p_n that p_{n-1} allows.
TEST(TruncatedGeometricSelection, IsCoveredAndReachesItsDelta) {
  for (const double epsilon : {0.2, 1.0, 3.0}) {
    for (const double delta : {1e-3, 0.05}) {
      const auto profiles = ProfilesUnder(NeighboringRelation::kAddOrRemoveOne,
                                          TruncatedGeometricSelection{epsilon, delta});
      ASSERT_TRUE(profiles.ok()) << profiles.status();
      for (const double at : {-2.0, -0.1, 0.0, 0.5 * epsilon, epsilon, epsilon + 1}) {
        const double x = std::exp(at);
        double remove = 0, add = 0, before = 0;
        for (int n = 1; n < 1000; ++n) {
          const double now = std::min({std::exp(epsilon) * before + delta,
                                       1 - std::exp(-epsilon) * (1 - before - delta), 1.0});
          remove = std::max(remove, std::max(0.0, now - x * before) +
                                        std::max(0.0, (1 - now) - x * (1 - before)));
          add = std::max(
              add, std::max(0.0, before - x * now) + std::max(0.0, (1 - before) - x * (1 - now)));
          before = now;
        }
        const double upper = std::exp(profiles->remove->LogDelta(at).upper);
        EXPECT_GE(upper, remove * (1 - 1e-12)) << epsilon << " " << delta << " " << at;
        EXPECT_GE(std::exp(profiles->add->LogDelta(at).upper), add * (1 - 1e-12));
        if (at == epsilon) {
          EXPECT_NEAR(remove, delta, 1e-12);
          EXPECT_NEAR(upper, delta, 1e-12);
        }
      }
    }
  }
}

}  // namespace
}  // namespace epsledger::accounting
