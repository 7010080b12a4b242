#include "client/trainers/fsdp_published/noise_scales.h"

#include <algorithm>
#include <cmath>

namespace epsledger::trainers::fsdp_published {

NoiseScales ScalesOf(const std::vector<Factorization>& batch, const PublishedBudget& budget) {
  NoiseScales scales;
  for (const Factorization& factors : batch) {
    scales.largest_embedding =
        std::max(scales.largest_embedding, factors.embedding.cwiseAbs().maxCoeff());
    scales.largest_residual =
        std::max(scales.largest_residual, factors.residual.cwiseAbs().maxCoeff());
  }
  const auto inputs = static_cast<double>(batch.front().embedding.rows());
  const auto rank = static_cast<double>(batch.front().embedding.cols());
  const auto outputs = static_cast<double>(batch.front().basis.cols());
  scales.beta = budget.epsilon / (2 * std::log(1 / budget.delta));
  const double smoothing = std::exp(-scales.beta);
  scales.embedding_sensitivity = 2 * inputs * rank * scales.largest_embedding * smoothing;
  scales.residual_sensitivity = 2 * outputs * rank * scales.largest_residual * smoothing;
  const double gaussian = std::sqrt(2 * std::log(1.25 / budget.delta)) / budget.epsilon;
  scales.embedding_noise = gaussian * scales.embedding_sensitivity;
  scales.residual_noise = gaussian * scales.residual_sensitivity;
  return scales;
}

Eigen::VectorXd RowEpsilons(const Eigen::VectorXd& relevances, double epsilon) {
  Eigen::ArrayXd weights = relevances.array().abs();
  const double mean = weights.mean();
  if (!(mean > 0) || !std::isfinite(mean)) {
    return Eigen::VectorXd::Constant(relevances.size(), epsilon);
  }
  weights = weights.max(1e-3 * mean);
  return (static_cast<double>(relevances.size()) * epsilon / weights.sum() * weights).matrix();
}

Eigen::VectorXd PropagateRelevances(const Eigen::MatrixXd& weights, const Eigen::VectorXd& biases,
                                    const Eigen::VectorXd& inputs,
                                    const Eigen::VectorXd& output_relevances, double stabilizer) {
  const Eigen::ArrayXd outputs = (weights.transpose() * inputs + biases).array();
  const Eigen::ArrayXd signs = (outputs < 0)
                                   .select(Eigen::ArrayXd::Constant(outputs.size(), -1.0),
                                           Eigen::ArrayXd::Ones(outputs.size()));
  const Eigen::VectorXd shares =
      (output_relevances.array() / (outputs + stabilizer * signs)).matrix();
  return inputs.cwiseProduct(weights * shares);
}

Eigen::VectorXd Relevances(const Eigen::MatrixXd& weights, const Eigen::VectorXd& biases,
                           const Eigen::VectorXd& inputs, int label, double stabilizer) {
  Eigen::VectorXd outputs = Eigen::VectorXd::Zero(weights.cols());
  outputs[label] = weights.col(label).dot(inputs) + biases[label];
  return PropagateRelevances(weights, biases, inputs, outputs, stabilizer);
}

}  // namespace epsledger::trainers::fsdp_published
