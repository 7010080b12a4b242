#include "accounting/gaussian/calibration.h"

#include <cmath>

#include "accounting/gaussian/profile.h"
#include "accounting/numeric/constants.h"
#include "gtest/gtest.h"
#include "tests/accounting/gaussian/calibration_rows.h"

namespace epsledger::accounting {
namespace {

TEST(AnalyticNoiseMultiplier, AgreesWithTheTableOnTheSafeSide) {
  for (const auto& row : kCalibrationRows) {
    const double z = AnalyticNoiseMultiplier(row.epsilon, row.delta);
    EXPECT_GE(z, row.noise_multiplier * (1 - 1e-15)) << row.epsilon << " " << row.delta;
    EXPECT_LE(z, row.noise_multiplier * (1 + 1e-9)) << row.epsilon << " " << row.delta;
  }
}

TEST(AnalyticNoiseMultiplier, MakesARoundTrip) {
  for (const double epsilon : {0.0, 1e-6, 0.1, 1.0, 5.0, 40.0}) {
    for (const double delta : {0.4, 1e-3, 1e-9, 1e-100, 1e-300}) {
      const double z = AnalyticNoiseMultiplier(epsilon, delta);
      const Bounds mu{1 / z * (1 - 1e-15), 1 / z * (1 + 1e-15)};
      const Bounds back = GaussianEpsilon(mu, std::log(delta));
      EXPECT_LE(back.lower, epsilon * (1 + 1e-12)) << epsilon << " " << delta;
      EXPECT_NEAR(back.upper, epsilon, 1e-9 * epsilon + 1e-12) << epsilon << " " << delta;
    }
  }
}

TEST(AnalyticNoiseMultiplier, AnswersTheSpecialValues) {
  EXPECT_EQ(AnalyticNoiseMultiplier(1, 0), kInfinity);
  EXPECT_EQ(AnalyticNoiseMultiplier(1, 1), 0);
  EXPECT_EQ(AnalyticNoiseMultiplier(std::nan(""), 0.1), kInfinity);
  // dp_accounting get_sigma_gaussian(0, 1e-30) answers 8e14.
  EXPECT_NEAR(AnalyticNoiseMultiplier(0, 1e-30), 3.98942280401432644695e29, 1e20);
}

TEST(ClassicalNoiseMultiplier, IsTheTextbookFormulaInsideItsRange) {
  EXPECT_NEAR(*ClassicalNoiseMultiplier(0.5, 1e-5), 9.689610525210778, 1e-13);
  EXPECT_GE(*ClassicalNoiseMultiplier(0.5, 1e-5), AnalyticNoiseMultiplier(0.5, 1e-5));
  EXPECT_TRUE(ClassicalNoiseMultiplier(1, 1e-5).ok());
}

TEST(ClassicalNoiseMultiplier, RefusesEpsilonAboveOne) {
  EXPECT_EQ(ClassicalNoiseMultiplier(1.01, 1e-5).status().message(),
            "epsilon: got 1.01, want in (0, 1]");
  EXPECT_FALSE(ClassicalNoiseMultiplier(0, 1e-5).ok());
  EXPECT_FALSE(ClassicalNoiseMultiplier(0.5, 0).ok());
  EXPECT_FALSE(ClassicalNoiseMultiplier(0.5, 1).ok());
  EXPECT_FALSE(ClassicalNoiseMultiplier(std::nan(""), 0.1).ok());
}

}  // namespace
}  // namespace epsledger::accounting
