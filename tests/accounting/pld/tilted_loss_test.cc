#include "accounting/pld/tilted_loss.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <vector>

namespace epsledger::accounting {
namespace {

// Frequencies are in units of 1 / q; small sampling probabilities have long tails, in which such
// frequencies turn too often to be resolved.
double UnitOf(const SampledGaussianPair& pair) {
  const double q = pair.sampling_probability;
  return (q < 5e-6 ? 0.001 : q < 1e-4 ? 0.01 : 1) / q;
}

constexpr SampledGaussianPair kPairs[] = {
    {.01, 1, Adjacency::kRemove}, {.01, 1, Adjacency::kAdd},      {.3, .6, Adjacency::kRemove},
    {.3, .6, Adjacency::kAdd},    {1e-5, .5, Adjacency::kRemove}, {.9, 10, Adjacency::kRemove},
    {1e-6, .7, Adjacency::kAdd},
};

// M(c) of the definition, in 64-bit mantissas on a fine grid.
long double MomentOf(const SampledGaussianPair& pair, double order, double y, bool imaginary) {
  const long double q = pair.sampling_probability;
  const long double s = pair.noise;
  const long double power = pair.adjacency == Adjacency::kRemove ? order + 1 : -order;
  const long double sign = pair.adjacency == Adjacency::kRemove ? 1 : -1;
  // Fine enough for the phase to turn slowly everywhere.
  const long double step = std::min(1.0L / 512, 0.3L * s / (1 + y));
  long double sum = 0;
  const long double high = std::max(0.0L, power / s) + 14;
  for (long double t = -14; t <= high; t += step) {
    const long double w = t / s - 0.5L / (s * s);
    const long double log_g = std::log1p(q * std::expm1(w));
    const long double angle = y * sign * log_g;
    const long double size = std::exp(power * log_g - 0.5L * t * t);
    sum += size * (imaginary ? std::sin(angle) : std::cos(angle));
  }
  return sum * step / std::sqrt(2 * std::acos(-1.0L));
}

TEST(TiltedLossTest, MomentsHoldTheDefinition) {
  for (const SampledGaussianPair& pair : kPairs) {
    for (const double tilt : {0.5, 3.0, 9.0}) {
      const TiltedLoss loss(pair, tilt, 0, 1e-13, 1 << 16);
      ASSERT_TRUE(loss.valid());
      const double exact = static_cast<double>(std::log(MomentOf(pair, tilt, 0, false)));
      EXPECT_LE(std::abs(loss.log_moment() - exact), loss.log_moment_error() + 1e-15)
          << pair.sampling_probability << " " << tilt;
      EXPECT_LT(loss.log_moment_error(), 1e-10);
    }
  }
}

TEST(TiltedLossTest, CharacteristicFunctionStaysWithinItsStatedError) {
  for (const SampledGaussianPair& pair : kPairs) {
    const double tilt = 3;
    const double step = UnitOf(pair) / 4;
    const int count = 9;
    const TiltedLoss loss(pair, tilt, step * (count - 1), 1e-12, 1 << 18);
    ASSERT_TRUE(loss.valid());
    const std::vector<std::complex<double>> phi = loss.CharacteristicFunctionMinusOne(step, count);
    const long double scale = MomentOf(pair, tilt, 0, false);
    for (int k = 0; k < count; ++k) {
      const double y = step * k;
      // The oracle's own grid resolves phases up to a point.
      if (y * pair.sampling_probability > 3) continue;
      const double re = static_cast<double>(MomentOf(pair, tilt, y, false) / scale) - 1;
      const double im = static_cast<double>(MomentOf(pair, tilt, y, true) / scale);
      const std::complex<double> value = phi[static_cast<size_t>(k)];
      EXPECT_LE(std::abs(value - std::complex<double>(re, im)), loss.Error(y) + 1e-15)
          << pair.sampling_probability << " k " << k;
      EXPECT_LT(loss.Error(y), 1e-9);
    }
  }
}

TEST(FrequencyDecayTest, BoundsTheCharacteristicFunctionFromThereOn) {
  for (const SampledGaussianPair& pair : kPairs) {
    const double tilt = 2;
    const double step = 0.35 * UnitOf(pair) / 4;
    const int count = 96;
    const TiltedLoss loss(pair, tilt, step * count, 1e-9, 1 << 18);
    ASSERT_TRUE(loss.valid()) << pair.sampling_probability;
    const std::vector<std::complex<double>> phi = loss.CharacteristicFunctionMinusOne(step, count);
    const FrequencyDecay decay(pair, tilt, loss.log_moment() + loss.log_moment_error());
    for (int from = 1; from < count; from += 3) {
      const double low = step * from;
      const double near = decay.BoundNear(low);
      const double beyond = decay.BoundBeyond(low);
      for (int k = from; k < count; ++k) {
        const double size = std::abs(phi[static_cast<size_t>(k)] + 1.0);
        EXPECT_LE(size, beyond + 1e-8) << pair.sampling_probability << " " << from << " " << k;
        if (step * k <= std::sqrt(2.0) * low) {
          EXPECT_LE(size, near + 1e-8) << pair.sampling_probability << " " << from << " " << k;
        }
      }
    }
    // And it does decay: like a normal law's where it is near one.
    const double unit = 0.5 * step;
    EXPECT_LT(decay.BoundNear(unit), 1);
    EXPECT_LT(decay.BoundBeyond(1e4 / pair.sampling_probability), 0.5);
  }
}

TEST(CutMassTest, BoundsWhatIsSetAside) {
  const SampledGaussianPair pair{.01, 1, Adjacency::kRemove, 4};
  // By a sum over t.
  double sum = 0;
  const double step = 1.0 / 1024;
  for (double t = -10; t < 14; t += step) {
    const double density =
        (1 - .01) * std::exp(-0.5 * t * t) + .01 * std::exp(-0.5 * (t - 1) * (t - 1));
    sum += density * 0.5 * std::erfc((4 - t) / kCutWidth / std::sqrt(2.0));
  }
  sum *= step / std::sqrt(2 * std::acos(-1.0));
  EXPECT_GE(CutMass(pair), sum * (1 - 1e-10));
  EXPECT_NEAR(CutMass(pair), sum, 1e-8 * sum);
}

}  // namespace
}  // namespace epsledger::accounting
