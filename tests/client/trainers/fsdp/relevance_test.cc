#include "client/trainers/fsdp/relevance.h"

#include "gtest/gtest.h"

#include <cmath>
#include <limits>

#include "tests/client/trainers/fsdp/small_problem.h"

namespace epsledger::trainers::fsdp {
namespace {

TEST(ScalesOf, SquaresAreInProportionToRootsAndHaveMeanOne) {
  Eigen::VectorXd relevances(4);
  relevances << 16, 9, 1, 0;
  const network::Vector<float> scales = ScalesOf(relevances);
  ASSERT_EQ(scales.size(), 5);
  EXPECT_EQ(scales[4], 1);
  EXPECT_NEAR(scales.head(4).squaredNorm() / 4, 1, 1e-6);
  EXPECT_NEAR(scales[0] * scales[0] / (scales[1] * scales[1]), 4.0 / 3, 1e-5);
  EXPECT_GT(scales[3], 0.4F) << "noise is never taken away from a column altogether";
}

TEST(ScalesOf, AreOneWhereNothingIsKnown) {
  for (const double value : {0.0, std::nan(""), std::numeric_limits<double>::infinity()}) {
    EXPECT_EQ(ScalesOf(Eigen::VectorXd::Constant(3, value)), network::Vector<float>::Ones(4));
  }
}

TEST(WeightRelevances, GoBackInProportionToWeightsAndKeepTheirSum) {
  network::Network<float> network = SmallMlp(5, 4, 3);
  const std::vector<Eigen::VectorXd> relevances = WeightRelevances(network);
  ASSERT_EQ(relevances.size(), 3u);
  EXPECT_EQ(relevances[1].size(), 0);
  EXPECT_NEAR(relevances[2].sum(), 3, 1e-6);
  EXPECT_NEAR(relevances[0].sum(), 3, 1e-6);
  network.parameters().segment(network.segment(0).begin, 4).setZero();  // feature 0
  EXPECT_EQ(WeightRelevances(network)[0][0], 0);
}

TEST(WeightRelevances, StopAtConvolutions) {
  const std::vector<Eigen::VectorXd> relevances = WeightRelevances(SmallConvolution());
  EXPECT_EQ(relevances[6].size(), 12);
  EXPECT_EQ(relevances[4].size(), 36);
  EXPECT_EQ(relevances[0].size(), 0);
}

}  // namespace
}  // namespace epsledger::trainers::fsdp
