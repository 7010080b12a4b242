#include "accounting/gaussian/calibration.h"

#include <cmath>

#include "accounting/gaussian/profile.h"
#include "accounting/numeric/constants.h"
#include "gtest/gtest.h"
#include "tests/accounting/gaussian/calibration_rows.h"

namespace epsledger::accounting {
namespace {

TEST(LargestGaussianMu, AgreesWithTheTableOnTheSafeSide) {
  for (const auto& row : kCalibrationRows) {
    const double z = 1 / LargestGaussianMu(row.epsilon, std::log(row.delta));
    EXPECT_GE(z, row.noise_multiplier * (1 - 1e-15)) << row.epsilon << " " << row.delta;
    EXPECT_LE(z, row.noise_multiplier * (1 + 1e-9)) << row.epsilon << " " << row.delta;
  }
}

TEST(LargestGaussianMu, MakesARoundTrip) {
  for (const double epsilon : {0.0, 1e-6, 0.1, 1.0, 5.0, 40.0}) {
    for (const double delta : {0.4, 1e-3, 1e-9, 1e-100, 1e-300}) {
      const double mu = LargestGaussianMu(epsilon, std::log(delta));
      const Bounds back =
          GaussianEpsilon(Bounds{mu * (1 - 1e-15), mu * (1 + 1e-15)}, std::log(delta));
      EXPECT_LE(back.lower, epsilon * (1 + 1e-12)) << epsilon << " " << delta;
      EXPECT_NEAR(back.upper, epsilon, 1e-9 * epsilon + 1e-12) << epsilon << " " << delta;
    }
  }
}

TEST(LargestGaussianMu, AnswersTheSpecialValues) {
  EXPECT_EQ(LargestGaussianMu(1, -kInfinity), 0);
  EXPECT_EQ(LargestGaussianMu(1, 0), kInfinity);
  EXPECT_EQ(LargestGaussianMu(std::nan(""), std::log(0.1)), 0);
  EXPECT_EQ(LargestGaussianMu(1, std::nan("")), 0);
  // dp_accounting get_sigma_gaussian(0, 1e-30) answers 8e14.
  EXPECT_NEAR(1 / LargestGaussianMu(0, std::log(1e-30)) / 3.98942280401432644695e29, 1, 1e-9);
}

}  // namespace
}  // namespace epsledger::accounting
