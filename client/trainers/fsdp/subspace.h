#ifndef EPSLEDGER_CLIENT_TRAINERS_FSDP_SUBSPACE_H_
#define EPSLEDGER_CLIENT_TRAINERS_FSDP_SUBSPACE_H_

#include <Eigen/Core>
#include <cstdint>

#include "client/trainers/fsdp/clipped_sum.h"
#include "client/trainers/network/network.h"

namespace epsledger::trainers::fsdp {

// Subspaces of the outputs of a layer, as matrices H with orthonormal rows. Each is made from
// public or released numbers: nothing here may read a private record. A subspace that misses the
// gradients costs accuracy, never privacy (README, theorem 1).

// Returns the `rank` eigenvectors of a symmetric matrix with the largest eigenvalues, as rows, in
// float. Uses a full decomposition up to 256 dimensions. Above that, a few rounds of orthogonal
// iteration from `start` (rank rows) find the span approximately.
// REQUIRES: 1 <= rank <= dimension; finite entries; `start` of full rank if dimension > 256.
network::Matrix<float> TopSubspace(const Eigen::MatrixXd& symmetric, Eigen::Index rank,
                                   const network::Matrix<float>& start);

// Returns `rank` orthonormal rows drawn from `seed`, which need not be secret.
network::Matrix<float> RandomSubspace(Eigen::Index rank, Eigen::Index dimension, uint64_t seed);

// An exponential mean of released gradients of one layer (outputs x columns), and the part of its
// second moment that is noise. This part is known because the noise's distribution is public.
class GradientHistory {
 public:
  GradientHistory() = default;
  GradientHistory(Eigen::Index outputs, Eigen::Index columns);

  // Adds a released gradient to the mean. `noise` is the covariance (outputs x outputs) of the
  // noise in one of its columns, summed over the columns. REQUIRES: decay in [0, 1).
  void Add(const Eigen::MatrixXf& released, const Eigen::MatrixXd& noise, double decay);

  bool empty() const { return weight_ == 0; }
  // Returns the second moment over columns of the mean, minus that of the noise in it: an unbiased
  // estimate of G G^T for the mean exact gradient G. Symmetric, not always positive.
  Eigen::MatrixXd SecondMoment() const;
  // Returns the squared norm of each column of the mean, minus that of the noise; at least 0.
  Eigen::VectorXd ColumnSquares() const;

  // The values that a checkpoint keeps.
  const Eigen::MatrixXf& mean() const { return mean_; }
  const Eigen::MatrixXd& noise() const { return noise_; }
  double weight() const { return weight_; }
  static GradientHistory Restore(Eigen::MatrixXf mean, Eigen::MatrixXd noise, double weight);

 private:
  Eigen::MatrixXf mean_;
  Eigen::MatrixXd noise_;
  double weight_ = 0;  // of the gradients in the mean: 1 - decay^steps
};

// Returns the row space of the public weights of the next fully connected layer, cut to `rank`: the
// gradient propagated back to `layer` is (W^T delta) * f', so deltas lie near this space. No rows
// unless `layer` and the next layer with parameters are fully connected, with element-wise layers
// between.
network::Matrix<float> NextLayerSubspace(const network::Network<float>& network, Eigen::Index layer,
                                         Eigen::Index rank, const network::Matrix<float>& start);

// Returns for each layer the moment sum_i ||[a_i; 1]||^2 delta_i delta_i^T of PUBLIC records
// (outputs x outputs), empty where the layer is not fully connected. Records without a finite
// result are left out. INVALID_ARGUMENT if the records do not fit the network.
absl::StatusOr<std::vector<Eigen::MatrixXd>> PublicMoments(const network::Network<float>& network,
                                                           const LabeledColumns& public_records);

}  // namespace epsledger::trainers::fsdp

#endif  // EPSLEDGER_CLIENT_TRAINERS_FSDP_SUBSPACE_H_
