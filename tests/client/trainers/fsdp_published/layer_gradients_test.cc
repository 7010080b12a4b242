#include "client/trainers/fsdp_published/layer_gradients.h"

#include "gtest/gtest.h"

#include <cmath>
#include <utility>
#include <vector>

#include "client/trainers/fsdp_published/noise_scales.h"

namespace epsledger::trainers::fsdp_published {
namespace {

using network::FullyConnected;
using network::Relu;
using network::Tanh;

Network MakeLayers(Eigen::Index inputs, const std::vector<network::LayerOptions>& layers) {
  return *Network::Create({.channels = inputs}, layers);
}

// Two inputs, two units with ReLU, two logits. With x = (1, 2):
//   z = (1 + 2 * .5, -1 + 2 * 1) = (2, 1) = a;  logits (2 + 2 * 1 + 1, -2 * .5) = (5, -1).
class SmallNetwork : public testing::Test {
 protected:
  SmallNetwork()
      : network_(
            MakeLayers(2, {FullyConnected{.outputs = 2}, Relu{}, FullyConnected{.outputs = 2}})) {
    Eigen::MatrixXd first(3, 2);
    first << 1, -1, 0.5, 1, 0, 0;
    Eigen::MatrixXd second(3, 2);
    second << 1, -0.5, 2, 0, 1, 0;
    AddToWeights(first, 0, network_);
    AddToWeights(second, 2, network_);
    tape_ = *network_.Forward(Eigen::Vector2d(1, 2));
  }

  Network network_;
  network::Tape<double> tape_;
};

TEST_F(SmallNetwork, ComputesWhatItsWeightsSay) {
  EXPECT_EQ(tape_.activations[2].col(0), Eigen::Vector2d(2, 1));
  EXPECT_EQ(tape_.activations.back().col(0), Eigen::Vector2d(5, -1));
  EXPECT_EQ(FullyConnectedLayers(network_), (std::vector<Eigen::Index>{0, 2}));
  EXPECT_EQ(WeightsOf(network_, 2).row(1), Eigen::RowVector2d(2, 0));
}

// By hand, R_j = sum_k a_j w_jk / z_k R_k with the real activations. Class 0 has R = 5:
//   logits to units: (2 * 1, 1 * 2, and the bias's 1) / 5 * 5 = (2, 2, 1)
//   units to inputs: 1 * 1 / 2 * 2 + 1 * -1 / 1 * 2 = -1;  2 * .5 / 2 * 2 + 2 * 1 / 1 * 2 = 5
TEST_F(SmallNetwork, PropagatesTheRelevanceOfItsClass) {
  const std::vector<Eigen::VectorXd> relevances = LayerRelevances(network_, tape_, 0, 0, 0);
  ASSERT_EQ(relevances.size(), 2U);
  EXPECT_LT((relevances[1] - Eigen::Vector3d(2, 2, 1)).norm(), 1e-12);
  EXPECT_LT((relevances[0] - Eigen::Vector3d(-1, 5, 0)).norm(), 1e-12);
}

// Class 1 has R = -1: (2 * -.5, 0, 0) / -1 * -1 = (-1, 0, 0); 1 * 1 / 2 * -1 and 2 * .5 / 2 * -1.
TEST_F(SmallNetwork, PropagatesTheRelevanceOfTheOtherClass) {
  const std::vector<Eigen::VectorXd> relevances = LayerRelevances(network_, tape_, 0, 1, 0);
  EXPECT_LT((relevances[1] - Eigen::Vector3d(-1, 0, 0)).norm(), 1e-12);
  EXPECT_LT((relevances[0] - Eigen::Vector3d(-0.5, -0.5, 0)).norm(), 1e-12);
}

// The weights alone say something else: relevance is of this record.
TEST_F(SmallNetwork, RelevanceFollowsTheActivations) {
  const network::Tape<double> other = *network_.Forward(Eigen::Vector2d(4, 0));  // units (4, 0)
  const std::vector<Eigen::VectorXd> relevances = LayerRelevances(network_, other, 0, 0, 1e-9);
  EXPECT_LT((relevances[1] - Eigen::Vector3d(4, 0, 1)).norm(), 1e-6);
  EXPECT_LT((relevances[0] - Eigen::Vector3d(4, 0, 0)).norm(), 1e-6);
}

TEST(LayerRelevances, AddUpFromLayerToLayerExceptForTheBiases) {
  Network network =
      MakeLayers(5, {FullyConnected{.outputs = 4}, Tanh{}, FullyConnected{.outputs = 3}, Tanh{},
                     FullyConnected{.outputs = 2}});
  network.Initialize(3);
  const Eigen::VectorXd input = Eigen::VectorXd::LinSpaced(5, 0.1, 0.9);
  const network::Tape<double> tape = *network.Forward(input);
  const std::vector<Eigen::VectorXd> relevances = LayerRelevances(network, tape, 0, 1, 1e-12);
  ASSERT_EQ(relevances.size(), 3U);
  EXPECT_NEAR(relevances[2].sum(), tape.activations.back()(1, 0), 1e-9);
  for (const size_t layer : {0U, 1U}) {
    // Biases are 0 after Initialize, so nothing is lost to them.
    EXPECT_NEAR(relevances[layer].sum(), relevances[layer + 1].sum(), 1e-7);
  }
}

TEST(PropagateRelevances, IsStabilizedAgainstSmallOutputs) {
  // z = 1e-12, as large as nothing: R is a w / (z + .5) R and not 1e12.
  const Eigen::MatrixXd weights = (Eigen::MatrixXd(2, 1) << 1, -1 + 1e-12).finished();
  const Eigen::VectorXd relevances =
      PropagateRelevances(weights, Eigen::VectorXd::Zero(1), Eigen::Vector2d(1, 1),
                          Eigen::VectorXd::Ones(1), /*stabilizer=*/0.5);
  EXPECT_NEAR(relevances[0], 2, 1e-9);
  EXPECT_NEAR(relevances[1], -2, 1e-9);
}

TEST(LayerGradients, AreDerivativesOfTheCrossEntropyWithBudgetsThatAddUp) {
  Network network =
      MakeLayers(3, {FullyConnected{.outputs = 4}, Tanh{}, FullyConnected{.outputs = 2}});
  network.Initialize(5);
  Eigen::MatrixXd inputs(3, 2);
  inputs << 0.2, 0.7, 0.9, 0.1, 0.4, 0.5;
  const std::vector<int> labels = {1, 0};
  const auto loss = [&](const Network& at, int record) {
    const Eigen::VectorXd z = at.Forward(inputs.col(record))->activations.back().col(0);
    return std::log(z.array().exp().sum()) - z[labels[static_cast<size_t>(record)]];
  };
  const auto gradients = LayerGradients(network, inputs, labels, 2);
  ASSERT_TRUE(gradients.ok()) << gradients.status();
  ASSERT_EQ(gradients->size(), 2U);
  const std::vector<Eigen::Index> layers = FullyConnectedLayers(network);
  for (size_t i = 0; i < layers.size(); ++i) {
    ASSERT_EQ((*gradients)[i].size(), 2U);
    for (int record = 0; record < 2; ++record) {
      const RecordGradient& each = (*gradients)[i][static_cast<size_t>(record)];
      ASSERT_EQ(each.gradient.rows(), WeightsOf(network, layers[i]).rows());
      // (7): the budgets of d rows add up to d epsilon, erratum 6.
      EXPECT_NEAR(each.row_epsilons.sum(), 2.0 * static_cast<double>(each.gradient.rows()), 1e-9);
      for (Eigen::Index entry = 0; entry < each.gradient.size(); ++entry) {
        Eigen::MatrixXd change = Eigen::MatrixXd::Zero(each.gradient.rows(), each.gradient.cols());
        change.reshaped()[entry] = 1e-5;
        AddToWeights(change, layers[i], network);
        const double up = loss(network, record);
        AddToWeights(-2 * change, layers[i], network);
        const double down = loss(network, record);
        AddToWeights(change, layers[i], network);
        EXPECT_NEAR(each.gradient.reshaped()[entry], (up - down) / 2e-5, 1e-8);
      }
    }
  }
}

// Erratum 20 in every layer: one record's gradient has rank one.
TEST(LayerGradients, HaveRankOne) {
  Network network =
      MakeLayers(4, {FullyConnected{.outputs = 3}, Tanh{}, FullyConnected{.outputs = 3}});
  network.Initialize(6);
  const auto gradients = *LayerGradients(network, Eigen::MatrixXd::Constant(4, 1, 0.3), {2}, 2);
  for (const std::vector<RecordGradient>& layer : gradients) {
    const Factorization factors =
        *Factor(layer[0].gradient, {.method = FactorizationMethod::kExact, .rank = 1});
    EXPECT_EQ(factors.residual.norm(), 0);
    EXPECT_GT(factors.embedding.norm(), 0);
  }
}

TEST(LayerGradients, RefuseWhatIsNoBatchOfTheNetwork) {
  Network network = MakeLayers(2, {FullyConnected{.outputs = 2}});
  EXPECT_FALSE(LayerGradients(network, Eigen::MatrixXd::Zero(3, 1), {0}, 2).ok());
  EXPECT_FALSE(LayerGradients(network, Eigen::MatrixXd::Zero(2, 1), {2}, 2).ok());
}

TEST(CheckLayers, TakesWeightedSumsAndElementWiseLayers) {
  EXPECT_TRUE(CheckLayers({}).ok());
  EXPECT_TRUE(CheckLayers({FullyConnected{.outputs = 2}, Tanh{}, Relu{}}).ok());
  const absl::Status refused = CheckLayers({Tanh{}, network::MaxPool{.window = 2, .stride = 2}});
  EXPECT_EQ(refused.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(refused.message().find("layers[1]"), std::string::npos);
}

}  // namespace
}  // namespace epsledger::trainers::fsdp_published
