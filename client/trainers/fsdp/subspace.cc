#include "client/trainers/fsdp/subspace.h"

#include <Eigen/Eigenvalues>
#include <Eigen/QR>
#include <algorithm>
#include <cmath>
#include <random>
#include <utility>
#include <variant>

#include "accounting/event/status_macros.h"
#include "client/trainers/network/cross_entropy.h"

namespace epsledger::trainers::fsdp {
namespace {

using network::Matrix;
using network::Network;

constexpr Eigen::Index kLargestDecomposition = 256;
constexpr int kIterations = 4;

// Returns orthonormal columns with the same span as the columns of `matrix`.
Eigen::MatrixXd Orthonormal(const Eigen::MatrixXd& matrix) {
  return Eigen::HouseholderQR<Eigen::MatrixXd>(matrix).householderQ() *
         Eigen::MatrixXd::Identity(matrix.rows(), matrix.cols());
}

}  // namespace

Matrix<float> TopSubspace(const Eigen::MatrixXd& symmetric, Eigen::Index rank,
                          const Matrix<float>& start) {
  if (symmetric.rows() <= kLargestDecomposition) {
    const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(symmetric);
    return solver.eigenvectors().rightCols(rank).transpose().cast<float>();
  }
  Eigen::MatrixXd columns = start.transpose().cast<double>();
  for (int i = 0; i < kIterations; ++i) columns = Orthonormal(symmetric * columns);
  return columns.transpose().cast<float>();
}

Matrix<float> RandomSubspace(Eigen::Index rank, Eigen::Index dimension, uint64_t seed) {
  std::mt19937_64 random(seed);
  Eigen::MatrixXd columns(dimension, rank);
  for (double& value : columns.reshaped()) {
    value = static_cast<double>(random() >> 11) * 0x1p-52 - 1;
  }
  return Orthonormal(columns).transpose().cast<float>();
}

GradientHistory::GradientHistory(Eigen::Index outputs, Eigen::Index columns)
    : mean_(Eigen::MatrixXf::Zero(outputs, columns)),
      noise_(Eigen::MatrixXd::Zero(outputs, outputs)) {}

GradientHistory GradientHistory::Restore(Eigen::MatrixXf mean, Eigen::MatrixXd noise,
                                         double weight) {
  GradientHistory history;
  history.mean_ = std::move(mean);
  history.noise_ = std::move(noise);
  history.weight_ = weight;
  return history;
}

void GradientHistory::Add(const Eigen::MatrixXf& released, const Eigen::MatrixXd& noise,
                          double decay) {
  const double fresh = 1 - decay;
  mean_ = static_cast<float>(decay) * mean_ + static_cast<float>(fresh) * released;
  noise_ = decay * decay * noise_ + fresh * fresh * noise;
  weight_ = decay * weight_ + fresh;
}

Eigen::MatrixXd GradientHistory::SecondMoment() const {
  const Eigen::MatrixXd moment = (mean_ * mean_.transpose()).cast<double>();
  return moment - noise_;
}

Eigen::VectorXd GradientHistory::ColumnSquares() const {
  const Eigen::VectorXd squares = mean_.colwise().squaredNorm().transpose().cast<double>();
  const double noise = noise_.trace() / static_cast<double>(mean_.cols());
  return (squares.array() - noise).max(0).matrix();
}

Matrix<float> NextLayerSubspace(const Network<float>& network, Eigen::Index layer,
                                Eigen::Index rank, const Matrix<float>& start) {
  Eigen::Index next = layer + 1;
  while (next < network.layer_count() && network::IsElementWise(network.layers()[next])) ++next;
  if (next >= network.layer_count() ||
      !std::holds_alternative<network::FullyConnected>(network.layers()[next]) ||
      network.shape(next).size() != network.shape(layer + 1).size()) {
    return Matrix<float>(0, 0);
  }
  const Eigen::Index inputs = network.shape(next).size();
  const Eigen::Index outputs = network.shape(next + 1).size();
  const Eigen::MatrixXd weights =
      Eigen::Map<const Matrix<float>>(network.parameters().data() + network.segment(next).begin,
                                      outputs, inputs)
          .cast<double>();
  // The row space has no directions beyond its own rank.
  return TopSubspace(weights.transpose() * weights, std::min(rank, outputs), start);
}

absl::StatusOr<std::vector<Eigen::MatrixXd>> PublicMoments(const Network<float>& network,
                                                           const LabeledColumns& public_records) {
  ASSIGN_OR_RETURN(network::Tape<float> tape, network.Forward(public_records.inputs));
  ASSIGN_OR_RETURN(network::SampleLosses<float> losses,
                   network::CrossEntropy<float>(tape.activations.back(), public_records.labels));
  RETURN_IF_ERROR(network.Backward(std::move(losses.gradients), &tape));
  std::vector<Eigen::MatrixXd> moments(static_cast<size_t>(network.layer_count()));
  for (Eigen::Index layer = 0; layer < network.layer_count(); ++layer) {
    if (!std::holds_alternative<network::FullyConnected>(network.layers()[layer])) continue;
    const Matrix<float>& inputs = tape.activations[layer];
    Matrix<float> weighted = tape.gradients[layer + 1];
    for (Eigen::Index i = 0; i < weighted.cols(); ++i) {
      weighted.col(i) *= std::sqrt(inputs.col(i).squaredNorm() + 1);
      if (!weighted.col(i).allFinite()) weighted.col(i).setZero();
    }
    moments[static_cast<size_t>(layer)] = (weighted * weighted.transpose()).cast<double>();
  }
  return moments;
}

}  // namespace epsledger::trainers::fsdp
