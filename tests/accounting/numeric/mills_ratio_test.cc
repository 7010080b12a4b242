#include "accounting/numeric/mills_ratio.h"
#include "accounting/numeric/constants.h"

#include <algorithm>
#include <cmath>

#include "gtest/gtest.h"
#include "tests/accounting/mpfr_real.h"

namespace epsledger::accounting {
namespace {

Real Truth(const Real& x) {
  return Sqrt(Real::Pi() / 2) * Exp(x * x / 2) * Erfc(x / Sqrt(Real(2)));
}

double RelativeError(double value, const Real& truth) {
  return std::abs(((Real(value) - truth) / truth).ToDouble());
}

// Arguments as a caller forms them: the ends' rounding put back.
MillsArguments Arguments(double middle, double middle_low, double width) {
  const double left = middle - width / 2;
  const double right = middle + width / 2;
  const Real half = Real(width) / 2;
  return {middle, middle_low,
          left,   (Real(middle) - half - Real(left)).ToDouble() + middle_low,
          right,  (Real(middle) + half - Real(right)).ToDouble() + middle_low,
          width};
}

TEST(MillsRatio, IsWithinItsStatedErrorInEveryCell) {
  double worst = 0;
  // At the ends of every cell of the table, where the expansions reach furthest, and past its end.
  for (double x = -1; x < 72; x += x < 4 ? 0.125 : x < 8 ? 0.25 : x < 16 ? 0.5 : x < 32 ? 1 : 2) {
    for (const double at : {x, x + 0.03, x == -1 ? x : std::nextafter(x, -2)}) {
      worst = std::max(worst, RelativeError(MillsRatio(at, 0), Truth(at)));
    }
  }
  EXPECT_LT(worst, kMillsRelativeError / 2);  // measured 1.6e-16
  for (const double x : {80.0, 126.47}) {
    EXPECT_LT(RelativeError(MillsRatio(x, 0), Truth(x)), kMillsRelativeError) << x;
  }
}

TEST(MillsRatio, AnswersTheSpecialValues) {
  EXPECT_EQ(MillsRatio(kInfinity, 0), 0);
  EXPECT_EQ(MillsRatio(1e300, 0), 1e-300);
  EXPECT_TRUE(std::isnan(MillsRatio(std::nan(""), 0)));
  for (const double x : {-1.01, -3.0, -12.0}) {
    EXPECT_LT(RelativeError(MillsRatio(x, 0), Truth(x)), 1e-13) << x;
  }
}

TEST(MillsRatio, TakesTheLowPartOfItsArgument) {
  for (const double x : {-0.9, 0.0, 1.3, 5.7, 70.0}) {
    EXPECT_LT(RelativeError(MillsRatio(x, 1e-10), Truth(Real(x) + Real(1e-10))),
              kMillsRelativeError)
        << x;
  }
}

TEST(MillsRatioDifference, IsWithinItsErrorAtEveryWidth) {
  for (const double width : {1e-100, 1e-20, 1e-6, 0.03, 0.0625, 0.063, 0.1, 0.125, 0.2, 0.25, 0.6,
                             1.0, 2.0, 10.0, 90.0}) {
    for (const double middle :
         {0.0, 1e-9, 0.061, 0.125, 0.9, 2.49, 3.99, 4.0, 7.8, 8.01, 15.9, 16.1, 31.7, 38.0, 47.0}) {
      const double left = middle - width / 2;
      if (left < -1 || left > 39) continue;
      const double middle_low = 0x1p-55 * middle;
      const MillsDifference mills = MillsRatioDifference(Arguments(middle, middle_low, width));
      const Real center = Real(middle) + Real(middle_low);
      const Real left_truth = Truth(center - Real(width) / 2);
      const Real right_truth = Truth(center + Real(width) / 2);
      // 1e-100 leaves 54 of 154 digits.
      const Real truth = left_truth - right_truth;
      EXPECT_LE(std::abs((Real(mills.difference) - truth).ToDouble()), mills.difference_error)
          << middle << " " << width;
      EXPECT_LT(RelativeError(mills.left, left_truth), kMillsRelativeError);
      EXPECT_LT(RelativeError(mills.right, right_truth), kMillsRelativeError);
      const double stated = mills.difference_error / mills.difference;
      EXPECT_LE(stated, middle > 8                        ? 0x1p-47
                        : width <= 0.0625 || width >= 0.5 ? 0x1p-50
                                                          : 0x1p-48)
          << middle << " " << width;
    }
  }
}

}  // namespace
}  // namespace epsledger::accounting
