#include "client/trainers/istdp/regularizer.h"

#include <rapidcheck/gtest.h>
#include "gtest/gtest.h"
#include "tests/client/trainers/istdp/special_values.h"

#include <cmath>

namespace epsledger::trainers::istdp {
namespace {

Eigen::VectorXd Scalar(double t) { return Eigen::VectorXd::Constant(1, t); }

TEST(Prox, OfL1IsTheSoftThreshold) {
  const Regularizer l1 = L1Penalty{.lambda = 2};
  EXPECT_EQ(ProxCoordinate(l1, 0.5, 3), 2);
  EXPECT_EQ(ProxCoordinate(l1, 0.5, -3), -2);
  EXPECT_EQ(ProxCoordinate(l1, 0.5, 1), 0);
  EXPECT_EQ(ProxCoordinate(l1, 0.5, -0.5), 0);
  EXPECT_TRUE(std::isnan(ProxCoordinate(l1, 0.5, kNan)));
}

TEST(Prox, OfL2Shrinks) {
  const Regularizer l2 = L2Penalty{.lambda = 2};
  EXPECT_EQ(ProxCoordinate(l2, 0.5, 3), 1.5);
  EXPECT_EQ(ProxCoordinate(l2, 0.5, 0), 0);
  EXPECT_TRUE(std::isnan(ProxCoordinate(l2, 0.5, kNan)));
}

TEST(Prox, OfAVectorIsThatOfItsCoordinates) {
  const Regularizer mcp = McpPenalty{.lambda = 1, .shape = 2};
  const Eigen::VectorXd got = Prox(mcp, 1, Eigen::Vector3d(1.5, -0.5, 2.5));
  EXPECT_TRUE(got.isApprox(Eigen::Vector3d(1, 0, 2.5)));
}

RC_GTEST_PROP(Prox, OfEveryPenaltyIsAtLeastAsGoodAsItsNeighborsAndZero, ()) {
  const double lambda = *rc::gen::inRange(0, 3000) / 1000.0;
  const double step = *rc::gen::inRange(1, 6000) / 1000.0;
  const double s = *rc::gen::inRange(-9000, 9000) / 1000.0;
  for (const Regularizer& regularizer :
       {Regularizer(McpPenalty{.lambda = lambda, .shape = 2}), Regularizer(L1Penalty{lambda}),
        Regularizer(L2Penalty{lambda}), Regularizer(ScadPenalty{.lambda = lambda, .shape = 3}),
        Regularizer(CappedL1Penalty{.lambda = lambda, .cap = 1.5})}) {
    const auto objective = [&](double t) {
      return 0.5 * (t - s) * (t - s) + step * Penalty(regularizer, Scalar(t));
    };
    const double t = ProxCoordinate(regularizer, step, s);
    for (const double other : {0.0, s, t - 1e-3, t + 1e-3, t - 0.5, t + 0.5}) {
      RC_ASSERT(objective(t) <= objective(other) + 1e-12);
    }
  }
}

TEST(Penalty, SumsOverAllCoordinates) {
  const Eigen::Vector3d theta(1, -2, 0);
  EXPECT_DOUBLE_EQ(Penalty(L1Penalty{.lambda = 2}, theta), 6);
  EXPECT_DOUBLE_EQ(Penalty(L2Penalty{.lambda = 2}, theta), 5);
  EXPECT_DOUBLE_EQ(Penalty(McpPenalty{.lambda = 1, .shape = 2}, theta), 0.75 + 1);
  EXPECT_DOUBLE_EQ(Penalty(ScadPenalty{.lambda = 1, .shape = 3}, theta), 1 + 1.75);
  EXPECT_DOUBLE_EQ(Penalty(CappedL1Penalty{.lambda = 2, .cap = 1.5}, theta), 2 + 3);
  EXPECT_EQ(Penalty(L1Penalty{.lambda = 2}, Eigen::VectorXd()), 0);
}

TEST(ValidateRegularizer, NamesTheField) {
  EXPECT_TRUE(ValidateRegularizer(L1Penalty{}).ok());
  EXPECT_EQ(ValidateRegularizer(L1Penalty{.lambda = -1}).message(),
            "L1Penalty.lambda: got -1, want a finite number >= 0");
  EXPECT_EQ(ValidateRegularizer(L2Penalty{.lambda = kNan}).message(),
            "L2Penalty.lambda: got nan, want a finite number >= 0");
  for (const Regularizer& bad :
       {Regularizer(McpPenalty{.lambda = -1}), Regularizer(ScadPenalty{.lambda = 1, .shape = 2}),
        Regularizer(CappedL1Penalty{.lambda = 1, .cap = 0})}) {
    EXPECT_EQ(ValidateRegularizer(bad).code(), absl::StatusCode::kInvalidArgument);
  }
}

}  // namespace
}  // namespace epsledger::trainers::istdp
