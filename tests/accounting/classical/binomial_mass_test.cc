#include "accounting/classical/binomial_mass.h"

#include <cmath>

#include "gtest/gtest.h"
#include "rapidcheck/gtest.h"
#include "tests/accounting/classical/binomial_truth.h"

namespace epsledger::accounting {
namespace {

// Returns the stated error, having held it against the truth.
double Check(double epsilon0, double count, double j) {
  const Approximation mass = BinomialMass(epsilon0, count).LogMass(j);
  const Real truth = LogBinomialMassTruth(epsilon0, count, j);
  EXPECT_TRUE(Real(mass.value) - mass.error <= truth) << epsilon0 << " " << count << " " << j;
  EXPECT_TRUE(truth <= Real(mass.value) + mass.error) << epsilon0 << " " << count << " " << j;
  return mass.error;
}

TEST(BinomialMass, StatesItsErrorAtEveryOutcomeOfSmallCounts) {
  for (const double epsilon0 : {1e-300, 1e-9, 0.01, 0.7, 3.0, 40.0, 700.0}) {
    for (const double count : {1.0, 2.0, 7.0, 40.0}) {
      for (double j = 0; j <= count; ++j) {
        EXPECT_LT(Check(epsilon0, count, j), 1e-11 + 1e-13 * epsilon0 * count) << epsilon0;
      }
    }
  }
}

TEST(BinomialMass, KeepsItsDigitsNearTheModeOfLargeCounts) {
  for (const double count : {1e3, 1e6, 1e9, 1e12}) {
    for (const double epsilon0 : {1e-8, 1e-4, 0.1, 1.0, 5.0}) {
      const BinomialMass mass(epsilon0, count);
      const double q = 1 / (1 + std::exp(epsilon0));
      const double spread = std::sqrt(count * q * (1 - q));
      for (const double z : {-12.0, -5.0, -1.0, 0.0, 1.0, 5.0, 12.0}) {
        const double j = std::floor(mass.Mode() + z * spread);
        if (j < 0 || j > count) continue;
        EXPECT_LT(Check(epsilon0, count, j), 1e-8) << count << " " << epsilon0 << " " << z;
      }
    }
  }
}

RC_GTEST_PROP(BinomialMass, StatesItsErrorAtRandom, ()) {
  const double epsilon0 = std::exp(*rc::gen::inRange(-20000, 6500) / 1000.0);
  const double count = std::floor(std::exp(*rc::gen::inRange(0, 36000) / 1000.0));
  const double part = *rc::gen::inRange(0, 1000001) / 1e6;
  const double j = std::floor(count * part);
  const Approximation mass = BinomialMass(epsilon0, count).LogMass(j);
  const Real truth = LogBinomialMassTruth(epsilon0, count, j);
  RC_ASSERT(Real(mass.value) - mass.error <= truth);
  RC_ASSERT(truth <= Real(mass.value) + mass.error);
  RC_ASSERT(mass.error <= 1e-11 * (1 + std::abs(mass.value)));
}

TEST(BinomialMass, CurvatureBoundsTheSecondDifference) {
  for (const double count : {10.0, 1000.0}) {
    const BinomialMass mass(0.3, count);
    for (double j = 1; j < count; ++j) {
      const double bend =
          2 * mass.LogMass(j).value - mass.LogMass(j - 1).value - mass.LogMass(j + 1).value;
      EXPECT_GE(mass.LogMassCurvature(j - 1, j + 1), bend - 1e-11);
      EXPECT_GT(bend, 0);
    }
  }
}

}  // namespace
}  // namespace epsledger::accounting
