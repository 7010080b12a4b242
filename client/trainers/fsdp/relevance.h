#ifndef EPSLEDGER_CLIENT_TRAINERS_FSDP_RELEVANCE_H_
#define EPSLEDGER_CLIENT_TRAINERS_FSDP_RELEVANCE_H_

#include <vector>

#include "client/trainers/fsdp/subspace.h"
#include "client/trainers/network/network.h"

namespace epsledger::trainers::fsdp {

// Column scales s for LayerView: the noise of input feature j of a layer is proportional to s_j.
// For gradients whose columns have mean squares r_j, total noise after clipping is smallest with
// s_j^2 proportional to sqrt(r_j). All scales come from public or released numbers.

// Returns the scales for given relevances r >= 0 of the input features of one layer: s_j^2
// proportional to sqrt(r_j), at least kRelevanceFloor of the mean, with mean square 1; then a 1 for
// the bias. All 1 if every r_j is 0 or one is not finite.
network::Vector<float> ScalesOf(const Eigen::VectorXd& relevances);
inline constexpr double kRelevanceFloor = 0.25;

// Returns the relevance of each input feature of every fully connected layer by layer-wise
// relevance propagation over public weights alone [BBMKMS15, epsilon rule, all activations taken as
// 1]: a unit of relevance at each output is propagated back in proportion to |w|, and unchanged
// through element-wise layers. Empty for layers that this propagation does not reach from the
// output.
std::vector<Eigen::VectorXd> WeightRelevances(const network::Network<float>& network);

}  // namespace epsledger::trainers::fsdp

#endif  // EPSLEDGER_CLIENT_TRAINERS_FSDP_RELEVANCE_H_
