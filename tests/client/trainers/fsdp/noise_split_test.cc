#include "client/trainers/fsdp/noise_split.h"

#include "gtest/gtest.h"

#include <cmath>
#include <limits>

namespace epsledger::trainers::fsdp {
namespace {

TEST(JointNoiseMultiplier, OfTwoGaussiansOnTheSameRecords) {
  EXPECT_NEAR(JointNoiseMultiplier(4, 4), 2.828427, 5e-7);
  EXPECT_NEAR(JointNoiseMultiplier(1.7, 3.4), 1.520526, 5e-7);
}

TEST(SplitNoise, TwoPartsAreTogetherWhatIsCharged) {
  for (const double z : {0.5, 1.520526, 10.0}) {
    for (const double fraction : {0.01, 0.5, 0.7, 0.99}) {
      const absl::StatusOr<NoiseShares> shares = SplitNoise({.embedding_fraction = fraction}, z);
      ASSERT_TRUE(shares.ok()) << shares.status();
      const double joint = JointNoiseMultiplier(z / shares->embedding, z / shares->residual);
      EXPECT_GE(joint, z);
      EXPECT_NEAR(joint, z, 1e-11 * z);
      EXPECT_NEAR(shares->embedding * shares->embedding, fraction, 1e-11);
    }
  }
}

TEST(SplitNoise, WithoutAnEmbeddingTheResidualHasAll) {
  const NoiseShares shares = *SplitNoise({}, 2);
  EXPECT_EQ(shares.embedding, 0);
  EXPECT_LE(shares.residual, 1);
  EXPECT_NEAR(shares.residual, 1, 1e-11);
}

// A gradient's noise of 1.52800 and two counts with noise 2048 / 20 are charged as 1.52791.
TEST(SplitNoise, IndicatorsAreChargedInTheSameEvent) {
  const double z = 1.52791;
  const NoiseShares shares = *SplitNoise({.indicator_count = 2, .indicator_noise = 2048 / 20.0}, z);
  EXPECT_NEAR(z / shares.residual, 1.52800, 5e-6);
  EXPECT_GT(z / shares.residual, z);
  // 1 / z^2 = 1 / sigma^2 + 2 / (2 sigma_b)^2.
  const double sum = std::pow(shares.residual / z, 2) + 2 / std::pow(2 * 2048 / 20.0, 2);
  EXPECT_NEAR(sum * z * z, 1, 1e-7);
  const double total = shares.residual * shares.residual + 2 * shares.indicator * shares.indicator;
  EXPECT_LE(total, 1);
}

TEST(SplitNoise, RefusesWhatIsOutsideItsDomain) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const double z : {0.0, -1.0, nan, std::numeric_limits<double>::infinity()}) {
    EXPECT_FALSE(SplitNoise({}, z).ok()) << z;
  }
  for (const double fraction : {-0.1, 1.0, nan}) {
    EXPECT_FALSE(SplitNoise({.embedding_fraction = fraction}, 1).ok()) << fraction;
  }
  EXPECT_FALSE(SplitNoise({.indicator_count = 3, .indicator_noise = 100}, 1).ok());
  EXPECT_FALSE(SplitNoise({.indicator_count = 1}, 1).ok());
  EXPECT_FALSE(SplitNoise({.indicator_count = 2, .indicator_noise = 0.9}, 1).ok())
      << "the indicators would take more than half";
}

}  // namespace
}  // namespace epsledger::trainers::fsdp
