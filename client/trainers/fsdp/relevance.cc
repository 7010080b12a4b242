#include "client/trainers/fsdp/relevance.h"

#include <algorithm>
#include <cmath>
#include <variant>

namespace epsledger::trainers::fsdp {
namespace {

using network::Matrix;
using network::Network;
using network::Vector;

// The epsilon of the rule, which prevents 0 / 0.
constexpr double kStabilizer = 1e-9;

}  // namespace

Vector<float> ScalesOf(const Eigen::VectorXd& relevances) {
  Vector<float> scales = Vector<float>::Ones(relevances.size() + 1);
  const Eigen::ArrayXd roots = relevances.array().sqrt();
  const double mean = roots.size() > 0 ? roots.mean() : 0;
  if (!(mean > 0) || !std::isfinite(mean)) return scales;
  Eigen::ArrayXd squares = (roots / mean).max(kRelevanceFloor);
  squares /= squares.mean();
  scales.head(relevances.size()) = squares.sqrt().cast<float>().matrix();
  return scales;
}

std::vector<Eigen::VectorXd> WeightRelevances(const Network<float>& network) {
  std::vector<Eigen::VectorXd> relevances(static_cast<size_t>(network.layer_count()));
  Eigen::VectorXd current = Eigen::VectorXd::Ones(network.shape(network.layer_count()).size());
  for (Eigen::Index layer = network.layer_count() - 1; layer >= 0; --layer) {
    if (network::IsElementWise(network.layers()[layer])) continue;
    if (!std::holds_alternative<network::FullyConnected>(network.layers()[layer])) break;
    const Eigen::Index inputs = network.shape(layer).size();
    const Eigen::MatrixXd weights =
        Eigen::Map<const Matrix<float>>(network.parameters().data() + network.segment(layer).begin,
                                        current.size(), inputs)
            .cwiseAbs()
            .cast<double>();
    const Eigen::VectorXd shares =
        (current.array() / (weights.rowwise().sum().array() + kStabilizer)).matrix();
    current = weights.transpose() * shares;
    relevances[static_cast<size_t>(layer)] = current;
  }
  return relevances;
}

}  // namespace epsledger::trainers::fsdp
