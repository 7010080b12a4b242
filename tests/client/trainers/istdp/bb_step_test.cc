#include "client/trainers/istdp/bb_step.h"

#include <rapidcheck/gtest.h>
#include "gtest/gtest.h"
#include "tests/client/trainers/istdp/special_values.h"

namespace epsledger::trainers::istdp {
namespace {

constexpr StepBounds kBounds{.smallest = 0.5, .largest = 8};

double Step(const Eigen::VectorXd& theta, const Eigen::VectorXd& released_gradient) {
  return BarzilaiBorweinStep({.theta = theta, .released_gradient = released_gradient}, kBounds);
}

TEST(BarzilaiBorweinStep, IsTheSquaredNormOverTheInnerProduct) {
  EXPECT_DOUBLE_EQ(Step(Eigen::Vector2d(1, 2), Eigen::Vector2d(1, 0.5)), 2.5);
}

TEST(BarzilaiBorweinStep, OfAQuadraticWithOneCurvatureIsItsInverse) {
  const Eigen::Vector2d theta(3, -1);
  EXPECT_DOUBLE_EQ(Step(theta, 0.25 * theta), 4);
}

TEST(BarzilaiBorweinStep, IsTheLargestWhereTheDenominatorIsNotPositive) {
  EXPECT_EQ(Step(Eigen::Vector2d(1, 2), Eigen::Vector2d(-1, 0)), 8);  // negative
  EXPECT_EQ(Step(Eigen::Vector2d(1, 2), Eigen::Vector2d(2, -1)), 8);  // orthogonal
  EXPECT_EQ(Step(Eigen::Vector2d(0, 0), Eigen::Vector2d(1, 1)), 8);   // 0 / 0
  EXPECT_EQ(Step(Eigen::VectorXd(), Eigen::VectorXd()), 8);
}

TEST(BarzilaiBorweinStep, IsTheLargestForNan) {
  EXPECT_EQ(Step(Eigen::Vector2d(kNan, 2), Eigen::Vector2d(1, 1)), 8);
  EXPECT_EQ(Step(Eigen::Vector2d(1, 2), Eigen::Vector2d(kNan, 1)), 8);
  EXPECT_EQ(Step(Eigen::Vector2d(kInfinity, 2), Eigen::Vector2d(1, 1)), 8);  // inf / inf
  EXPECT_EQ(Step(Eigen::Vector2d(1e200, 0), Eigen::Vector2d(1e200, 0)), 8);  // both overflow
}

TEST(BarzilaiBorweinStep, IsClippedToTheBounds) {
  EXPECT_EQ(Step(Eigen::Vector2d(1, 0), Eigen::Vector2d(1e9, 0)), 0.5);
  EXPECT_EQ(Step(Eigen::Vector2d(1, 0), Eigen::Vector2d(kInfinity, 0)), 0.5);
  EXPECT_EQ(Step(Eigen::Vector2d(1, 0), Eigen::Vector2d(1e-9, 0)), 8);
  EXPECT_EQ(Step(Eigen::Vector2d(1, 0), Eigen::Vector2d(5e-324, 0)), 8);
}

RC_GTEST_PROP(BarzilaiBorweinStep, StaysInTheBoundsForAnyNumbers, ()) {
  const auto number = rc::gen::oneOf(rc::gen::arbitrary<double>(),
                                     rc::gen::element(0.0, -0.0, kNan, kInfinity, -kInfinity));
  const double step = Step(Eigen::Vector2d(*number, *number), Eigen::Vector2d(*number, *number));
  RC_ASSERT(step >= kBounds.smallest && step <= kBounds.largest);
}

TEST(DefaultStepBounds, AreAQuarterAndAHundredOverTheLipschitzConstant) {
  EXPECT_EQ(DefaultStepBounds(0.25).smallest, 1);
  EXPECT_EQ(DefaultStepBounds(0.25).largest, 400);
}

TEST(ValidateStepBounds, RefusesWhatIsOutsideTheDomain) {
  EXPECT_TRUE(ValidateStepBounds({.smallest = 1, .largest = 1}).ok());
  for (const StepBounds& bounds :
       {StepBounds{}, StepBounds{.smallest = 2, .largest = 1},
        StepBounds{.smallest = kNan, .largest = 1}, StepBounds{.smallest = 1, .largest = kNan},
        StepBounds{.smallest = 1, .largest = kInfinity}}) {
    EXPECT_EQ(ValidateStepBounds(bounds).code(), absl::StatusCode::kInvalidArgument);
  }
}

}  // namespace
}  // namespace epsledger::trainers::istdp
