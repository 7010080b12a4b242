#include "client/trainers/fsdp_published/layer_gradients.h"

#include <cstddef>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "accounting/event/status_macros.h"
#include "client/trainers/fsdp_published/noise_scales.h"
#include "client/trainers/network/cross_entropy.h"

namespace epsledger::trainers::fsdp_published {
namespace {

// The stabilizer of the epsilon rule; the paper gives no value.
constexpr double kStabilizer = 1e-3;

bool IsFullyConnected(const network::LayerOptions& layer) {
  return std::holds_alternative<network::FullyConnected>(layer);
}

Eigen::VectorXd WithOne(const Eigen::VectorXd& activations) {
  Eigen::VectorXd inputs(activations.size() + 1);
  inputs << activations, 1;
  return inputs;
}

}  // namespace

absl::Status CheckLayers(const std::vector<network::LayerOptions>& layers) {
  for (size_t layer = 0; layer < layers.size(); ++layer) {
    const network::LayerOptions& each = layers[layer];
    if (IsFullyConnected(each) || network::IsElementWise(each)) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        "layers[", layer,
        "]: got another kind, want fully_connected, tanh or relu: the paper's relevance (6) is for "
        "these"));
  }
  return absl::OkStatus();
}

std::vector<Eigen::Index> FullyConnectedLayers(const Network& network) {
  std::vector<Eigen::Index> found;
  for (Eigen::Index layer = 0; layer < network.layer_count(); ++layer) {
    if (IsFullyConnected(network.layers()[static_cast<size_t>(layer)])) found.push_back(layer);
  }
  return found;
}

// The network holds W (outputs x inputs, column-major), then the biases: in all the columns of the
// p x d matrix w^T.
Eigen::MatrixXd WeightsOf(const Network& network, Eigen::Index layer) {
  return Eigen::Map<const Eigen::MatrixXd>(
             network.parameters().data() + network.segment(layer).begin,
             network.shape(layer + 1).size(), network.shape(layer).size() + 1)
      .transpose();
}

void AddToWeights(const Eigen::MatrixXd& change, Eigen::Index layer, Network& network) {
  Eigen::Map<Eigen::MatrixXd>(network.parameters().data() + network.segment(layer).begin,
                              network.shape(layer + 1).size(), network.shape(layer).size() + 1) +=
      change.transpose();
}

std::vector<Eigen::VectorXd> LayerRelevances(const Network& network,
                                             const network::Tape<double>& tape, Eigen::Index record,
                                             int label, double stabilizer) {
  const std::vector<Eigen::Index> layers = FullyConnectedLayers(network);
  std::vector<Eigen::VectorXd> relevances(layers.size());
  Eigen::VectorXd current = Eigen::VectorXd::Zero(tape.activations.back().rows());
  current[label] = tape.activations.back()(label, record);
  for (size_t i = layers.size(); i-- > 0;) {
    const Eigen::MatrixXd weights = WeightsOf(network, layers[i]);
    const Eigen::VectorXd inputs =
        WithOne(tape.activations[static_cast<size_t>(layers[i])].col(record));
    relevances[i] = PropagateRelevances(weights, Eigen::VectorXd::Zero(weights.cols()), inputs,
                                        current, stabilizer);
    current = relevances[i].head(weights.rows() - 1);
  }
  return relevances;
}

absl::StatusOr<std::vector<std::vector<RecordGradient>>> LayerGradients(
    const Network& network, const Eigen::MatrixXd& inputs, const std::vector<int>& labels,
    double epsilon) {
  ASSIGN_OR_RETURN(network::Tape<double> tape, network.Forward(inputs));
  ASSIGN_OR_RETURN(network::SampleLosses<double> losses,
                   network::CrossEntropy<double>(tape.activations.back(), labels));
  RETURN_IF_ERROR(network.Backward(std::move(losses.gradients), &tape));
  const std::vector<Eigen::Index> layers = FullyConnectedLayers(network);
  std::vector<std::vector<RecordGradient>> gradients(layers.size());
  for (Eigen::Index record = 0; record < inputs.cols(); ++record) {
    const std::vector<Eigen::VectorXd> relevances =
        LayerRelevances(network, tape, record, labels[static_cast<size_t>(record)], kStabilizer);
    for (size_t i = 0; i < layers.size(); ++i) {
      const auto layer = static_cast<size_t>(layers[i]);
      const Eigen::VectorXd activations = WithOne(tape.activations[layer].col(record));
      gradients[i].push_back(
          {.gradient = activations * tape.gradients[layer + 1].col(record).transpose(),
           .row_epsilons = RowEpsilons(relevances[i], epsilon)});
    }
  }
  return gradients;
}

}  // namespace epsledger::trainers::fsdp_published
