#ifndef EPSLEDGER_CLIENT_TRAINERS_FSDP_PUBLISHED_LAYER_GRADIENTS_H_
#define EPSLEDGER_CLIENT_TRAINERS_FSDP_PUBLISHED_LAYER_GRADIENTS_H_

#include <Eigen/Core>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/trainers/fsdp_published/published_release.h"
#include "client/trainers/network/network.h"

// Fully connected layers as FSDP sees them: the gradient of a layer for one record is the matrix
// (a, 1) delta^T of d x p, d = inputs + 1, p = outputs. The last row is of the biases, so z = w^T
// (a, 1) with weights w of the same shape.

namespace epsledger::trainers::fsdp_published {

using Network = network::Network<double>;

// Returns OK if every layer is fully connected, tanh or relu: (6) is printed for layers of weighted
// sums. INVALID_ARGUMENT that names the layer for others.
absl::Status CheckLayers(const std::vector<network::LayerOptions>& layers);

// Returns the positions of the fully connected layers, from the input on.
std::vector<Eigen::Index> FullyConnectedLayers(const Network& network);

// Returns w of a fully connected layer. AddToWeights adds `change`, of the same shape, to it.
Eigen::MatrixXd WeightsOf(const Network& network, Eigen::Index layer);
void AddToWeights(const Eigen::MatrixXd& change, Eigen::Index layer, Network& network);

// (6) through all layers, by the epsilon rule with the record's own activations: returns R of the
// d inputs of each fully connected layer. At the logits R_m is z_m of the record's class and 0 for
// the others; from the outputs of a layer to its inputs R goes by PropagateRelevances, and
// unchanged through tanh and relu. The biases' share, the last entry, is not propagated further. A
// function of a private record. REQUIRES: a tape of this network, a column `record` of it, and a
// label in [0, outputs).
std::vector<Eigen::VectorXd> LayerRelevances(const Network& network,
                                             const network::Tape<double>& tape, Eigen::Index record,
                                             int label, double stabilizer);

// Returns the gradients of the records' own cross-entropies with their row budgets by (6) and (7):
// one entry for each fully connected layer, from the input on, with one entry a record. `inputs`
// has one column a record. INVALID_ARGUMENT for inputs of another size and for labels that are not
// classes. REQUIRES: CheckLayers(network.layers()) is OK.
absl::StatusOr<std::vector<std::vector<RecordGradient>>> LayerGradients(
    const Network& network, const Eigen::MatrixXd& inputs, const std::vector<int>& labels,
    double epsilon);

}  // namespace epsledger::trainers::fsdp_published

#endif  // EPSLEDGER_CLIENT_TRAINERS_FSDP_PUBLISHED_LAYER_GRADIENTS_H_
