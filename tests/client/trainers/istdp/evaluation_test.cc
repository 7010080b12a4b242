#include "client/trainers/istdp/evaluation.h"

#include "gtest/gtest.h"

#include <cmath>
#include <type_traits>

namespace epsledger::trainers::istdp {
namespace {

HeldOutRows Example() {
  HeldOutRows held_out;
  held_out.rows.features =
      Eigen::MatrixXd((Eigen::MatrixXd(4, 1) << 1, -1, 1, 0).finished()).sparseView(0, 0);
  held_out.rows.labels = Eigen::Vector4d(1, 0, 0, 0);
  return held_out;
}

TEST(Accuracy, IsTheFractionOfRightSignsAndZeroMeansClassZero) {
  EXPECT_EQ(Accuracy(Example(), Eigen::VectorXd::Constant(1, 2)), 0.75);
  EXPECT_EQ(Accuracy(Example(), Eigen::VectorXd::Constant(1, -2)), 0.5);
  EXPECT_EQ(Accuracy(Example(), Eigen::VectorXd::Zero(1)), 0.75);
}

TEST(Objective, IsTheMeanLossPlusThePenalty) {
  EXPECT_NEAR(
      Objective(Example(), LogisticMargin{}, L1Penalty{.lambda = 1}, Eigen::VectorXd::Zero(1)),
      std::log(2), 1e-15);
  const double loss =
      (2 * std::log1p(std::exp(-2.0)) + 2 + std::log1p(std::exp(-2.0)) + std::log(2)) / 4;
  EXPECT_NEAR(Objective(Example(), LogisticMargin{}, L1Penalty{.lambda = 1},
                        Eigen::VectorXd::Constant(1, 2)),
              loss + 2, 1e-15);
}

TEST(Evaluation, OfNoRecordsIsNan) {
  HeldOutRows none;
  none.rows.features.resize(0, 1);
  EXPECT_TRUE(std::isnan(Accuracy(none, Eigen::VectorXd::Zero(1))));
  EXPECT_TRUE(std::isnan(Objective(none, LogisticMargin{}, L1Penalty{}, Eigen::VectorXd::Zero(1))));
}

TEST(Evaluation, DoesNotTakeTrainingRecords) {
  EXPECT_FALSE((std::is_invocable_v<decltype(Accuracy), LabeledRows, Eigen::VectorXd>));
  EXPECT_FALSE((std::is_invocable_v<decltype(Objective), LabeledRows, MarginLoss, Regularizer,
                                    Eigen::VectorXd>));
}

}  // namespace
}  // namespace epsledger::trainers::istdp
