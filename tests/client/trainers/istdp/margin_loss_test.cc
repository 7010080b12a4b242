#include "client/trainers/istdp/margin_loss.h"

#include "gtest/gtest.h"
#include "tests/client/trainers/istdp/special_values.h"

#include <cmath>

namespace epsledger::trainers::istdp {
namespace {

const MarginLoss kMarginLosses[] = {LogisticMargin{}, SquaredMargin{}, HuberMargin{.knee = 0.7}};

TEST(MarginLossValue, GivesKnownValues) {
  EXPECT_NEAR(MarginLossValue(LogisticMargin{}, 0, 1), std::log(2), 1e-15);
  EXPECT_NEAR(MarginLossValue(LogisticMargin{}, 2, 1), std::log1p(std::exp(-2)), 1e-15);
  EXPECT_DOUBLE_EQ(MarginLossValue(SquaredMargin{}, 3, 1), 2);  // target 1
  EXPECT_DOUBLE_EQ(MarginLossValue(SquaredMargin{}, 1, 0), 2);  // target -1
  EXPECT_DOUBLE_EQ(MarginLossValue(HuberMargin{1}, 1.5, 1), 0.125);
  EXPECT_DOUBLE_EQ(MarginLossValue(HuberMargin{1}, 4, 1), 2.5);  // 1 (3 - 1/2)
}

TEST(Residual, IsTheSlopeOfTheLoss) {
  for (const MarginLoss& loss : kMarginLosses) {
    for (double margin = -4; margin <= 4; margin += 0.37) {
      for (const double label : {0.0, 1.0}) {
        constexpr double kDifference = 1e-5;
        const double slope = (MarginLossValue(loss, margin + kDifference, label) -
                              MarginLossValue(loss, margin - kDifference, label)) /
                             (2 * kDifference);
        EXPECT_NEAR(Residual(loss, margin, label), slope, 1e-5) << MarginLossName(loss) << margin;
      }
    }
  }
}

TEST(Residual, IsNondecreasingNoSteeperThanTheCurvatureAndBounded) {
  for (const MarginLoss& loss : kMarginLosses) {
    double previous = Residual(loss, -9.0, 1);
    for (double margin = -9 + 0.01; margin <= 9; margin += 0.01) {
      const double residual = Residual(loss, margin, 1);
      EXPECT_GE(residual, previous);
      EXPECT_LE(residual - previous, LargestCurvature(loss) * 0.01 * (1 + 1e-9));
      EXPECT_LE(std::fabs(residual), LargestResidual(loss));
      previous = residual;
    }
    for (const double extreme : {-kInfinity, -1e300, 1e300, kInfinity}) {
      EXPECT_LE(std::fabs(Residual(loss, extreme, 0)), LargestResidual(loss));
    }
    EXPECT_TRUE(std::isnan(Residual(loss, kNan, 0)));
    EXPECT_TRUE(std::isnan(MarginLossValue(loss, kNan, 0)));
  }
}

TEST(LipschitzConstant, IsTheSquaredRowNormTimesTheCurvature) {
  EXPECT_EQ(LipschitzConstant(LogisticMargin{}, 2), 1);
  EXPECT_EQ(LipschitzConstant(SquaredMargin{}, 2), 4);
  EXPECT_EQ(LipschitzConstant(HuberMargin{}, 3), 9);
}

TEST(ValidateMarginLoss, RefusesAKneeOutsideItsDomain) {
  EXPECT_TRUE(ValidateMarginLoss(HuberMargin{1e6}).ok());
  for (const double knee : {0.0, -1.0, 1e-101, 2e6, kInfinity, kNan}) {
    EXPECT_EQ(ValidateMarginLoss(HuberMargin{knee}).code(), absl::StatusCode::kInvalidArgument);
  }
}

}  // namespace
}  // namespace epsledger::trainers::istdp
