#ifndef EPSLEDGER_CLIENT_TRAINERS_NETWORK_CLIPPING_H_
#define EPSLEDGER_CLIENT_TRAINERS_NETWORK_CLIPPING_H_

#include "absl/status/statusor.h"
#include "client/trainers/network/shape.h"

namespace epsledger::trainers::network {

// Returns for each sample a factor f <= min(1, clip_norm / sqrt(squared_norm)), so that f times its
// gradient has norm at most clip_norm: 1 where the norm is at most clip_norm (1 - m), else
// clip_norm / norm rounded down by at most 2 m. The margin m = 8 times the unit roundoff of T
// covers the rounding of the factor and of the products that Network::WeightedGradient forms with
// it. Exactly 0 where the squared norm is NaN or infinite, and where the factor would not be a
// normal number of T. INVALID_ARGUMENT unless clip_norm is in [1e-30, 1e30]. Each factor depends
// only on its sample's norm.
template <class T>
absl::StatusOr<Vector<T>> ClipFactors(const Eigen::ArrayXd& squared_norms, double clip_norm);

}  // namespace epsledger::trainers::network

#endif  // EPSLEDGER_CLIENT_TRAINERS_NETWORK_CLIPPING_H_
